use rolecall_core::Dialect;

use super::frame::{Contract, Severity};
use super::shared::read_answer::demand_calls;
use crate::probe::answers::{TEXT_OR_NULL, TEXT_OR_NUMBER};

pub(super) static CONTRACT: Contract = Contract {
    id: "union-types-kept",
    meaning: "a text stays a text, also where the schema allows another type",
    guards_against: "the answer \"null\" that becomes no answer",
    severity: Severity::Note,
    dialects: &[Dialect::Jinja],
    page: include_str!("union_types_kept.md"),
    judge: |tally, prober, capabilities| {
        demand_calls(tally, prober, capabilities, &[TEXT_OR_NUMBER, TEXT_OR_NULL]);
    },
};
