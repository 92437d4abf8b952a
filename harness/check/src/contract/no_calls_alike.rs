use rolecall_core::{Dialect, Outcome, Stage};

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{EMPTY_CALLS, NULL_CALLS, USER_ASSISTANT_USER};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "no-calls-alike",
    meaning: "an answer with null or empty `tool_calls` gives the same prompt as one without",
    guards_against: "plain answers that look like calls because a client writes every field",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("no_calls_alike.md"),
    judge: |tally, prober, capabilities| {
        let without = prober.see(USER_ASSISTANT_USER);
        if tally.text(&without).is_none() {
            return;
        }
        for (probe, what) in [(EMPTY_CALLS, "an empty list"), (NULL_CALLS, "null")] {
            let seen = prober.see(probe);
            let severity = match &*seen.outcome {
                Outcome::Failed {
                    stage: Stage::Input,
                    ..
                } => {
                    tally.skip(seen.refusal());
                    continue;
                }
                Outcome::Rendered { .. } => Severity::Error,
                // The call is refused, so nothing is lost silently.
                _ if capabilities.tool_calls.single.is_kept() => Severity::Warning,
                _ => Severity::Limitation,
            };
            tally.demand_with(severity, seen.outcome == without.outcome, || {
                let how = match seen.text() {
                    Some(_) if without.has(words::ASSISTANT) && !seen.has(words::ASSISTANT) => {
                        "the answer is not in the prompt".to_owned()
                    }
                    Some(_) => "it gives another prompt than an answer without calls".to_owned(),
                    None => seen.refusal(),
                };
                let what = format!("an answer whose tool calls are {what}: {how}");
                Evidence::differ(what, &without, &seen)
            });
        }
    },
};
