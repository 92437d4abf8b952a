//! Files of snapshots, each read once for all the pairs that are compared with it, and
//! given back after the last.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rolecall_model::Case;

use crate::problem::Problem;
use crate::snapshot::{Accepted, Snapshots};
use crate::suite::{Pair, Suite, by_file};

/// The files of some pairs.
pub(crate) struct Opened<'o> {
    snapshots: &'o Snapshots,
    suite: &'o Suite,
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
    accepted: Mutex<Option<Arc<Accepted>>>,
    /// Pairs that were not compared yet.
    left: AtomicUsize,
}

impl<'o> Opened<'o> {
    /// The files of pairs of a suite, of which none is read yet.
    pub(crate) fn new(
        snapshots: &'o Snapshots,
        suite: &'o Suite,
        pairs: &[Pair<'_>],
    ) -> Opened<'o> {
        let mut files: Vec<File> = Vec::new();
        let mut known = HashMap::new();
        let mut of_pair = Vec::with_capacity(pairs.len());
        for (template, family, of_file) in by_file(pairs) {
            let index = *known.entry((&template.name, family)).or_insert_with(|| {
                files.push(File::default());
                files.len() - 1
            });
            *files[index].left.get_mut() += of_file.len();
            of_pair.extend(std::iter::repeat_n(index, of_file.len()));
        }
        Opened {
            snapshots,
            suite,
            families: suite.cases_by_family().collect(),
            problems: Mutex::default(),
            files,
            of_pair,
        }
    }

    /// What was accepted for the pair of a number, and for others in the same file. To be
    /// asked for once a pair.
    pub(crate) fn take(&self, number: usize, pair: &Pair<'_>) -> Arc<Accepted> {
        let Some(file) = self.of_pair.get(number).and_then(|at| self.files.get(*at)) else {
            return self.read(pair);
        };
        let mut accepted = file.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        if file.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            return accepted.take().unwrap_or_else(|| self.read(pair));
        }
        Arc::clone(accepted.get_or_insert_with(|| self.read(pair)))
    }

    fn read(&self, pair: &Pair<'_>) -> Arc<Accepted> {
        let family = pair.case.id.family();
        let accepted = self.snapshots.accepted(&pair.template.name, family);
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
        Arc::new(accepted)
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
