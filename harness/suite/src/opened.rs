//! Files of snapshots, each read once for all its pairs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rolecall_core::Outcome;

use crate::snapshot::{FamilyFile, SnapshotStatus, Snapshots};
use crate::suite::{Pair, Suite};
use rolecall_core::problem::Problem;

/// The files of some pairs.
pub(crate) struct Opened<'o> {
    snapshots: &'o Snapshots,
    suite: &'o Suite,
    families: HashMap<&'o str, OnceLock<Arc<FamilyFile>>>,
    /// Problems with the files, besides the transcripts in them.
    problems: Mutex<Vec<Problem>>,
}

impl<'o> Opened<'o> {
    /// The files for some pairs of a suite. None is read yet.
    pub(crate) fn new(
        snapshots: &'o Snapshots,
        suite: &'o Suite,
        pairs: &'o [Pair<'o>],
    ) -> Opened<'o> {
        let families = pairs.chunk_by(|a, b| a.case.id.family() == b.case.id.family());
        let families = families.filter_map(|pairs| Some(pairs.first()?.case.id.family()));
        Opened {
            snapshots,
            suite,
            families: families.map(|family| (family, OnceLock::new())).collect(),
            problems: Mutex::default(),
        }
    }

    /// Compares the outcome of a pair with its accepted snapshot.
    pub(crate) fn compare(&self, pair: &Pair<'_>, outcome: &Outcome) -> SnapshotStatus {
        let family = pair.case.id.family();
        match self.families.get(family) {
            Some(file) => file
                .get_or_init(|| self.read(family))
                .compare(pair, outcome),
            None => self.snapshots.compare(pair, outcome),
        }
    }

    fn read(&self, family: &str) -> Arc<FamilyFile> {
        // If the case file has problems, sections without a case may be correct.
        let is_of_family =
            |problem: &Problem| problem.path.file_stem().is_some_and(|stem| stem == family);
        if !self.suite.problems.iter().any(is_of_family) {
            // What is gone, only a run over the whole suite looks at.
            let found = self.snapshots.problems(self.suite, family).others;
            let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
            problems.extend(found);
        }
        self.snapshots.family(family)
    }

    /// Problems with the files that were read, besides the transcripts in them, sorted by
    /// path.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let problems = self.problems.into_inner();
        let mut problems = problems.unwrap_or_else(PoisonError::into_inner);
        problems.sort_by(|a, b| (&a.path, a.position).cmp(&(&b.path, b.position)));
        problems
    }
}
