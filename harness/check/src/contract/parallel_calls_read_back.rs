use rolecall_core::Dialect;

use super::frame::{Contract, Severity, Tally};
use super::shared::read_answer::{WITH_END, demand_roundtrip};
use crate::probe::answers::{PARALLEL, TEXT_PARALLEL, THREE, TWICE};

pub(super) static CONTRACT: Contract = Contract {
    id: "parallel-calls-read-back",
    meaning: "several calls in an answer are all parsed, in their order",
    guards_against: "calls that are lost, or run together",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("parallel_calls_read_back.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if !capabilities.tool_calls.parallel.is_kept() {
            tally.skip("the template does not write several calls");
            return tally.judgement();
        }
        let probes = [PARALLEL, TEXT_PARALLEL, TWICE, THREE];
        demand_roundtrip(&mut tally, prober, &probes, &WITH_END);
        tally.judgement()
    },
};
