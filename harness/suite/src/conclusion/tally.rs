//! Counts of pairs by their results.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rolecall_core::OutcomeKind;

use super::fault::Fault;
use crate::record::Unverified;
use crate::run::Compared;
use crate::snapshot::SnapshotStatus;
use crate::verdict::Verdict;

/// How many of some pairs agree.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub agree: usize,
    pub all: usize,
}

/// How many pairs are how.
#[derive(Debug, Default, Clone)]
pub struct PairTally {
    outcomes: BTreeMap<OutcomeKind, usize>,
    pub faults: usize,
    /// Pairs in which the engine had loaded the template.
    pub loaded: usize,
    /// Pairs in which the reference gave a prompt.
    pub prompts: Share,
    /// Pairs in which the reference gave none.
    pub refusals: Share,
    pub same: usize,
    pub changed: usize,
    /// Not accepted yet.
    pub new: usize,
    pub agree: usize,
    /// Differ from the reference without a listed reason.
    pub differ: usize,
    /// Differ from the reference for a listed reason.
    pub diverge: usize,
    /// In the suite, without a current record.
    pub unverified: usize,
    /// The engine was gone.
    pub not_asked: usize,
    /// From outside the suite, with nothing to compare with.
    pub outside: usize,
}

impl Share {
    /// The share of those that do not differ.
    pub fn of(all: usize, differ: usize) -> Share {
        Share {
            agree: all.saturating_sub(differ),
            all,
        }
    }

    /// Compares by share, without rounding.
    pub fn compared(self, other: Share) -> Ordering {
        (self.agree * other.all.max(1)).cmp(&(other.agree * self.all.max(1)))
    }

    /// Whether all agree.
    pub fn is_whole(self) -> bool {
        self.agree == self.all
    }
}

impl PairTally {
    pub(super) fn add(&mut self, compared: &Compared<'_>) {
        let kind = compared.rendered.outcome.kind();
        *self.outcomes.entry(kind).or_default() += 1;
        self.faults += usize::from(Fault::of(compared).is_some());
        self.loaded += usize::from(compared.rendered.outcome.is_of_loaded_template());
        let expected = match &compared.verdict {
            Verdict::Agrees => Some(kind),
            Verdict::Differs(difference) => Some(difference.expected.kind()),
            Verdict::Unverified(_) => None,
        };
        if let Some(expected) = expected {
            let share = match expected {
                OutcomeKind::Rendered => &mut self.prompts,
                _ => &mut self.refusals,
            };
            share.all += 1;
            share.agree += usize::from(compared.verdict == Verdict::Agrees);
        }
        match compared.comparison {
            // A pair that was not asked has no result that could have changed.
            _ if kind == OutcomeKind::NotAsked => {}
            None => {}
            Some(SnapshotStatus::Same) => self.same += 1,
            Some(SnapshotStatus::New) => self.new += 1,
            Some(SnapshotStatus::Changed(_) | SnapshotStatus::Unreadable(_)) => self.changed += 1,
        }
        match &compared.verdict {
            Verdict::Agrees => self.agree += 1,
            Verdict::Differs(_) if compared.verdict.is_unexplained() => self.differ += 1,
            Verdict::Differs(_) => self.diverge += 1,
            Verdict::Unverified(Unverified::NotAsked) => self.not_asked += 1,
            Verdict::Unverified(why) if why.is_expected() => self.outside += 1,
            Verdict::Unverified(_) => self.unverified += 1,
        }
    }

    pub fn all(&self) -> usize {
        self.outcomes.values().sum()
    }

    /// How many pairs have an outcome of a kind.
    pub fn count(&self, kind: OutcomeKind) -> usize {
        self.outcomes.get(&kind).copied().unwrap_or(0)
    }

    /// Pairs for which a verdict is expected.
    pub fn judged(&self) -> usize {
        self.agree + self.differ + self.diverge + self.unverified + self.not_asked
    }

    /// Whether all pairs agree with the reference, or differ for a listed reason.
    pub fn is_as_the_reference(&self) -> bool {
        self.differ == 0 && self.unverified == 0 && self.not_asked == 0
    }
}
