use std::rc::Rc;

use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::tools::supports_tools;
use super::shared::working::is_failure;
use crate::probe::catalogue::{
    CALL_WITH_TEXT, EMPTY_ANSWER, EMPTY_CALL, MISSING_ANSWER, MISSING_CALL, NULL_ANSWER, NULL_CALL,
};
use crate::probe::{Probe, ProbeOutcome, Prober};

pub(super) static CONTRACT: Contract = Contract {
    id: "empty-content-alike",
    meaning: "with tool calls, content that is null, missing or empty gives the same prompt",
    guards_against: "an error for clients that send null content with a call, as OpenAI's do",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("empty_content_alike.md"),
    judge: |tally, prober, capabilities| {
        let calls_are_kept = capabilities.tool_calls.single.is_kept();
        let empty = prober.see(EMPTY_CALL);
        if calls_are_kept && is_failure(&empty) {
            let what = format!(
                "a call with empty content: {}; with a text it works",
                empty.refusal()
            );
            tally.broken(Evidence::differ(what, &empty, &prober.see(CALL_WITH_TEXT)));
        }
        for (other, what_is) in others(prober, NULL_CALL, MISSING_CALL) {
            // A template that drops calls may drop what is beside them, too, but it should not fail.
            if !calls_are_kept && (empty.is_refused() || !is_failure(&other)) {
                continue;
            }
            if empty.is_refused() && other.is_refused() {
                tally.skip(empty.refusal());
                continue;
            }
            let severity = if empty.is_refused() || !supports_tools(prober, capabilities) {
                Severity::Warning
            } else {
                Severity::Error
            };
            tally.demand_with(severity, empty.outcome == other.outcome, || {
                let what = match (empty.text(), other.text()) {
                    (Some(_), Some(_)) => " gives another prompt than empty content".to_owned(),
                    (None, _) => " is accepted, empty content is not".to_owned(),
                    _ => format!(": {}", other.refusal()),
                };
                let what = format!("content that is {what_is} beside a call{what}");
                Evidence::differ(what, &empty, &other)
            });
        }
        // Without calls nobody needs to send an answer that says nothing.
        let empty = prober.see(EMPTY_ANSWER);
        for (other, what) in others(prober, NULL_ANSWER, MISSING_ANSWER) {
            if !empty.is_refused() && is_failure(&other) {
                let what = format!("an answer that is {what}: {}", other.refusal());
                tally.broken(Evidence::differ(what, &empty, &other).with(Severity::Note));
            } else if let (Some(one), Some(text)) = (tally.text(&empty), tally.text(&other)) {
                tally.demand_with(Severity::Note, one == text, || {
                    let what =
                        format!("an answer that is {what} gives another prompt than an empty one");
                    Evidence::differ(what, &empty, &other)
                });
            }
        }
    },
};

/// A conversation with null and one where the value is missing, as one if they end alike.
fn others(
    prober: &Prober<'_>,
    null: Probe,
    missing: Probe,
) -> Vec<(Rc<ProbeOutcome>, &'static str)> {
    let (null, missing) = (prober.see(null), prober.see(missing));
    if null.outcome == missing.outcome {
        vec![(null, "null or missing")]
    } else {
        vec![(null, "null"), (missing, "missing")]
    }
}
