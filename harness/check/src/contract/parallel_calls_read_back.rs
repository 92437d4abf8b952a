use rolecall_core::Dialect;

use super::frame::{Contract, Severity};
use super::shared::read_answer::{WITH_END, demand_roundtrip};
use crate::probe::answers::{PARALLEL, TEXT_PARALLEL, THREE, TWICE};

pub(super) static CONTRACT: Contract = Contract {
    id: "parallel-calls-read-back",
    meaning: "several calls in an answer are all parsed, in their order",
    guards_against: "calls that are lost, or run together",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("parallel_calls_read_back.md"),
    judge: |tally, prober, capabilities| {
        if !capabilities.tool_calls.parallel.is_kept() {
            return tally.skip("the template does not write several calls");
        }
        let probes = [PARALLEL, TEXT_PARALLEL, TWICE, THREE];
        demand_roundtrip(tally, prober, &probes, &WITH_END);
    },
};
