use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::deciding::decided;

pub(super) static CONTRACT: Contract = Contract {
    id: "no-hidden-triggers",
    meaning: "no word in a message, no length, no tool's name and no day changes the rest of a prompt",
    guards_against: "an instruction that nobody sees in tests, and that somebody may have hidden",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("no_hidden_triggers.md"),
    judge: |tally, prober, _| {
        let findings = decided(prober);
        if let Some(why) = &findings.untried {
            tally.broken(Evidence::of_source(why).with(Severity::Warning));
        } else if !findings.is_known {
            return tally.skip("the engine cannot tell what the template looks at");
        }
        tally.holds();
        for trigger in &findings.triggers {
            let what = match trigger.line {
                Some(line) => format!("{} (line {line})", trigger.what),
                None => trigger.what.clone(),
            };
            let evidence = Evidence::differ(what, &trigger.usual, &trigger.seen);
            tally.broken(evidence.in_line(trigger.line));
        }
    },
};
