//! Accepting: outcomes become the expected snapshots.
//!
//! A file of snapshots is written as a whole. Pairs outside the selection keep their
//! accepted transcripts.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use rolecall_model::TemplateName;

use crate::run::Compared;
use crate::snapshot::{SnapshotStatus, Snapshots};
use crate::suite::{Pair, Suite, by_file};
use rolecall_base::file::{is_there, read_text, write_below};
use rolecall_base::problem::Problem;
use rolecall_base::transcript;

/// The transcripts to accept, by file.
#[derive(Debug, Default)]
pub struct Accepting<'s> {
    files: BTreeMap<(&'s TemplateName, &'s str), HashMap<&'s str, String>>,
}

/// A file of snapshots to write.
#[derive(Debug)]
pub struct AcceptedFile {
    /// The file.
    pub path: PathBuf,
    /// Sections without a case in the suite; they are dropped.
    pub orphans: Vec<String>,
    text: String,
}

impl<'s> Accepting<'s> {
    /// Adds the outcome of a pair.
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

    /// The files to write, and problems with files that hold unreadable parts: writing would
    /// lose them.
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
                let message = format!("the accepted snapshot of `{case}` cannot be read");
                problems.push(
                    Problem::new(before.path(), message)
                        .help("repair the file, or accept all its pairs"),
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

/// A file of snapshots whose transcripts are readable, and that has something else wrong.
#[derive(Debug)]
pub struct UntidyFile {
    /// The file as it should be, with the same transcripts.
    pub file: AcceptedFile,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// The files of some pairs in which a section has no case, occurs twice or is out of place, or that
/// somebody has edited. `pairs` are all of their families.
pub fn untidy(suite: &Suite, snapshots: &Snapshots, pairs: &[Pair<'_>]) -> Vec<UntidyFile> {
    let mut untidy = Vec::new();
    for (template, family, _) in by_file(pairs) {
        let before = snapshots.accepted(&template.name, family);
        let all: Vec<Pair<'_>> = suite.pairs_of(template, family).collect();
        let problems = snapshots.problems(&before, all.iter().copied());
        let cases = all.iter().map(|pair| pair.case.id.name());
        let cases: Vec<&str> = cases.filter(|case| !before.lacks(case)).collect();
        let transcripts = cases.iter().filter_map(|case| before.transcript(case));
        let is_readable = transcripts.clone().count() == cases.len();
        if problems.is_empty() || !is_readable || !before.undecodable().is_empty() {
            continue;
        }
        let orphans = before.transcripts().map(|(case, _)| case);
        let orphans = orphans.filter(|case| !cases.contains(case));
        untidy.push(UntidyFile {
            file: AcceptedFile {
                path: before.path().to_path_buf(),
                orphans: orphans.map(str::to_owned).collect(),
                text: snapshots.written(family, cases.iter().copied().zip(transcripts)),
            },
            problems,
        });
    }
    untidy
}

impl AcceptedFile {
    /// Writes the file, whole or not at all, and removes insta's pending file. Returns
    /// whether the content has changed.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, snapshots: &Snapshots) -> Result<bool, Problem> {
        let is_same = read_text(&self.path).is_ok_and(|old| old == self.text);
        if !is_same {
            write_below(snapshots.root(), &self.path, &self.text)?;
        }
        remove_pending(&self.path)?;
        Ok(!is_same)
    }
}

/// Removes the file that insta has left for review beside a snapshot, if there is one. Returns
/// whether there was.
///
/// # Errors
///
/// The file cannot be removed.
pub fn remove_pending(snapshot: &Path) -> Result<bool, Problem> {
    let pending = pending(snapshot);
    if !is_there(&pending) {
        return Ok(false);
    }
    std::fs::remove_file(&pending)
        .map_err(|error| Problem::new(pending, format!("cannot be removed: {error}")))?;
    Ok(true)
}

/// The file that insta leaves for review beside a snapshot.
fn pending(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Whether a pair differs from its accepted snapshot, or has none.
pub fn is_open(compared: &Compared<'_>) -> bool {
    !matches!(compared.comparison, None | Some(SnapshotStatus::Same))
}
