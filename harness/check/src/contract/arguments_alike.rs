use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::arguments::{is_encoded_twice, shows_arguments};
use super::shared::leaks::is_html;
use super::shared::working::{is_failure, lacks_a_name};
use crate::probe::catalogue::{COMPACT_ARGUMENTS, OBJECT_ARGUMENTS, STRING_ARGUMENTS};
use crate::probe::{ProbeOutcome, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "arguments-alike",
    meaning: "arguments as a JSON text give the same prompt as the object, or are refused",
    guards_against: "one history that has two forms, depending on the client",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("arguments_alike.md"),
    judge: |tally, prober, _| {
        let object = prober.see(OBJECT_ARGUMENTS);
        // With or without spaces: a template may well pass the text on.
        let (spaced, compact) = (prober.see(STRING_ARGUMENTS), prober.see(COMPACT_ARGUMENTS));
        if lacks_a_name(prober, &object) || lacks_a_name(prober, &spaced) {
            return tally.skip("capabilities-work reports what fails");
        }
        if tally.text(&object).is_some() && is_failure(&spaced) {
            let what = format!(
                "arguments as an object work, as a JSON text they do not: {}",
                spaced.refusal()
            );
            if shows_arguments(&object) {
                tally.broken(Evidence::differ(what, &object, &spaced));
            }
            return;
        }
        if tally.text(&spaced).is_some() && is_failure(&object) {
            let what = format!(
                "arguments as a JSON text work, as an object they do not: {}",
                object.refusal()
            );
            if shows_arguments(&spaced) {
                let evidence = Evidence::differ(what, &object, &spaced);
                tally.broken(evidence.with(Severity::Error));
            }
            return;
        }
        if tally.text(&object).is_none() || tally.text(&spaced).is_none() {
            return;
        }
        if is_html(&object) {
            return tally.skip("no-repr-leak reports that calls are written as HTML");
        }
        if is_encoded_twice(&compact) {
            return tally
                .skip("arguments-encoded-once reports that arguments are escaped a second time");
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
                let what = if is_passed_on(&spaced) || !spaced.has("{{\"") {
                    "arguments as a JSON text give another prompt than the object"
                } else {
                    "arguments as a JSON text stand in a second pair of braces"
                };
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
    },
};

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
