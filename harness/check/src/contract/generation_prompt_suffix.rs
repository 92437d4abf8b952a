use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{
    CALL_RESULT, CALL_RESULT_CLOSED, SYSTEM_USER, SYSTEM_USER_CLOSED, USER, USER_ASSISTANT_USER,
    USER_ASSISTANT_USER_CLOSED, USER_CLOSED,
};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "generation-prompt-suffix",
    meaning: "`add_generation_prompt` adds something at the end and changes nothing else",
    guards_against: "an extra end of text, or a changed history, wherever no answer is asked for",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("generation_prompt_suffix.md"),
    judge: |tally, prober, _| {
        for (closed, open) in [
            (USER_CLOSED, USER),
            (SYSTEM_USER_CLOSED, SYSTEM_USER),
            (USER_ASSISTANT_USER_CLOSED, USER_ASSISTANT_USER),
            (CALL_RESULT_CLOSED, CALL_RESULT),
        ] {
            let (closed, open) = (prober.see(closed), prober.see(open));
            if closed.outcome == open.outcome && !open.is_refused() {
                tally.skip("`add_generation_prompt` changes nothing");
            } else {
                let what = "the prompt without the opening of an answer ends differently";
                let keeps = |text: &str| words::ALL.map(|word| text.contains(word));
                let (Some(one), Some(other)) = (tally.text(&closed), tally.text(&open)) else {
                    continue;
                };
                // A change of the messages is worse than a change around it.
                let severity = if keeps(one) == keeps(other) {
                    Severity::Note
                } else {
                    Severity::Warning
                };
                tally.demand_with(severity, other.starts_with(one), || {
                    Evidence::no_prefix(what, &closed, &open)
                });
            }
        }
    },
};
