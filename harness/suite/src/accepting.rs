//! Accepting: outcomes become the expected snapshots, and what a reference did becomes their record.
//!
//! A file of snapshots is written as a whole. Pairs outside the selection keep what is accepted and
//! recorded of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rolecall_core::{CaseId, Outcome, OutcomeKind, Stage, Template, TemplateName};
use serde::Serialize;

use crate::checked_text::{CheckedText, TextKind};
use crate::divergence::Divergences;
use crate::record::Record;
use crate::run::Compared;
use crate::snapshot::{PairText, SnapshotStatus, Snapshots, contents};
use crate::suite::{Pair, Suite};
use crate::verdict::Verdict;
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

/// What is no result of a template, or the failure of one that cannot be read: it is accepted only on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlsoAccepted {
    Crashed,
    Exceeded,
    Unreadable,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AcceptedPairs {
    /// Accepted pairs that had another snapshot before.
    pub changed: usize,
    /// Accepted pairs that had no snapshot before.
    pub new: usize,
    /// Accepted pairs that the reference confirms.
    pub confirmed: usize,
}

impl AcceptedPairs {
    fn of(compared: &Compared<'_>, is_confirmed: bool) -> AcceptedPairs {
        let is_new = matches!(compared.comparison, Some(SnapshotStatus::New));
        AcceptedPairs {
            changed: usize::from(!is_new),
            new: usize::from(is_new),
            confirmed: usize::from(is_confirmed),
        }
    }

    fn add(&mut self, others: AcceptedPairs) {
        self.changed += others.changed;
        self.new += others.new;
        self.confirmed += others.confirmed;
    }
}

/// How many pairs and cards are accepted, and why others are not.
#[derive(Debug, Default, Serialize)]
pub struct AcceptedCounts {
    /// The accepted pairs whose files were written.
    pub accepted: AcceptedPairs,
    /// Pairs whose files could not be written.
    pub failed: usize,
    pub cards: usize,
    pub readings: usize,
    /// Files that were written as they should be, with the transcripts that they had.
    pub tidied: usize,
    /// Files that waited for review, and were removed because nothing is left to decide.
    pub removed: usize,
    pub same: usize,
    /// Pairs that are not accepted, because the reference gives another result.
    pub refuted: usize,
    /// Pairs that are not accepted, because the reference's result is not known.
    pub unknown: usize,
    /// Pairs that are not accepted, because the engine crashed, exceeded a limit or was not asked.
    pub broken: usize,
    /// Pairs that are not accepted, because their template cannot be read.
    pub unreadable: usize,
}

impl AcceptedCounts {
    /// Counts an accepted text about a template.
    pub fn add_text(&mut self, kind: TextKind) {
        *match kind {
            TextKind::Card => &mut self.cards,
            TextKind::Readings => &mut self.readings,
        } += 1;
    }

    /// Whether nothing was written or removed, or would have been.
    pub fn changed_nothing(&self) -> bool {
        let AcceptedPairs { changed, new, .. } = self.accepted;
        let texts = self.cards + self.readings;
        changed + new + self.failed + texts + self.tidied + self.removed == 0
    }

    /// Whether some pairs differ from their snapshots and were not accepted.
    pub fn has_left(&self) -> bool {
        self.refuted + self.unknown + self.broken + self.unreadable > 0
    }
}

/// Which results are accepted, and which are left.
#[derive(Default)]
pub struct Choice<'s> {
    accepting: Changes<'s>,
    /// Templates that cannot be read, and could when their results were accepted.
    pub unreadable: BTreeMap<&'s TemplateName, &'s Template>,
    pub counts: AcceptedCounts,
    /// Templates with pairs that are not accepted.
    pub left: HashSet<String>,
    /// Families with pairs that are not accepted.
    left_families: HashSet<String>,
    by_file: HashMap<PathBuf, AcceptedPairs>,
}

impl<'s> Choice<'s> {
    /// Accepts the result of a pair, unless there is a reason to leave it. Returns whether it did.
    pub fn add(
        &mut self,
        compared: &Compared<'s>,
        is_verified: bool,
        also: &[AlsoAccepted],
        snapshots: &Snapshots,
    ) -> bool {
        let is_confirmed = is_confirmed(compared);
        let pair = &compared.rendered.pair;
        // Before anything else: the reference fails to parse the same template, which would count as a
        // confirmation.
        let left = if is_newly_unreadable(compared) && !also.contains(&AlsoAccepted::Unreadable) {
            self.unreadable.insert(&pair.template.name, pair.template);
            &mut self.counts.unreadable
        } else if !is_confirmed && !is_result(compared, also) {
            &mut self.counts.broken
        } else if is_confirmed || !is_verified {
            self.accepting.add(compared);
            let one = AcceptedPairs::of(compared, is_confirmed);
            let file = snapshots.file(pair.case.id.family());
            self.by_file.entry(file).or_default().add(one);
            self.counts.accepted.add(one);
            return true;
        } else if matches!(compared.verdict, Verdict::Unverified(_)) {
            &mut self.counts.unknown
        } else {
            &mut self.counts.refuted
        };
        *left += 1;
        self.left.insert(pair.template.name.to_string());
        self.left_families.insert(pair.case.id.family().to_owned());
        false
    }

