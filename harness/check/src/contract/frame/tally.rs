//! The sum of what several renders say about one contract.

use super::evidence::Evidence;
use super::judgement::Judgement;
use super::severity::Severity;
use crate::probe::ProbeOutcome;

/// The outcomes so far.
#[derive(Debug, Default)]
pub(in crate::contract) struct Tally {
    has_held: bool,
    broken: Vec<Evidence>,
    skipped: Vec<String>,
}

impl Tally {
    /// Something that could have broken the contract did not.
    pub(in crate::contract) fn holds(&mut self) {
        self.has_held = true;
    }

    pub(in crate::contract) fn broken(&mut self, evidence: Evidence) {
        if !self.broken.iter().any(|known| known.what == evidence.what) {
            self.broken.push(evidence);
        }
    }

    pub(in crate::contract) fn is_broken(&self) -> bool {
        !self.broken.is_empty()
    }

    pub(in crate::contract) fn is_reported(&self, what: &str) -> bool {
        self.broken.iter().any(|known| known.what == what)
    }

    /// Demands something of a render; otherwise this is as bad.
    pub(in crate::contract) fn demand_with(
        &mut self,
        severity: Severity,
        is_so: bool,
        otherwise: impl FnOnce() -> Evidence,
    ) {
        self.demand(is_so, || otherwise().with(severity));
    }

    /// A render says nothing about the contract, for this reason.
    pub(in crate::contract) fn skip(&mut self, why: impl Into<String>) {
        self.skipped.push(why.into());
    }

    /// The prompt of a probe; where there is none, the probe says nothing.
    pub(in crate::contract) fn text<'s>(&mut self, seen: &'s ProbeOutcome) -> Option<&'s str> {
        let text = seen.text();
        if text.is_none() {
            self.skip(seen.refusal());
        }
        text
    }

    /// Demands something of a render.
    pub(in crate::contract) fn demand(
        &mut self,
        is_so: bool,
        otherwise: impl FnOnce() -> Evidence,
    ) {
        if is_so {
            self.holds();
        } else {
            self.broken(otherwise());
        }
    }

    /// Demands that two prompts are the same. `what` describes the defect if they are not.
    pub(in crate::contract) fn same(
        &mut self,
        first: &ProbeOutcome,
        second: &ProbeOutcome,
        what: &str,
    ) {
        if let (Some(one), Some(other)) = (self.text(first), self.text(second)) {
            self.demand(one == other, || Evidence::differ(what, first, second));
        }
    }

    /// The judgement. One broken demand breaks the contract. Without any demand, it does not apply.
    pub(in crate::contract) fn judgement(self) -> Judgement {
        if !self.broken.is_empty() {
            Judgement::Broken(self.broken)
        } else if self.has_held {
            Judgement::Holds
        } else {
            let why = self.skipped.into_iter().next();
            Judgement::DoesNotApply(why.unwrap_or_else(|| "there is nothing to look at".to_owned()))
        }
    }
}
