use rolecall_answers::reading::ReadAnswer;
use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::read_answer::{WITH_END, demand_one, demand_roundtrip, look, writes_calls};
use crate::probe::answers::{
    CALL, JSON, NO_ARGUMENTS, PARAGRAPHS, PROGRAM, SPACED, TEXT, TEXT_CALL,
};
use crate::probe::{AnswerReading, NoReadings, Probe};

pub(super) static CONTRACT: Contract = Contract {
    id: "reads-back",
    meaning: "a parser gets back the text or the call that the template wrote",
    guards_against: "calls that reach users as text, texts that lose a part",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("reads_back.md"),
    judge: |tally, prober, capabilities| {
        if let Err(NoReadings::Refused(why)) = &*prober.readings() {
            let what = format!("transformers refuses the response template: {why}");
            return tally.broken(Evidence::of_source(what));
        }
        demand_roundtrip(tally, prober, &TEXT_PROBES, &WITH_END);
        if writes_calls(capabilities) {
            demand_roundtrip(tally, prober, &CALL_PROBES, &WITH_END);
        }
        // Models often write white space around a text that is no part of it.
        look(tally, prober, Some(&[SPACED]), |tally, reading, answer| {
            if is_kept(reading, answer) {
                demand_one(tally, reading, answer, &WITH_END, Severity::Note);
            }
        });
    },
};

const TEXT_PROBES: [Probe; 3] = [TEXT, PARAGRAPHS, JSON];

const CALL_PROBES: [Probe; 4] = [CALL, TEXT_CALL, NO_ARGUMENTS, PROGRAM];

/// Whether a template writes a text with the white space around it.
fn is_kept(reading: &AnswerReading, answer: &ReadAnswer) -> bool {
    let content = &reading.reading.meant.content;
    answer.forms.iter().all(|read| read.text.contains(content))
}
