//! Recording: writes the references' outcomes down, or compares them with the records.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use rolecall_answers::reading::MessageReading;
use rolecall_core::{CaseId, Outcome, Template, TemplateName};

use crate::accepting::{Changes, ReferenceTranscripts, families_of};
use crate::divergence::Divergences;
use crate::layout::Layout;
use crate::record::{Record, RecordEntry, RecordedAnswer, RecordedReading};
use crate::records::{AskedTemplates, Records};
use crate::run::Rendered;
use crate::snapshot::Snapshots;
use crate::suite::{Pair, Suite};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::invocation;
use rolecall_core::problem::Problem;
use rolecall_core::transcript;

/// The new record of one template.
#[derive(Debug)]
pub struct Update<'s> {
    pub template: &'s Template,
    /// Cases that had no record, or none that still counted.
    pub added: Vec<CaseId>,
    /// Cases for which the reference's outcome has changed, though neither template nor
    /// case has.
    pub changed: Vec<CaseId>,
    /// Records whose case is gone.
    pub removed: Vec<CaseId>,
    pub same: usize,
    /// Cases without an answer from the reference. If it crashed, the record is removed; if it was
    /// not asked, the record stays.
    pub unanswered: Vec<(CaseId, Outcome)>,
    record: Record,
}

/// Collects the references' outcomes. Records of a template's other cases are kept as long as
/// they are current.
#[derive(Debug)]
pub struct Updates<'s> {
    suite: &'s Suite,
    old: Records,
    by_template: BTreeMap<&'s TemplateName, Update<'s>>,
}

/// What was written of the references' results.
#[derive(Debug, Default)]
pub struct Recorded {
    pub files: Vec<PathBuf>,
    /// Files that could not be written.
    pub problems: Vec<Problem>,
}

