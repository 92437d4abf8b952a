use std::rc::Rc;

use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{NO_TOOLS, USER};
use crate::probe::{ProbeOutcome, Prober, Requirement};

pub(super) static CONTRACT: Contract = Contract {
    id: "no-tools-alike",
    meaning: "tools that are null, absent or an empty list give the same prompt",
    guards_against: "instructions for tools that nobody offers, servers that leave tools out",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("no_tools_alike.md"),
    judge: |tally, prober, _| {
        if prober.input_style().given == Requirement::Tools {
            return tally.skip("the template wants tools");
        }
        let without = prober.see(USER);
        let empty = prober.see(NO_TOOLS);
        tally.demand(without.outcome == empty.outcome, || {
            let what = match empty.text() {
                Some(_) => "an empty list of tools gives another prompt than no tools".to_owned(),
                None => format!("an empty list of tools: {}", empty.refusal()),
            };
            Evidence::differ(what, &without, &empty)
        });
        if prober.dialect() == Dialect::Jinja {
            // transformers always defines `tools`; other servers leave it out.
            if let Some(absent) = without_tools(prober, &without) {
                tally.demand(absent.outcome == without.outcome, || {
                    let what = match absent.text() {
                        Some(_) => {
                            "tools that are not defined give another prompt than null".to_owned()
                        }
                        None => format!("tools that are not defined: {}", absent.refusal()),
                    };
                    Evidence::differ(what, &without, &absent)
                });
            }
        }
    },
};

/// What the template makes of a question where `tools` is not defined. For an engine that always
/// defines it, a tag at the beginning of the template sets it to an undefined variable. None if
/// such a tag alone changes the prompt.
fn without_tools(prober: &Prober<'_>, usual: &ProbeOutcome) -> Option<Rc<ProbeOutcome>> {
    if let Some(seen) = prober.see_without(USER, "tools") {
        return Some(seen);
    }
    let source = &prober.template().source;
    let with = |variable: &str| {
        let source = format!("{{% set {variable} = rolecall_absent +%}}{source}");
        prober.with_source(&source, &[USER]).into_iter().next()
    };
    let other = with("rolecall_other")?;
    (other.outcome == usual.outcome).then(|| with("tools"))?
}
