use rolecall_core::Dialect;

use super::frame::{Contract, Severity};
use super::shared::prefix::{REWRITTEN, goes_on};
use crate::probe::catalogue::{
    TWO_TURNS, TWO_TURNS_USER_CLOSED, USER_ASSISTANT, USER_ASSISTANT_USER_CLOSED,
};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "history-stable",
    meaning: "a conversation that goes on begins with the prompt as it was",
    guards_against: "a cache that is lost at every turn",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("history_stable.md"),
    judge: |tally, prober, capabilities| {
        for (pair, last) in [
            (
                (USER_ASSISTANT, USER_ASSISTANT_USER_CLOSED),
                words::ASSISTANT,
            ),
            ((TWO_TURNS, TWO_TURNS_USER_CLOSED), words::SECOND_ASSISTANT),
        ] {
            goes_on(tally, prober, capabilities, pair, last, REWRITTEN);
        }
    },
};