    /// Accepts the transcripts of readings that are not as accepted.
    pub fn add_readings(&mut self, suite: &'s Suite, readings: &[CheckedText]) {
        for text in readings.iter().filter(|text| !text.change.is_same()) {
            if let Some(template) = suite.template(&TemplateName::new(&text.template)) {
                self.accepting.add_readings(suite, template, text);
                self.counts.add_text(text.kind);
            }
        }
    }

    /// Writes a file with its transcripts as it should be. Returns whether it could.
    pub fn write_tidy(
        &mut self,
        one: &AcceptedFile,
        snapshots: &Snapshots,
        problems: &mut Vec<Problem>,
    ) -> bool {
        let written = one.write(snapshots);
        let is_written = written.is_ok();
        problems.extend(written.err());
        self.counts.tidied += usize::from(is_written);
        is_written
    }

    /// The files to write for what was accepted since. The content of a file with damaged parts is
    /// taken back, and the problem is added to others.
    pub fn files(
        &mut self,
        suite: &Suite,
        snapshots: &Snapshots,
        problems: &mut Vec<Problem>,
    ) -> Vec<AcceptedFile> {
        let accepting = std::mem::take(&mut self.accepting);
        let (files, damaged) = accepting.accepted(suite, snapshots);
        self.take_back(damaged.iter().map(|problem| &problem.path));
        problems.extend(damaged);
        files
    }

    /// Writes files, and takes back the content of a file that cannot be written. Returns how many
    /// were written.
    pub fn write(
        &mut self,
        files: &[AcceptedFile],
        snapshots: &Snapshots,
        problems: &mut Vec<Problem>,
    ) -> usize {
        let mut written = 0;
        for file in files {
            match file.write(snapshots) {
                Ok(_) => written += 1,
                Err(problem) => {
                    problems.push(problem);
                    self.take_back([&file.path]);
                }
            }
        }
        written
    }

    /// The files of snapshots in which nothing is left to accept.
    pub fn settled(
        &self,
        suite: &Suite,
        snapshots: &Snapshots,
        pairs: &[Pair<'_>],
    ) -> BTreeSet<PathBuf> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for pair in pairs {
            *counts.entry(pair.case.id.family()).or_default() += 1;
        }
        // A file has the snapshots of a whole family. If filters left some of its pairs out, the file
        // that insta has left may still have a change of one of those.
        counts.retain(|family, count| {
            let is_whole = suite.pairs_by_case(family).len() == *count;
            is_whole && !self.left_families.contains(*family)
        });
        counts.keys().map(|family| snapshots.file(family)).collect()
    }

    /// Takes back the content of files that cannot be written.
    fn take_back<'f>(&mut self, files: impl IntoIterator<Item = &'f PathBuf>) {
        for file in files {
            let pairs = self.by_file.remove(file).unwrap_or_default();
            let accepted = &mut self.counts.accepted;
            accepted.changed -= pairs.changed;
            accepted.new -= pairs.new;
            accepted.confirmed -= pairs.confirmed;
            self.counts.failed += pairs.changed + pairs.new;
        }
    }
}

/// Whether an outcome says what the template does, or the user accepts it all the same.
fn is_result(compared: &Compared<'_>, also: &[AlsoAccepted]) -> bool {
    match compared.rendered.outcome.kind() {
        OutcomeKind::Rendered | OutcomeKind::Raised | OutcomeKind::Failed => true,
        // A crash or a limit tells of the engine and of the machine. The next run may end in another
        // way.
        OutcomeKind::Crashed => also.contains(&AlsoAccepted::Crashed),
        OutcomeKind::Exceeded => also.contains(&AlsoAccepted::Exceeded),
        OutcomeKind::NotAsked => false,
    }
}

/// Whether a template cannot be read, and this was not accepted before.
fn is_newly_unreadable(compared: &Compared<'_>) -> bool {
    let is_of_parsing = |outcome: &Outcome| matches!(outcome, Outcome::Failed { stage, .. } if *stage == Stage::Parse);
    let before = match &compared.comparison {
        Some(SnapshotStatus::Changed(before)) => transcript::decode(before).ok(),
        _ => None,
    };
    is_of_parsing(&compared.rendered.outcome) && !before.as_ref().is_some_and(is_of_parsing)
}

/// Whether the reference confirms a result, or a divergence explains the difference.
fn is_confirmed(compared: &Compared<'_>) -> bool {
    matches!(compared.verdict, Verdict::Agrees | Verdict::Differs(_))
        && !compared.verdict.is_unexplained()
}
