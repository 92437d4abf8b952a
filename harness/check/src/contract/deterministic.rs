use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::mentions::uses_filter;
use crate::probe::Probe;
use crate::probe::catalogue::{PARALLEL, SYSTEM_TURNS, TOOLS, USER};

pub(super) static CONTRACT: Contract = Contract {
    id: "deterministic",
    meaning: "the same conversation gives the same prompt, however often it is rendered",
    guards_against: "tools or arguments in random order, random choices, addresses of objects",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("deterministic.md"),
    judge: |tally, prober, _| {
        // The engine here takes the last item, Python any.
        let is_random = prober.dialect() == Dialect::Jinja && uses_filter(prober, "random");
        tally.demand(!is_random, || {
            let what = "the filter `random` may give something else each time";
            Evidence::one(what, &prober.see(USER))
        });
        for probe in USUAL {
            let (first, again) = (prober.see(probe), prober.see_again(probe));
            tally.demand(first.outcome == again.outcome, || {
                Evidence::differ("two renders of one conversation differ", &first, &again)
            });
        }
    },
};

/// Probes that together go through most of a template.
const USUAL: [Probe; 4] = [USER, SYSTEM_TURNS, TOOLS, PARALLEL];
