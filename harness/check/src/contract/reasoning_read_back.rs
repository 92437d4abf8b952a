use rolecall_core::Dialect;

use super::frame::{Contract, Severity};
use super::shared::read_answer::{WITH_END, demand_roundtrip, writes_calls};
use crate::probe::answers::{LONG_REASONING, REASONING, REASONING_CALL, REASONING_TEXT_CALL};

pub(super) static CONTRACT: Contract = Contract {
    id: "reasoning-read-back",
    meaning: "reasoning is parsed as reasoning, and the answer after it as the answer",
    guards_against: "reasoning that users read as the answer, answers that are taken for reasoning",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("reasoning_read_back.md"),
    judge: |tally, prober, capabilities| {
        if capabilities.reasoning.fields.is_empty() {
            return tally.skip("reasoning is not in the prompt");
        }
        demand_roundtrip(tally, prober, &[REASONING, LONG_REASONING], &WITH_END);
        if writes_calls(capabilities) {
            let probes = [REASONING_CALL, REASONING_TEXT_CALL];
            demand_roundtrip(tally, prober, &probes, &WITH_END);
        }
    },
};
