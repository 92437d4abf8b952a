use rolecall_core::Dialect;

use super::frame::{Contract, Severity};
use super::shared::read_answer::demand_calls;
use crate::probe::answers::{NUMBERS, TEXTS, TYPED};

pub(super) static CONTRACT: Contract = Contract {
    id: "argument-types-kept",
    meaning: "arguments are parsed with the types that the tool's schema gives them",
    guards_against: "the text \"3\" where a tool wants the number 3, or the reverse",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("argument_types_kept.md"),
    judge: |tally, prober, capabilities| {
        demand_calls(tally, prober, capabilities, &[TYPED, NUMBERS, TEXTS]);
    },
};
