//! Contracts about the arguments of calls.

use std::ops::Range;

use rolecall_core::{Cut, Dialect, Outcome, Stage};

use super::definition::Contract;
use super::evidence::Evidence;
use super::leaks::is_html;
use super::severity::Severity;
use super::tally::Tally;
use super::working::lacks_a_name;
use crate::probe::catalogue::{COMPACT_ARGUMENTS, OBJECT_ARGUMENTS, STRING_ARGUMENTS, TOOLS};
use crate::probe::{Arguments, ProbeOutcome, words};

fn shows_arguments(seen: &ProbeOutcome) -> bool {
    seen.has(words::FIRST_VALUE) && seen.has(words::SECOND_VALUE)
}

/// Whether arguments that came as a JSON text are in a JSON string.
fn is_encoded_twice(seen: &ProbeOutcome) -> bool {
    encoded_twice(seen).is_some()
}

/// Where they do.
fn encoded_twice(seen: &ProbeOutcome) -> Option<Range<usize>> {
    seen.find(&format!("\\\"{}", words::FIRST_KEY))
}

/// Whether arguments that came as a JSON text are in the prompt as that text, and not within braces
/// of the template.
fn is_passed_on(seen: &ProbeOutcome) -> bool {
    let calls = seen.asked.messages.iter().filter_map(|message| {
        message
            .pointer("/tool_calls/0/function/arguments")?
            .as_str()
    });
    let arguments = calls.into_iter().next().unwrap_or_default();
    let before = seen.text().and_then(|text| {
        let at = text.find(arguments)?;
        (text.matches(arguments).count() == 1).then(|| text.cut(..at))
    });
    before.is_some_and(|before| !arguments.is_empty() && !before.ends_with('{'))
}

/// Whether an engine gave up, which is no refusal in the template's own words.
fn is_failure(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Failed {
            stage: Stage::Render,
            ..
        } | Outcome::Crashed { .. }
    )
}

pub(super) static ARGUMENTS_ALIKE: Contract = Contract {
    id: "arguments-alike",
    meaning: "arguments as a JSON text give the same prompt as the object, or are refused",
    guards_against: "one history that has two forms, depending on the client",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/arguments-alike.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let object = prober.see(OBJECT_ARGUMENTS);
        // With or without spaces: a template may well pass the text on.
        let (spaced, compact) = (prober.see(STRING_ARGUMENTS), prober.see(COMPACT_ARGUMENTS));
        if lacks_a_name(prober, &object) || lacks_a_name(prober, &spaced) {
            tally.skip("capabilities-work reports what fails");
            return tally.judgement();
        }
        if tally.text(&object).is_some() && is_failure(&spaced.outcome) {
            let what = format!(
                "arguments as an object work, as a JSON text they do not: {}",
                spaced.refusal()
            );
            if shows_arguments(&object) {
                tally.broken(Evidence::differ(what, &object, &spaced));
            }
            return tally.judgement();
        }
        if tally.text(&spaced).is_some() && is_failure(&object.outcome) {
            let what = format!(
                "arguments as a JSON text work, as an object they do not: {}",
                object.refusal()
            );
            if shows_arguments(&spaced) {
                tally.broken(Evidence::differ(what, &object, &spaced));
            }
            return tally.judgement();
        }
        if tally.text(&object).is_none() || tally.text(&spaced).is_none() {
            return tally.judgement();
        }
        if is_html(&object) {
            tally.skip("no-repr-leak reports that calls are written as HTML");
            return tally.judgement();
        }
        if is_encoded_twice(&compact) {
            tally.skip("arguments-encoded-once reports that arguments are escaped a second time");
            return tally.judgement();
        }
        if shows_arguments(&object) && shows_arguments(&spaced) {
            let is_alike = [&spaced, &compact]
                .iter()
                .any(|text| text.outcome == object.outcome);
            // Where the model's own form is no JSON, nothing of a text that is passed on is lost.
            let is_json = object.has(&format!("\"{}\"", words::FIRST_VALUE));
            let severity = if is_passed_on(&spaced) && !is_json {
                Severity::Note
            } else {
                Severity::Warning
            };
            tally.demand_with(severity, is_alike, || {
                let what = "arguments as a JSON text give another prompt than the object";
                Evidence::differ(what, &object, &spaced)
            });
        } else if shows_arguments(&object) || shows_arguments(&spaced) {
            let what = if shows_arguments(&object) {
                "arguments as a JSON text are not in the prompt, and nothing says so"
            } else {
                "arguments as an object are not in the prompt, and nothing says so"
            };
            tally.broken(Evidence::differ(what, &object, &spaced).with(Severity::Error));
        } else {
            tally.skip("arguments are not in the prompt");
        }
        tally.judgement()
    },
};

pub(super) static ARGUMENTS_ENCODED_ONCE: Contract = Contract {
    id: "arguments-encoded-once",
    meaning: "arguments that are JSON text already are not encoded a second time",
    guards_against: "a history full of backslashes that the model learns to write itself",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/arguments-encoded-once.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let object = prober.see(OBJECT_ARGUMENTS);
        if prober.input_style().arguments == Arguments::Object && shows_arguments(&object) {
            tally.demand_with(Severity::Warning, !is_encoded_twice(&object), || {
                let what =
                    "arguments that are an object are in the prompt as a text with escaped quotes";
                Evidence::one(what, &object).at(encoded_twice(&object))
            });
        }
        let seen = prober.see(COMPACT_ARGUMENTS);
        if tally.text(&seen).is_some() {
            if shows_arguments(&seen) {
                tally.demand(!is_encoded_twice(&seen), || {
                    let what = "the arguments are escaped a second time";
                    Evidence::one(what, &seen).at(encoded_twice(&seen))
                });
            } else {
                tally.skip("arguments are not in the prompt");
            }
        }
        tally.judgement()
    },
};

pub(super) static KEY_ORDER_KEPT: Contract = Contract {
    id: "key-order-kept",
    meaning: "arguments and parameters keep their order",
    guards_against: "arguments in another order than the model wrote them, and a lost prompt cache",
    severity: Severity::Note,
    // Ollama sorts both before a template sees them.
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/key-order-kept.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for (probe, first, second, what) in [
            (
                OBJECT_ARGUMENTS,
                words::FIRST_VALUE,
                words::SECOND_VALUE,
                "arguments are not in the order in which they were written",
            ),
            (
                TOOLS,
                words::FIRST_KEY,
                words::SECOND_KEY,
                "parameters are not in the order in which they were written",
            ),
        ] {
            let seen = prober.see(probe);
            match (seen.find(first), seen.find(second)) {
                (Some(first), Some(second)) => {
                    tally.demand(first.start < second.start, || Evidence::one(what, &seen));
                }
                _ => tally.skip("tools and calls are not in the prompt"),
            }
        }
        tally.judgement()
    },
};
