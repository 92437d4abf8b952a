//! Accepting: outcomes become the expected snapshots, and what a reference did becomes their record.
//!
//! A file of snapshots is written as a whole. Pairs outside the selection keep what is accepted and
//! recorded of them.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use rolecall_core::{CaseId, Template, TemplateName};

use crate::checked_text::CheckedText;
use crate::divergence::Divergences;
use crate::record::Record;
use crate::run::Compared;
use crate::snapshot::{PairText, SnapshotStatus, Snapshots, contents};
use crate::suite::{Pair, Suite};
use rolecall_core::file::is_there;
use rolecall_core::problem::Problem;
use rolecall_core::transcript;

pub type PairKey<'s> = (&'s TemplateName, &'s CaseId);

/// What becomes of files of snapshots.
#[derive(Debug, Default)]
pub struct Changes<'s> {
    pub transcripts: HashMap<PairKey<'s>, String>,
    /// The lines that are accepted about the parsed answers of pairs.
    pub answers: HashMap<PairKey<'s>, String>,
    pub records: HashMap<&'s TemplateName, &'s Record>,
    /// The reference's own transcripts where an engine is listed to differ from it.
    pub references: Option<ReferenceTranscripts<'s>>,
}

/// The references' own transcripts for listed divergences.
#[derive(Debug)]
pub struct ReferenceTranscripts<'s> {
    /// The divergences. Pairs without one keep no transcript.
    pub divergences: &'s Divergences,
    pub now: HashMap<PairKey<'s>, String>,
}

/// A file of snapshots to write.
#[derive(Debug)]
pub struct AcceptedFile {
    pub family: String,
    pub path: PathBuf,
    /// Sections without a pair in the suite, as `case, template`; they are dropped.
    pub orphans: Vec<String>,
    /// What is wrong with the file besides its transcripts, if it is written because of that.
    pub problems: Vec<Problem>,
    text: String,
    /// Whether the file has another text now.
    is_new: bool,
}

impl<'s> Changes<'s> {
    /// Adds the outcome of a pair.
    pub fn add(&mut self, compared: &Compared<'s>) {
        let pair = &compared.rendered.pair;
        let transcript = transcript::encode(&compared.rendered.outcome);
        self.transcripts.insert(pair.key(), transcript);
    }

    /// Adds the parsed answers of a template.
    pub fn add_readings(
        &mut self,
        suite: &'s Suite,
        template: &'s Template,
        checked: &CheckedText,
    ) {
        for pair in suite.pairs_among(template, &suite.cases) {
            let answers = checked.answers.get(&pair.case.id);
            self.answers
                .insert(pair.key(), answers.cloned().unwrap_or_default());
        }
    }

    /// The files to write for what is accepted, and problems with files that hold unreadable parts:
    /// writing would lose them.
    pub fn accepted(
        &self,
        suite: &Suite,
        snapshots: &Snapshots,
    ) -> (Vec<AcceptedFile>, Vec<Problem>) {
        let keys = self.transcripts.keys().chain(self.answers.keys());
        let families: BTreeSet<&str> = keys.map(|(_, case)| case.family()).collect();
        let (mut files, problems) = self.files(suite, snapshots, families);
        files.retain(|file| file.is_new);
        (files, problems)
    }

