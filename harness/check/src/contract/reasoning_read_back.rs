use rolecall_core::Dialect;

use super::frame::{Contract, Severity, Tally};
use super::shared::read_answer::{WITH_END, demand_roundtrip, writes_calls};
use crate::probe::answers::{LONG_REASONING, REASONING, REASONING_CALL, REASONING_TEXT_CALL};

pub(super) static CONTRACT: Contract = Contract {
    id: "reasoning-read-back",
    meaning: "reasoning is parsed as reasoning, and the answer after it as the answer",
    guards_against: "reasoning that users read as the answer, answers that are taken for reasoning",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("reasoning_read_back.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if capabilities.reasoning.fields.is_empty() {
            tally.skip("reasoning is not in the prompt");
            return tally.judgement();
        }
        demand_roundtrip(&mut tally, prober, &[REASONING, LONG_REASONING], &WITH_END);
        if writes_calls(capabilities) {
            let probes = [REASONING_CALL, REASONING_TEXT_CALL];
            demand_roundtrip(&mut tally, prober, &probes, &WITH_END);
        }
        tally.judgement()
    },
};
