//! Contracts about answers that arrive piece by piece, and about answers that are cut off.

use rolecall_answers::comparison::Verdict;
use rolecall_answers::meaning::Meaning;
use rolecall_answers::reading::ReadAnswer;
use rolecall_core::{Answer, Cut, Dialect, ReadOutcome};
use rolecall_response::{Event, Options, ParseError, ResponseTemplate};

use super::definition::Contract;
use super::read_answer::{in_answer, look, refused, response_template};
use super::roundtrip::writes_calls;
use super::severity::Severity;
use super::tally::Tally;
use crate::probe::answers::{CALL, LONG_REASONING, PARAGRAPHS, REASONING, TEXT, TEXT_CALL, TYPED};
use crate::probe::{AnswerReading, spaced};

pub(super) static STREAMS_ALIKE: Contract = Contract {
    id: "streams-alike",
    meaning: "an answer that arrives in pieces is read as the same answer in one piece",
    guards_against: "messages that differ between a server that streams and one that does not",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/streams-alike.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        look(&mut tally, prober, None, |tally, reading, answer| {
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
        tally.judgement()
    },
};

fn in_words(outcome: &ReadOutcome) -> String {
    match outcome {
        ReadOutcome::Read { message } => format!("it is `{}`", spaced(message)),
        refusal => refused(refusal),
    }
}

pub(super) static STREAMS_EARLY: Contract = Contract {
    id: "streams-early",
    meaning: "reasoning and texts are reported while they arrive",
    guards_against: "users who wait for the whole answer before they see its first word",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/streams-early.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        let Some(template) = response_template(prober, &mut tally) else {
            return tally.judgement();
        };
        let mut probes = vec![PARAGRAPHS];
        if !capabilities.reasoning.fields.is_empty() {
            probes.push(LONG_REASONING);
        }
        look(
            &mut tally,
            prober,
            Some(&probes),
            |tally, reading, answer| {
                demand_early(tally, &template, reading, answer);
            },
        );
        tally.judgement()
    },
};

/// The longest text that a reader may hold back, in characters. Some wait for a whole tag.
const MOST_HELD_BACK: usize = 24;

/// Demands that a text is reported before it has ended.
fn demand_early(
    tally: &mut Tally,
    template: &ResponseTemplate,
    reading: &AnswerReading,
    answer: &ReadAnswer,
) {
    let Some(read) = answer.forms.last() else {
        return;
    };
    if matches!(read.verdict, Verdict::Changed | Verdict::Failed) {
        return tally.skip("the answer is not parsed as it was meant");
    }
    let meant = &reading.reading.meant;
    let (name, text) = if meant.reasoning.is_empty() {
        ("text", &meant.content)
    } else {
        ("reasoning", &meant.reasoning)
    };
    // The place at which the text has arrived, but for what a reader may hold back.
    let Some(begin) = read.text.find(text.as_str()) else {
        return tally.skip("the template does not write it");
    };
    let before = read.text.cut(..begin).chars().count();
    let due = before + text.chars().count().saturating_sub(1).min(MOST_HELD_BACK);
    let whole = Answer {
        prompt: &answer.prompt,
        text: &read.text,
        tools: Some(reading.tools()),
    };
    let Some(events) = reading.events(template, &whole) else {
        return tally.skip("the answer is not read");
    };
    let is_text =
        |event: &Event| matches!(event, Event::Chunk { text, .. } if !text.trim().is_empty());
    let first = events.iter().find(|(_, event)| is_text(event));
    let first = first.map(|(at, _)| *at);
    tally.demand(first.is_some_and(|first| first <= due), || {
        let what = match first {
            None => format!(
                "{}: nothing is reported before the answer ends",
                reading.about
            ),
            Some(first) => format!(
                "{}: nothing is reported before {} characters of the {name} have arrived",
                reading.about,
                first.saturating_sub(before)
            ),
        };
        in_answer(what, reading, answer, &read.text)
    });
}

pub(super) static CUT_SAFE: Contract = Contract {
    id: "cut-safe",
    meaning: "an answer that is cut off is still read",
    guards_against: "a limit of tokens that costs the whole message, its text and reasoning too",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/cut-safe.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        let Some(template) = response_template(prober, &mut tally) else {
            return tally.judgement();
        };
        let mut probes = vec![TEXT, REASONING];
        if writes_calls(capabilities) {
            probes.extend([CALL, TEXT_CALL, TYPED]);
        }
        look(
            &mut tally,
            prober,
            Some(&probes),
            |tally, reading, answer| {
                demand_cut_safe(tally, &template, reading, answer);
            },
        );
        tally.judgement()
    },
};

/// Demands that every beginning of an answer is read.
fn demand_cut_safe(
    tally: &mut Tally,
    template: &ResponseTemplate,
    reading: &AnswerReading,
    answer: &ReadAnswer,
) {
    let Some(read) = answer.forms.last() else {
        return;
    };
    if read.verdict == Verdict::Failed {
        return tally.skip("the whole answer is not read either");
    }
    let options = Options {
        prompt: Some(&answer.prompt),
        tools: reading.tools(),
        ..Options::default()
    };
    let mut cuts = read.text.char_indices().map(|(at, _)| at);
    let failing = cuts.find_map(|at| {
        let error = template.parse(read.text.cut(..at), &options).err()?;
        Some((at, error))
    });
    match failing {
        None => tally.holds(),
        // transformers has no limits.
        Some((_, ParseError::LimitExceeded { .. })) => tally.skip("an answer is over the limit"),
        Some((at, error)) => {
            let cut = read.text.cut(..at);
            let what = format!(
                "{}, cut off within {}: transformers refuses the answer ({error}), and all of it \
                 is lost",
                reading.about,
                cut_part(&reading.reading.meant, cut)
            );
            tally.broken(in_answer(what, reading, answer, cut));
        }
    }
}

/// The part of a message in which its text is cut off.
fn cut_part(meant: &Meaning, cut: &str) -> &'static str {
    let has = |text: &str| cut.contains(text.trim());
    if !has(&meant.reasoning) {
        "its reasoning"
    } else if !has(&meant.content) {
        "its text"
    } else {
        "the call"
    }
}
