use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::PARALLEL;
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "parallel-calls-kept",
    meaning: "two parallel calls are both in the prompt, with both results, or refused",
    guards_against: "results without calls, calls without results",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("parallel_calls_kept.md"),
    judge: |tally, prober, capabilities| {
        if !capabilities.tool_calls.single.is_kept() {
            return tally.skip("a single call is not in the prompt");
        }
        let seen = prober.see(PARALLEL);
        if tally.text(&seen).is_some() {
            let mut wanted = vec![
                (words::FIRST_VALUE, "the first call"),
                (words::THIRD_VALUE, "the second call"),
            ];
            if capabilities.tool_results.single.is_kept() {
                wanted.push((words::RESULT, "the first result"));
                wanted.push((words::SECOND_RESULT, "the second result"));
            }
            for (word, name) in wanted {
                tally.demand(seen.has(word), || {
                    Evidence::one(format!("{name} of two is not in the prompt"), &seen)
                });
            }
        }
    },
};
