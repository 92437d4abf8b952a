//! Recording: writes the references' outcomes down, or compares them with the records.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rolecall_model::{CaseId, Outcome, Template, TemplateName};

use crate::divergence::Divergences;
use crate::layout::Layout;
use crate::record::{Record, RecordEntry, RecordedAnswer, Records, Unverified};
use crate::reference::Reference;
use crate::run::Rendered;
use crate::snapshot::{self, Snapshots};
use crate::suite::{Pair, Suite, by_file};
use rolecall_base::file::{hold_below, read_text, write_below};
use rolecall_base::fingerprint::Fingerprint;
use rolecall_base::problem::Problem;
use rolecall_base::transcript;

/// The new record of one template.
#[derive(Debug)]
pub struct Update<'s> {
    /// The template.
    pub template: &'s Template,
    /// Cases that had no record, or none that still counted.
    pub added: Vec<CaseId>,
    /// Cases for which the reference's outcome has changed, though neither template nor
    /// case has.
    pub changed: Vec<CaseId>,
    /// Records whose case is gone.
    pub removed: Vec<CaseId>,
    /// Records that stay.
    pub same: usize,
    /// Cases without an answer from the reference. If it crashed, the record is removed; if it was
    /// not asked, the record stays.
    pub unanswered: Vec<(CaseId, Outcome)>,
    /// Why the old record cannot be read, if it cannot: then nothing of it is kept.
    pub broken: Option<Problem>,
    /// The folder of snapshots.
    root: PathBuf,
    path: PathBuf,
    record: Record,
}

/// How a record compares with the reference's outcome now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordStanding {
    /// It has the same outcome.
    Current,
    /// It has another outcome.
    Wrong {
        /// The recorded outcome.
        recorded: RecordedAnswer,
    },
    /// There is no current record of the pair.
    Missing(Unverified),
}

/// Collects the references' outcomes. Records of a template's other cases are kept as long as
/// they are current.
#[derive(Debug)]
pub struct Updates<'s> {
    layout: Layout,
    suite: &'s Suite,
    by_template: BTreeMap<&'s TemplateName, Update<'s>>,
}

impl<'s> Updates<'s> {
    /// Updates for a suite, still empty.
    pub fn new(layout: &Layout, suite: &'s Suite) -> Updates<'s> {
        Updates {
            layout: layout.clone(),
            suite,
            by_template: BTreeMap::new(),
        }
    }

    /// Adds a reference's outcome for a pair.
    pub fn add(&mut self, rendered: &Rendered<'s>) {
        let template = rendered.pair.template;
        self.by_template
            .entry(&template.name)
            .or_insert_with(|| update(&self.layout, self.suite, template))
            .note(rendered);
    }

    /// The new records, by template.
    pub fn into_vec(self) -> Vec<Update<'s>> {
        self.by_template.into_values().collect()
    }
}

fn update<'s>(layout: &Layout, suite: &Suite, template: &'s Template) -> Update<'s> {
    let path = Records::file(&layout.snapshots(), &template.name);
    let old = Record::of(layout, &template.name);
    let broken = old.as_ref().err().cloned();
    let reference = Reference::of(template.dialect).identity();
    let mut update = Update {
        template,
        added: Vec::new(),
        changed: Vec::new(),
        removed: Vec::new(),
        same: 0,
        unanswered: Vec::new(),
        broken,
        root: layout.snapshots(),
        path,
        record: match old {
            Ok(Some(old)) if old.staleness(template).is_none() => old,
            _ => Record::new(reference, template),
        },
    };
    let cases: HashSet<&CaseId> = suite
        .cases
        .iter()
        .filter(|case| suite.has_pair(template, case))
        .map(|case| &case.id)
        .collect();
    let Update {
        record, removed, ..
    } = &mut update;
    record.cases.retain(|id, _| {
        let is_there = cases.contains(id);
        if !is_there {
            removed.push(id.clone());
        }
        is_there
    });
    update
}

