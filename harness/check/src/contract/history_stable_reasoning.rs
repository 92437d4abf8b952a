use rolecall_core::Dialect;

use super::frame::{Contract, Severity};
use super::shared::prefix::{REWRITTEN, goes_on};
use crate::probe::catalogue::{REASONED, REASONED_USER_CLOSED};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "history-stable-reasoning",
    meaning: "a conversation with reasoning that goes on begins with the prompt as it was",
    guards_against: "a prompt cache lost because reasoning has unusual tags, or the text around it changes",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("history_stable_reasoning.md"),
    judge: |tally, prober, capabilities| {
        if capabilities.reasoning.fields.is_empty() {
            tally.skip("reasoning is not in the prompt");
        } else {
            let pair = (REASONED, REASONED_USER_CLOSED);
            goes_on(
                tally,
                prober,
                capabilities,
                pair,
                words::ASSISTANT,
                REWRITTEN,
            );
        }
    },
};
