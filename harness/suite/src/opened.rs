//! Files of snapshots. Each is read once for all its pairs, and freed after the last.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rolecall_model::{Case, Outcome};

use crate::snapshot::{Accepted, SnapshotStatus, Snapshots};
use crate::suite::{Pair, Suite, by_file};
use rolecall_base::problem::Problem;

/// The files of some pairs.
pub(crate) struct Opened<'o> {
    snapshots: &'o Snapshots,
    suite: &'o Suite,
    pairs: &'o [Pair<'o>],
    /// All cases of the suite, by family.
    families: HashMap<&'o str, &'o [Case]>,
    /// Problems with the files, besides the transcripts in them.
    problems: Mutex<Vec<Problem>>,
    files: Vec<OpenedFile>,
    /// The file of each pair, by the pair's number.
    of_pair: Vec<usize>,
}

#[derive(Default)]
struct OpenedFile {
    read: Mutex<Option<Arc<ReadFile>>>,
    /// The count of pairs that were not compared yet.
    left: AtomicUsize,
    /// The numbers of the file's first run of consecutive pairs.
    numbers: Range<usize>,
}

/// A file that was read.
struct ReadFile {
    accepted: Accepted,
    /// Whether its sections are those of [`OpenedFile::numbers`], and nothing is wrong with it.
    is_exact: bool,
}

impl<'o> Opened<'o> {
    /// The files for some pairs of a suite. None is read yet.
    pub(crate) fn new(
        snapshots: &'o Snapshots,
        suite: &'o Suite,
        pairs: &'o [Pair<'o>],
    ) -> Opened<'o> {
        let mut files: Vec<OpenedFile> = Vec::new();
        let mut known = HashMap::new();
        let mut of_pair = Vec::with_capacity(pairs.len());
        for (template, family, of_file) in by_file(pairs) {
            let index = *known.entry((&template.name, family)).or_insert_with(|| {
                files.push(OpenedFile {
                    numbers: of_pair.len()..of_pair.len() + of_file.len(),
                    ..OpenedFile::default()
                });
                files.len() - 1
            });
            *files[index].left.get_mut() += of_file.len();
            of_pair.extend(std::iter::repeat_n(index, of_file.len()));
        }
        Opened {
            snapshots,
            suite,
            pairs,
            families: suite.cases_by_family().collect(),
            problems: Mutex::default(),
            files,
            of_pair,
        }
    }

    /// Compares the outcome of a pair with its accepted snapshot. Call it once for each
    /// pair.
    pub(crate) fn compare(
        &self,
        number: usize,
        pair: &Pair<'_>,
        outcome: &Outcome,
    ) -> SnapshotStatus {
        let case = pair.case.id.name();
        let Some(file) = self.of_pair.get(number).and_then(|at| self.files.get(*at)) else {
            return self.read(pair, 0..0).accepted.compare(case, outcome);
        };
        let read = self.take(file, pair);
        if read.is_exact && file.numbers.contains(&number) {
            let place = number - file.numbers.start;
            return read.accepted.compare_at(place, case, outcome);
        }
        read.accepted.compare(case, outcome)
    }

    fn take(&self, file: &OpenedFile, pair: &Pair<'_>) -> Arc<ReadFile> {
        let mut read = file.read.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || Arc::new(self.read(pair, file.numbers.clone()));
        if file.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            return read.take().unwrap_or_else(open);
        }
        Arc::clone(read.get_or_insert_with(open))
    }

    fn read(&self, pair: &Pair<'_>, numbers: Range<usize>) -> ReadFile {
        let family = pair.case.id.family();
        let accepted = self.snapshots.accepted(&pair.template.name, family);
        let expected = self.pairs.get(numbers).unwrap_or_default();
        let names = expected.iter().map(|pair| pair.case.id.name());
        if self.snapshots.has_exactly(&accepted, family, names) {
            let is_exact = true;
            return ReadFile { accepted, is_exact };
        }
        let cases = self.families.get(family).copied().unwrap_or_default();
        let pairs = self.suite.pairs_among(pair.template, cases);
        let found = self.snapshots.problems(&accepted, pairs);
        // If the case file has problems, sections without a case may be correct.
        let is_of_family =
            |problem: &Problem| problem.path.file_stem().is_some_and(|stem| stem == family);
        let is_whole = !self.suite.problems.iter().any(is_of_family);
        if is_whole && !found.is_empty() {
            let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
            problems.extend(found);
        }
        let is_exact = false;
        ReadFile { accepted, is_exact }
    }

    /// Problems with the files that were read, besides the transcripts in them, sorted by
    /// path.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self
            .problems
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        problems.sort_by(|a, b| (&a.path, a.position).cmp(&(&b.path, b.position)));
        problems
    }
}