impl Update<'_> {
    fn note(&mut self, rendered: &Rendered<'_>) {
        let id = &rendered.pair.case.id;
        let Some(answer) = RecordedAnswer::of(&rendered.outcome) else {
            if !matches!(rendered.outcome, Outcome::NotAsked { .. }) {
                self.record.cases.remove(id);
            }
            self.unanswered.push((id.clone(), rendered.outcome.clone()));
            return;
        };
        let entry = RecordEntry {
            input: Fingerprint::of_case(rendered.pair.case),
            answer,
        };
        match self.record.cases.insert(id.clone(), entry.clone()) {
            Some(old) if old == entry => self.same += 1,
            Some(old) if old.input == entry.input => self.changed.push(id.clone()),
            Some(_) | None => self.added.push(id.clone()),
        }
    }

    /// The new record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Writes the record if it has changed. Returns whether it has.
    pub fn write(&self) -> Result<bool, Problem> {
        let text = self.record.text();
        if read_text(&self.path).ok().as_ref() == Some(&text) {
            return Ok(false);
        }
        hold_below(&self.root, &self.path)?;
        self.record.write(&self.path).map(|()| true)
    }
}

/// Keeps the reference's own transcripts for listed divergences, and for no other pairs.
/// `pairs` are the pairs that the references rendered, `diverged` their outcomes for listed
/// divergences. Transcripts of other pairs stay. Returns the files that were written or
/// removed, and the problems with others.
pub fn keep_transcripts(
    suite: &Suite,
    snapshots: &Snapshots,
    divergences: &Divergences,
    pairs: &[Pair<'_>],
    diverged: &[Rendered<'_>],
) -> (Vec<PathBuf>, Vec<Problem>) {
    let mut touched = Vec::new();
    let mut problems = Vec::new();
    let now: HashMap<_, _> = diverged
        .iter()
        .filter(|rendered| RecordedAnswer::of(&rendered.outcome).is_some())
        .map(|Rendered { pair, outcome, .. }| ((&pair.template.name, &pair.case.id), outcome))
        .collect();
    for (template, family, _) in by_file(pairs) {
        let before = snapshots.kept_references(&template.name, family);
        let mut kept: Vec<(&str, String)> = Vec::new();
        for pair in suite.pairs_of(template, family) {
            if divergences.has_seen_any(&pair) {
                let transcript = now
                    .get(&(&template.name, &pair.case.id))
                    .map(|outcome| transcript::encode(outcome))
                    .or_else(|| before.transcript(pair.case.id.name()).map(str::to_owned));
                kept.extend(transcript.map(|transcript| (pair.case.id.name(), transcript)));
            }
        }
        let path = snapshots.reference_file(&template.name, family);
        let done = if kept.is_empty() {
            if !path.is_file() {
                continue;
            }
            remove_below(snapshots.root(), &path)
        } else {
            let sections = kept.iter().map(|(name, text)| (*name, text.as_str()));
            let text = snapshot::reference_file(template, sections);
            if read_text(&path).is_ok_and(|old| old == text) {
                continue;
            }
            write_below(snapshots.root(), &path, text)
        };
        match done {
            Ok(()) => touched.push(path),
            Err(problem) => problems.push(problem),
        }
    }
    (touched, problems)
}

fn remove_below(root: &Path, path: &Path) -> Result<(), Problem> {
    hold_below(root, path)?;
    std::fs::remove_file(path)
        .map_err(|error| Problem::new(path, format!("cannot be removed: {error}")))
}

/// Compares the record of a pair with the reference's outcome now.
pub fn standing(records: &Records, rendered: &Rendered<'_>) -> RecordStanding {
    let input = Fingerprint::of_case(rendered.pair.case);
    match records.answer(&rendered.pair, input) {
        Err(why) => RecordStanding::Missing(why),
        Ok(recorded) if RecordedAnswer::of(&rendered.outcome).as_ref() == Some(recorded) => {
            RecordStanding::Current
        }
        Ok(recorded) => RecordStanding::Wrong {
            recorded: recorded.clone(),
        },
    }
}