    /// The files of families with these changes, and problems with files that hold unreadable parts:
    /// writing would lose them.
    pub fn files<'f>(
        &self,
        suite: &Suite,
        snapshots: &Snapshots,
        families: impl IntoIterator<Item = &'f str>,
    ) -> (Vec<AcceptedFile>, Vec<Problem>) {
        let mut files = Vec::new();
        let mut problems = Vec::new();
        for family in families {
            match self.file(suite, snapshots, family) {
                Ok(file) => files.push(file),
                Err(problem) => problems.push(problem),
            }
        }
        (files, problems)
    }

    fn file(
        &self,
        suite: &Suite,
        snapshots: &Snapshots,
        family: &str,
    ) -> Result<AcceptedFile, Problem> {
        let before = snapshots.family(family);
        if let Some(problem) = before.unreadable_part() {
            return Err(problem);
        }
        let text = snapshots.written(suite, family, |pair| {
            let mut text = before.pair(pair);
            self.apply(pair, &mut text);
            text
        });
        Ok(AcceptedFile {
            family: family.to_owned(),
            path: before.path().to_path_buf(),
            orphans: before.orphans(&suite.pairs_by_case(family)),
            problems: Vec::new(),
            is_new: !before.is_text(&text),
            text,
        })
    }

    /// Whether the transcript or the answers of a pair change.
    pub fn is_about(&self, pair: &Pair<'_>) -> bool {
        self.transcripts.contains_key(&pair.key()) || self.answers.contains_key(&pair.key())
    }

    /// Changes what a file has about a pair.
    pub fn apply(&self, pair: &Pair<'_>, text: &mut PairText) {
        let (template, case) = pair.key();
        if let Some(now) = self.transcripts.get(&(template, case)) {
            text.transcript = Some(now.clone());
        }
        if let Some(answers) = self.answers.get(&(template, case)) {
            text.answers.clone_from(answers);
        }
        if let Some(record) = self.records.get(template) {
            text.record = record.lines(case);
        }
        if let Some(references) = &self.references {
            let now = references.now.get(&(template, case)).cloned();
            let kept = now.or_else(|| text.reference.take());
            // Everywhere else the accepted transcript is the reference's, too.
            text.reference = kept.filter(|_| references.divergences.has_seen_any(pair));
        }
        // It is not parsed, so nothing is accepted or recorded of that.
        if pair.template.response_template.is_none() {
            text.answers.clear();
        }
    }
}

/// The files of some pairs in which a section has no pair, occurs twice or is out of place, or that
/// somebody has edited, and problems with files that hold unreadable parts: writing would lose them.
/// `pairs` are all of their families.
pub fn untidy(
    suite: &Suite,
    snapshots: &Snapshots,
    pairs: &[Pair<'_>],
) -> (Vec<AcceptedFile>, Vec<Problem>) {
    let mut untidy = Vec::new();
    let mut unreadable = Vec::new();
    for family in families_of(pairs) {
        let problems = snapshots.problems(suite, family).all();
        let is_readable = snapshots.family(family).undecodable().is_empty();
        if problems.is_empty() || !is_readable {
            continue;
        }
        match Changes::default().file(suite, snapshots, family) {
            Ok(file) => untidy.push(AcceptedFile { problems, ..file }),
            Err(problem) => unreadable.push(problem),
        }
    }
    (untidy, unreadable)
}

/// The families of pairs, each once, sorted.
pub fn families_of<'s>(pairs: &[Pair<'s>]) -> BTreeSet<&'s str> {
    pairs.iter().map(|pair| pair.case.id.family()).collect()
}

impl AcceptedFile {
    /// Writes the file, whole or not at all, and removes insta's pending file. Returns
    /// whether the content has changed.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, snapshots: &Snapshots) -> Result<bool, Problem> {
        let is_new = snapshots.write(&self.family, &self.text)?;
        remove_pending(&self.path)?;
        Ok(is_new)
    }

    /// Writes the file as [`AcceptedFile::write`] does, if it says anything or is there. What waits for
    /// review still waits: only what the reference did has changed.
    pub(crate) fn write_record(&self, snapshots: &Snapshots) -> Result<bool, Problem> {
        if contents(&self.text).is_some_and(str::is_empty) && !is_there(&self.path) {
            return Ok(false);
        }
        snapshots.write(&self.family, &self.text)
    }
}

/// Removes the file that insta has left for review next to a snapshot, if there is one: `cargo insta review`
/// would offer a result that was already decided on. Returns whether there was.
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

/// The file that insta leaves for review next to a snapshot.
fn pending(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Whether a pair differs from its accepted snapshot, or has none.
pub fn is_open(compared: &Compared<'_>) -> bool {
    !matches!(compared.comparison, None | Some(SnapshotStatus::Same))
}
