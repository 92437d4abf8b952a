//! Accepting: what came of pairs becomes what is expected of them.
//!
//! Files of snapshots are written whole, with what was accepted before of the pairs that are
//! not among them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use rolecall_model::TemplateName;

use crate::file::{is_there, read_text, write_below};
use crate::problem::Problem;
use crate::run::Compared;
use crate::snapshot::{Comparison, Snapshots};
use crate::suite::Suite;
use crate::transcript;

/// What is to be accepted, by file.
#[derive(Debug, Default)]
pub struct Accepting<'s> {
    files: BTreeMap<(&'s TemplateName, &'s str), HashMap<&'s str, String>>,
}

/// A file of snapshots as it is to be.
#[derive(Debug)]
pub struct AcceptedFile {
    /// The file.
    pub path: PathBuf,
    /// Sections that the suite has no case for any more, which are left out.
    pub orphans: Vec<String>,
    text: String,
}

impl<'s> Accepting<'s> {
    /// Adds what came of a pair.
    pub fn add(&mut self, compared: &Compared<'s>) {
        let pair = &compared.rendered.pair;
        self.files
            .entry((&pair.template.name, pair.case.id.family()))
            .or_default()
            .insert(
                pair.case.id.name(),
                transcript::encode(&compared.rendered.outcome),
            );
    }

    /// The files as they are to be, and those that cannot be written: something in them cannot
    /// be read, and would be lost.
    pub fn files(&self, suite: &Suite, snapshots: &Snapshots) -> (Vec<AcceptedFile>, Vec<Problem>) {
        let mut files = Vec::new();
        let mut problems = Vec::new();
        for ((name, family), accepted_now) in &self.files {
            let Some(template) = suite.template(name) else {
                continue;
            };
            let before = snapshots.accepted(name, family);
            let mut sections: Vec<(&str, &str)> = Vec::new();
            let mut lost = None;
            for pair in suite.pairs_of(template, family) {
                let case = pair.case.id.name();
                match (accepted_now.get(case), before.transcript(case)) {
                    (Some(now), _) => sections.push((case, now)),
                    (None, Some(before)) => sections.push((case, before)),
                    (None, None) if before.lacks(case) => {}
                    (None, None) => lost = Some(case),
                }
            }
            if let Some(case) = lost {
                let message = format!("what was accepted for `{case}` cannot be read");
                problems.push(
                    Problem::new(before.path(), message).help("mend the file, or accept all of it"),
                );
                continue;
            }
            let is_left = |case: &str| sections.iter().any(|(name, _)| *name == case);
            let orphans = before.transcripts().map(|(case, _)| case);
            files.push(AcceptedFile {
                orphans: orphans
                    .filter(|case| !is_left(case))
                    .map(str::to_owned)
                    .collect(),
                text: snapshots.written(family, sections.iter().copied()),
                path: before.path().to_path_buf(),
            });
        }
        (files, problems)
    }
}

impl AcceptedFile {
    /// Writes it, whole or not at all, and takes away what waited for review there. Returns
    /// whether anything was to be written.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, snapshots: &Snapshots) -> Result<bool, Problem> {
        let is_same = read_text(&self.path).is_ok_and(|old| old == self.text);
        if !is_same {
            write_below(snapshots.root(), &self.path, &self.text)?;
        }
        let pending = pending(&self.path);
        if is_there(&pending) {
            std::fs::remove_file(&pending)
                .map_err(|error| Problem::new(pending, format!("cannot be removed: {error}")))?;
        }
        Ok(!is_same)
    }
}

/// What insta leaves for review beside a snapshot.
fn pending(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Whether a pair is not as it was accepted.
pub fn is_open(compared: &Compared<'_>) -> bool {
    !matches!(compared.comparison, None | Some(Comparison::Same))
}
