//! Files of snapshots, each read once for all the pairs that are compared with it, and
//! given back after the last.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rolecall_model::{Case, Outcome};

use crate::problem::Problem;
use crate::snapshot::{Accepted, Comparison, Snapshots};
use crate::suite::{Pair, Suite, by_file};

/// The files of some pairs.
pub(crate) struct Opened<'o> {
    snapshots: &'o Snapshots,
    suite: &'o Suite,
    pairs: &'o [Pair<'o>],
    /// All cases of the suite, by family.
    families: HashMap<&'o str, &'o [Case]>,
    /// What is wrong with the files, besides the transcripts in them.
    problems: Mutex<Vec<Problem>>,
    files: Vec<File>,
    /// The file of each pair, by the pair's number.
    of_pair: Vec<usize>,
}

#[derive(Default)]
struct File {
    read: Mutex<Option<Arc<Read>>>,
    /// Pairs that were not compared yet.
    left: AtomicUsize,
    /// The numbers of the first pairs that stand together.
    numbers: Range<usize>,
}

/// A file that was read.
struct Read {
    accepted: Accepted,
    /// Whether its sections are those of [`File::numbers`], and nothing is wrong with it.
    is_exact: bool,
}

impl<'o> Opened<'o> {
    /// The files of pairs of a suite, of which none is read yet.
    pub(crate) fn new(
        snapshots: &'o Snapshots,
        suite: &'o Suite,
        pairs: &'o [Pair<'o>],
    ) -> Opened<'o> {
        let mut files: Vec<File> = Vec::new();
        let mut known = HashMap::new();
        let mut of_pair = Vec::with_capacity(pairs.len());
        for (template, family, of_file) in by_file(pairs) {
            let index = *known.entry((&template.name, family)).or_insert_with(|| {
                files.push(File {
                    numbers: of_pair.len()..of_pair.len() + of_file.len(),
                    ..File::default()
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

    /// Compares what came of the pair of a number with what was accepted for it. To be asked
    /// for once a pair.
    pub(crate) fn compare(&self, number: usize, pair: &Pair<'_>, outcome: &Outcome) -> Comparison {
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

    fn take(&self, file: &File, pair: &Pair<'_>) -> Arc<Read> {
        let mut read = file.read.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || Arc::new(self.read(pair, file.numbers.clone()));
        if file.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            return read.take().unwrap_or_else(open);
        }
        Arc::clone(read.get_or_insert_with(open))
    }

    fn read(&self, pair: &Pair<'_>, numbers: Range<usize>) -> Read {
        let family = pair.case.id.family();
        let accepted = self.snapshots.accepted(&pair.template.name, family);
        let expected = self.pairs.get(numbers).unwrap_or_default();
        let names = expected.iter().map(|pair| pair.case.id.name());
        if self.snapshots.has_exactly(&accepted, family, names) {
            let is_exact = true;
            return Read { accepted, is_exact };
        }
        let cases = self.families.get(family).copied().unwrap_or_default();
        let pairs = self.suite.pairs_among(pair.template, cases);
        let found = self.snapshots.problems(&accepted, pairs);
        // Where the case file cannot be read in whole, sections lack their cases for that alone.
        let is_of_family =
            |problem: &Problem| problem.path.file_stem().is_some_and(|stem| stem == family);
        let is_whole = !self.suite.problems.iter().any(is_of_family);
        if is_whole && !found.is_empty() {
            let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
            problems.extend(found);
        }
        let is_exact = false;
        Read { accepted, is_exact }
    }

    /// What is wrong with the files that were read, besides the transcripts in them; sorted
    /// by path.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self
            .problems
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        problems.sort_by(|a, b| (&a.path, a.position).cmp(&(&b.path, b.position)));
        problems
    }
}
