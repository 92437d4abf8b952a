use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::working::is_failure;
use crate::probe::catalogue::{
    EMPTY_ANSWER, EMPTY_CALL, MISSING_ANSWER, MISSING_CALL, NULL_ANSWER, NULL_CALL,
};

pub(super) static CONTRACT: Contract = Contract {
    id: "empty-content-alike",
    meaning: "with tool calls, content that is null, missing or empty gives the same prompt",
    guards_against: "an error for clients that send null content with a call, as OpenAI's do",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("empty_content_alike.md"),
    judge: |tally, prober, capabilities| {
        if capabilities.tool_calls.single.is_kept() {
            let empty = prober.see(EMPTY_CALL);
            for (probe, what) in [(NULL_CALL, "null"), (MISSING_CALL, "missing")] {
                let other = prober.see(probe);
                if empty.is_refused() && other.is_refused() {
                    tally.skip(empty.refusal());
                } else {
                    tally.demand(empty.outcome == other.outcome, || {
                        let what = match (empty.text(), other.text()) {
                            (Some(_), Some(_)) => {
                                format!(
                                    "content that is {what} gives another prompt than empty content"
                                )
                            }
                            (None, _) => {
                                format!("content that is {what} is accepted, empty content is not")
                            }
                            _ => format!("content that is {what}: {}", other.refusal()),
                        };
                        let evidence = Evidence::differ(what, &empty, &other);
                        if empty.is_refused() {
                            evidence.with(Severity::Warning)
                        } else {
                            evidence
                        }
                    });
                }
            }
        }
        // A client that sends a call to a template without calls gets an error for it, and not a worse prompt.
        let empty = prober.see(EMPTY_CALL);
        let is_dropped = !capabilities.tool_calls.single.is_kept() && !empty.is_refused();
        for (probe, what) in [(NULL_CALL, "null"), (MISSING_CALL, "missing")] {
            let other = prober.see(probe);
            if is_dropped && is_failure(&other) {
                let what = format!("content that is {what} beside a call: {}", other.refusal());
                let evidence = Evidence::differ(what, &empty, &other);
                tally.broken(evidence.with(Severity::Limitation));
            }
        }
        // Without calls nobody needs to send an answer that says nothing.
        let empty = prober.see(EMPTY_ANSWER);
        for (probe, what) in [(NULL_ANSWER, "null"), (MISSING_ANSWER, "missing")] {
            let other = prober.see(probe);
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
