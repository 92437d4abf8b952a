use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{OBJECT_ARGUMENTS, TOOLS};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "key-order-kept",
    meaning: "arguments and parameters keep their order",
    guards_against: "arguments in another order than the model wrote them, and a lost prompt cache",
    severity: Severity::Note,
    // Ollama sorts both before a template sees them.
    dialects: &[Dialect::Jinja],
    page: include_str!("key_order_kept.md"),
    judge: |tally, prober, _| {
        for (probe, first, second, what) in [
            (
                OBJECT_ARGUMENTS,
                words::FIRST_VALUE,
                words::SECOND_VALUE,
                "arguments are not in the order in which they were written",
            ),
            (
                TOOLS,
                words::FIRST_KEY,
                words::SECOND_KEY,
                "parameters are not in the order in which they were written",
            ),
        ] {
            let seen = prober.see(probe);
            match (seen.find(first), seen.find(second)) {
                (Some(first), Some(second)) => {
                    tally.demand(first.start < second.start, || Evidence::one(what, &seen));
                }
                _ => tally.skip("tools and calls are not in the prompt"),
            }
        }
    },
};