impl<'s> Updates<'s> {
    /// Updates for a suite, still empty.
    pub fn new(layout: &Layout, suite: &'s Suite) -> Updates<'s> {
        let snapshots = Snapshots::of(layout);
        Updates {
            suite,
            old: Records::read(layout, &snapshots, &suite.templates),
            by_template: BTreeMap::new(),
        }
    }

    /// Why old records cannot be read, if they cannot: nothing of these is kept.
    pub fn broken(&self) -> &[Problem] {
        &self.old.problems
    }

    /// Adds a reference's outcome for a pair.
    pub fn add(&mut self, rendered: &Rendered<'s>) {
        let update = self.of(rendered.pair.template);
        let id = &rendered.pair.case.id;
        let Some(answer) = RecordedAnswer::of(&rendered.outcome) else {
            if !matches!(rendered.outcome, Outcome::NotAsked { .. }) {
                update.record.cases.remove(id);
            }
            let unanswered = (id.clone(), rendered.outcome.clone());
            update.unanswered.push(unanswered);
            return;
        };
        let entry = RecordEntry {
            input: Fingerprint::of_case(rendered.pair.case).into(),
            answer,
        };
        match update.record.cases.insert(id.clone(), entry.clone()) {
            Some(old) if old == entry => update.same += 1,
            Some(old) if old.input == entry.input => update.changed.push(id.clone()),
            Some(_) | None => update.added.push(id.clone()),
        }
    }

    /// Adds a reference's parse of a template's answers.
    pub fn add_readings(&mut self, template: &'s Template, readings: &[MessageReading]) {
        let recorded = readings.iter();
        let recorded = recorded.map(|one| (one.id.clone(), RecordedReading::of(one)));
        // Messages that a case has no longer.
        let cases: HashSet<&CaseId> = readings.iter().map(|one| &one.id.case).collect();
        let all = &mut self.of(template).record.readings;
        all.retain(|id, _| !cases.contains(&id.case));
        all.extend(recorded);
    }

    fn of(&mut self, template: &'s Template) -> &mut Update<'s> {
        self.by_template
            .entry(&template.name)
            .or_insert_with(|| update(&self.old, self.suite, template))
    }

    pub fn records(&self) -> impl Iterator<Item = &Update<'s>> {
        self.by_template.values()
    }

    /// Writes the records next to what is accepted, and the reference's own transcripts for listed
    /// divergences. `diverged` are the outcomes for those. An error with one file does not stop the
    /// others.
    pub fn write(
        &self,
        snapshots: &Snapshots,
        divergences: &Divergences,
        diverged: &[Rendered<'_>],
    ) -> Recorded {
        let mut recorded = Recorded::default();
        if self.by_template.is_empty() {
            return recorded;
        }
        let answered = diverged
            .iter()
            .filter(|one| RecordedAnswer::of(&one.outcome).is_some());
        let now = answered.map(|one| (one.pair.key(), transcript::encode(&one.outcome)));
        let records = self.records();
        let changes = Changes {
            records: records
                .map(|one| (&one.template.name, &one.record))
                .collect(),
            references: Some(ReferenceTranscripts {
                divergences,
                now: now.collect(),
            }),
            ..Changes::default()
        };
        let mut asked = match self.asked(snapshots) {
            Ok(known) => known,
            Err(problem) => {
                recorded.problems.push(problem);
                return recorded;
            }
        };
        // First: until every file has the new answers, none of them counts.
        let is_before = |one: &&Update<'_>| asked.of(&one.template.name) != Some(&one.record.asked);
        let outdated: HashSet<&TemplateName> = self
            .records()
            .filter(is_before)
            .map(|one| &one.template.name)
            .collect();
        asked.retain(|name| self.suite.template(name).is_some() && !outdated.contains(name));
        let mut is_written = false;
        match asked.write(snapshots) {
            Ok(is_new) => is_written |= is_new,
            Err(problem) => {
                recorded.problems.push(problem);
                return recorded;
            }
        }
        let pairs: Vec<Pair<'_>> = self.suite.pairs().collect();
        let (files, problems) = changes.files(self.suite, snapshots, families_of(&pairs));
        recorded.problems.extend(problems);
        for file in files {
            match file.write_record(snapshots) {
                Ok(is_new) => recorded.files.extend(is_new.then_some(file.path)),
                Err(problem) => recorded.problems.push(problem),
            }
        }
        if recorded.problems.is_empty() {
            for update in self.records() {
                asked.set(&update.template.name, update.record.asked.clone());
            }
            match asked.write(snapshots) {
                Ok(is_new) => is_written |= is_new,
                Err(problem) => recorded.problems.push(problem),
            }
        }
        if is_written {
            recorded.files.push(AskedTemplates::file(snapshots));
        }
        recorded
    }

    /// What the references were asked with before. Nothing is kept of a file that cannot be read, if
    /// these updates are about all templates.
    fn asked(&self, snapshots: &Snapshots) -> Result<AskedTemplates, Problem> {
        let all = self.suite.templates.iter();
        let mut others = all.filter(|one| !self.by_template.contains_key(&one.name));
        match AskedTemplates::read(snapshots) {
            Err(_) if others.next().is_none() => Ok(AskedTemplates::default()),
            Err(problem) => {
                let all = invocation::command("reference update");
                let help = format!(
                    "repair it, such as with `git checkout`, or run `{all}` for all templates"
                );
                Err(problem.help(help))
            }
            read => read,
        }
    }

    /// The records with these updates in the place of the old ones.
    pub fn teach(&self, records: &mut Records) {
        for update in self.records() {
            records.learn(update.template, update.record.clone());
        }
    }
}

fn update<'s>(old: &Records, suite: &Suite, template: &'s Template) -> Update<'s> {
    let mut record = Record::new(template);
    if let Ok(old) = old.standing(&template.name) {
        record.cases.clone_from(&old.cases);
    }
    if let Ok(old) = old.standing_of_answers(template) {
        record.readings.clone_from(&old.readings);
    }
    let cases: HashSet<&CaseId> = suite
        .cases
        .iter()
        .filter(|case| suite.has_pair(template, case))
        .map(|case| &case.id)
        .collect();
    let mut removed: Vec<CaseId> = Vec::new();
    record.cases.retain(|id, _| {
        let is_there = cases.contains(id);
        if !is_there {
            removed.push(id.clone());
        }
        is_there
    });
    record.readings.retain(|id, _| cases.contains(&id.case));
    Update {
        template,
        added: Vec::new(),
        changed: Vec::new(),
        removed,
        same: 0,
        unanswered: Vec::new(),
        record,
    }
}
