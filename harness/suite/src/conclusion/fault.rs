//! Faults: why a pair fails a run.

use crate::divergence::Listed;
use crate::record::Unverified;
use crate::run::Compared;
use crate::snapshot::SnapshotStatus;
use crate::verdict::Verdict;
use rolecall_core::OutcomeKind;
use rolecall_core::named;

named! {
    /// Why a pair is not as expected.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Fault {
        /// Another transcript was accepted.
        Changed = "changed",
        /// Nothing was accepted yet.
        New = "new",
        /// The accepted snapshot cannot be read.
        Unreadable = "unreadable",
        /// The reference did something else.
        Differs = "differs",
        /// A listed divergence has changed.
        OtherDivergence = "diverges otherwise",
        /// The reference's outcome is unknown.
        Unverified = "unverified",
        /// The engine crashed, and nobody has accepted that.
        Crashed = "crashed",
        /// The engine was given up.
        NotAsked = "not asked",
    }
}

impl Fault {
    /// What it means, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Fault::Changed => "a different result was accepted before",
            Fault::New => "no result was accepted yet",
            Fault::Unreadable => "the accepted result cannot be read",
            Fault::Differs => "the reference gives another result",
            Fault::OtherDivergence => "the result is not the one that was listed as a divergence",
            Fault::Unverified => {
                "the reference has no record of this template and this case as they are now"
            }
            Fault::Crashed => "the engine crashed",
            Fault::NotAsked => "the engine was not asked",
        }
    }

    /// The word for it after so many pairs.
    pub fn of_many(self, count: usize) -> &'static str {
        match self {
            Fault::Differs if count != 1 => "differ",
            Fault::OtherDivergence if count != 1 => "diverge otherwise",
            _ => self.name(),
        }
    }

    /// Why a pair is not as expected, if it is not. A fault of the snapshot comes before one of the
    /// verdict, unless there is no result.
    pub fn of(compared: &Compared<'_>) -> Option<Fault> {
        if compared.verdict == Verdict::Unverified(Unverified::NotAsked) {
            return Some(Fault::NotAsked);
        }
        match &compared.comparison {
            Some(SnapshotStatus::New) => return Some(Fault::New),
            Some(SnapshotStatus::Unreadable(_)) => return Some(Fault::Unreadable),
            Some(SnapshotStatus::Changed(_)) => return Some(Fault::Changed),
            None | Some(SnapshotStatus::Same) => {}
        }
        let is_crash = compared.rendered.outcome.kind() == OutcomeKind::Crashed;
        match &compared.verdict {
            Verdict::Agrees => None,
            Verdict::Differs(difference) => match &difference.listed {
                Listed::Known { .. } => None,
                Listed::No => Some(Fault::Differs),
                Listed::Changed { .. } => Some(Fault::OtherDivergence),
            },
            Verdict::Unverified(_) if is_crash && compared.comparison.is_none() => {
                Some(Fault::Crashed)
            }
            Verdict::Unverified(why) => (!why.is_expected()).then_some(Fault::Unverified),
        }
    }
}
