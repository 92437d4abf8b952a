use rolecall_core::{Dialect, ReadOutcome};

use super::frame::{Contract, Severity};
use super::shared::read_answer::{in_answer, look, refused};
use crate::probe::spaced;

pub(super) static CONTRACT: Contract = Contract {
    id: "streams-alike",
    meaning: "an answer that arrives in pieces is read as the same answer in one piece",
    guards_against: "messages that differ between a server that streams and one that does not",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("streams_alike.md"),
    judge: |tally, prober, _| {
        look(tally, prober, None, |tally, reading, answer| {
            let mut forms = answer.forms.iter();
            // The other forms of the answer show the same.
            let otherwise = forms.find_map(|read| Some((read, read.streamed.as_ref()?)));
            let Some((read, streamed)) = otherwise else {
                return tally.holds();
            };
            let what = format!(
                "{}: character by character {}; as a whole {}",
                reading.about,
                in_words(streamed),
                in_words(&read.outcome)
            );
            tally.broken(in_answer(what, reading, answer, &read.text));
        });
    },
};

fn in_words(outcome: &ReadOutcome) -> String {
    match outcome {
        ReadOutcome::Read { message } => format!("it is `{}`", spaced(message)),
        refusal => refused(refusal),
    }
}
