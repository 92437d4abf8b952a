//! The records of a suite, where they are: next to the accepted transcripts.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use rayon::prelude::*;
use rolecall_core::{CaseId, Dialect, Template, TemplateName};
use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::record::{Asked, CaseRecord, REFERENCE, Record, RecordedAnswer, Unverified};
use crate::reference::Reference;
use crate::snapshot::Snapshots;
use crate::suite::Pair;
use rolecall_core::file::{is_there, read_text, write_below};
use rolecall_core::fingerprint::{Checksum, Fingerprint};
use rolecall_core::invocation;
use rolecall_core::json;
use rolecall_core::problem::{Position, Problem};
use rolecall_core::root::text_below;
use rolecall_core::rows;

/// What `snapshots/reference.json` says: a line for each template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AskedTemplates(#[serde(serialize_with = "rows::rows")] BTreeMap<TemplateName, Asked>);

#[derive(Debug, Default)]
pub struct Records {
    /// The record of each template, and why it no longer counts, if it does not.
    templates: HashMap<TemplateName, (Record, Option<Unverified>)>,
    /// Templates of a suite of one's own without a record, where no template of their dialect has
    /// one. They need none: such a suite is checked by its snapshots.
    never_asked: HashSet<TemplateName>,
    pub problems: Vec<Problem>,
}

impl AskedTemplates {
    /// The file in the folder of snapshots.
    pub fn file(snapshots: &Snapshots) -> PathBuf {
        snapshots.root().join("reference.json")
    }

    /// Reads the file. Nothing is in a missing one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no such file.
    pub fn read(snapshots: &Snapshots) -> Result<AskedTemplates, Problem> {
        let path = AskedTemplates::file(snapshots);
        let Some(text) = text_below(snapshots.root(), &path)? else {
            return Ok(AskedTemplates::default());
        };
        let help = format!(
            "it is written by `{}`, never by hand",
            invocation::command("reference update")
        );
        let what = "the list of what the references were asked";
        json::read(&path, &text, what).map_err(|problem| match problem.help {
            Some(_) => problem,
            None => problem.help(help),
        })
    }

    /// What the reference of a template was asked with.
    pub fn of(&self, template: &TemplateName) -> Option<&Asked> {
        self.0.get(template)
    }

    /// The templates that the file names.
    pub fn templates(&self) -> impl Iterator<Item = TemplateName> {
        self.0.keys().cloned()
    }

    /// Says what the reference of a template was asked with.
    pub fn set(&mut self, template: &TemplateName, asked: Asked) {
        self.0.insert(template.clone(), asked);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn retain(&mut self, is_kept: impl Fn(&TemplateName) -> bool) {
        self.0.retain(|name, _| is_kept(name));
    }

    /// The text of the file: one line a template, sorted.
    pub fn text(&self) -> String {
        rows::text(self)
    }

    /// Writes the file, if it is not like this already. A file that would name no template is not
    /// made. Returns whether anything has changed.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, snapshots: &Snapshots) -> Result<bool, Problem> {
        let path = AskedTemplates::file(snapshots);
        let text = self.text();
        let is_nothing_new = self.0.is_empty() && !is_there(&path);
        if is_nothing_new || read_text(&path).is_ok_and(|old| old == text) {
            return Ok(false);
        }
        write_below(snapshots.root(), &path, text).map(|()| true)
    }

    /// Whether every template of a dialect needs a record: in a suite of one's own as soon as one has
    /// one. A suite would be the greener the more of its records are lost.
    pub fn are_needed(&self, layout: &Layout, dialect: Dialect) -> bool {
        let reference = Reference::of(dialect).identity().engine;
        let mut all = self.0.values();
        layout.configuration().is_none() || all.any(|one| one.reference.engine == reference)
    }
}

impl Records {
    /// Whether no template has a record, and none needs one.
    pub fn are_never_asked(&self) -> bool {
        self.templates.is_empty() && !self.never_asked.is_empty()
    }

    /// Reads the records of templates. A template without one is not a problem: its pairs are
    /// unverified.
    pub fn read<'t>(
        layout: &Layout,
        snapshots: &Snapshots,
        templates: impl IntoIterator<Item = &'t Template>,
    ) -> Records {
        let mut records = Records::default();
        let asked = match AskedTemplates::read(snapshots) {
            Ok(asked) => asked,
            Err(problem) => {
                records.problems.push(problem);
                return records;
            }
        };
        for template in templates {
            let name = template.name.clone();
            match asked.of(&name) {
                Some(asked) => {
                    let stale = asked.staleness(template);
                    let record = Record {
                        asked: asked.clone(),
                        cases: HashMap::new(),
                        readings: BTreeMap::new(),
                    };
                    records.templates.insert(name, (record, stale));
                }
                None if !asked.are_needed(layout, template.dialect) => {
                    records.never_asked.insert(name);
                }
                None => {}
            }
        }
        let mut families = snapshots.families();
        families.retain(|family| layout.may_have_family(family));
        let files: Vec<_> = families
            .par_iter()
            .map(|family| (family, snapshots.family(family)))
            .collect();
        for (family, file) in &files {
            for (case, template, lines) in file.records() {
                let template = TemplateName::new(template);
                let known = records.templates.get_mut(&template);
                let Some((record, _)) = known else {
                    // Somebody has asked, and what was asked is lost.
                    if lines.count() > 0 {
                        records.never_asked.remove(&template);
                    }
                    continue;
                };
                let mut read = CaseRecord::default();
                let mut is_read = true;
                for (number, line) in lines {
                    if let Err(message) = read.read(line) {
                        is_read = false;
                        let message = format!("{message}: `{REFERENCE}{line}`");
                        let place = Position {
                            line: number,
                            column: 1,
                        };
                        let help = format!("run `{}`", invocation::command("reference update"));
                        let problem = Problem::new(file.path(), message).at(place).help(help);
                        records.problems.push(problem);
                    }
                }
                // Nobody knows which of two answers was the reference's.
                if is_read {
                    record.learn(&CaseId::new(family, case), read);
                }
            }
        }
        records
    }

    /// Takes a template's new record in the place of the one that was read.
    pub fn learn(&mut self, template: &Template, record: Record) {
        let name = template.name.clone();
        self.never_asked.remove(&name);
        let stale = record.asked.staleness(template);
        self.templates.insert(name, (record, stale));
    }

    /// The record of a template, current or not.
    pub fn of(&self, template: &TemplateName) -> Option<&Record> {
        self.templates.get(template).map(|(record, _)| record)
    }

    /// Whether the record of a template counts, and if not, why.
    pub fn standing(&self, template: &TemplateName) -> Result<&Record, Unverified> {
        match self.templates.get(template) {
            Some((record, None)) => Ok(record),
            Some((_, Some(why))) => Err(why.clone()),
            None if self.never_asked.contains(template) => Err(Unverified::NeverAsked),
            None => Err(Unverified::NoRecords),
        }
    }

    /// Whether the parsed answers of a template count, and if not, why.
    pub fn standing_of_answers(&self, template: &Template) -> Result<&Record, Unverified> {
        let record = self.standing(&template.name)?;
        match record.asked.staleness_of_answers(template) {
            Some(why) => Err(why),
            None => Ok(record),
        }
    }

    /// The reference's outcome for a pair, if the record is current. `input` makes the
    /// fingerprint of the pair's case, which takes long, so only a record asks for it.
    pub fn answer(
        &self,
        pair: &Pair<'_>,
        input: impl FnOnce() -> Fingerprint,
    ) -> Result<&RecordedAnswer, Unverified> {
        let record = self.standing(&pair.template.name)?;
        let entry = record.cases.get(&pair.case.id);
        let entry = entry.ok_or(Unverified::NoRecord)?;
        if entry.input == Checksum::from(input()) {
            Ok(&entry.answer)
        } else {
            Err(Unverified::CaseChanged)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::suite::Suite;

    #[test]
    fn the_records_of_the_suite_are_as_they_would_be_written() {
        let layout = Layout::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let suite = Suite::load_layout(&layout);
        let snapshots = Snapshots::of(&layout);
        let asked = AskedTemplates::read(&snapshots).unwrap();
        let text = read_text(&AskedTemplates::file(&snapshots)).unwrap();
        assert!(asked.text() == text);
        let records = Records::read(&layout, &snapshots, &suite.templates);
        assert_eq!(records.problems, []);
        let mut count = 0;
        for pair in suite.pairs() {
            let record = records.standing(&pair.template.name).unwrap();
            let text = snapshots.family_of(&pair).pair(&pair).record;
            assert_eq!(record.lines(&pair.case.id), text);
            count += 1;
        }
        assert!(count > 5000, "{count}");
    }

    #[test]
    fn what_no_reference_wrote_has_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let snapshots = Snapshots::of(&layout);
        std::fs::create_dir(snapshots.root()).unwrap();
        let template = Template::from_source("t", Dialect::Jinja, "x");
        let mut asked = AskedTemplates::default();
        asked.set(&template.name, Asked::of(&template));
        asked.write(&snapshots).unwrap();
        let text = "---\nsource: x\n---\n=== a, t: rendered\n␃\nreference fine\n";
        std::fs::write(snapshots.file("f"), text).unwrap();
        let records = Records::read(&layout, &snapshots, [&template]);
        let [problem] = records.problems.as_slice() else {
            panic!("{:?}", records.problems);
        };
        let reported = problem.to_string();
        let place = "f.snap:6:1: not what a reference did: `reference fine`";
        assert!(
            reported.contains(place) && reported.contains("reference update"),
            "{reported}"
        );
        assert!(records.standing(&template.name).unwrap().cases.is_empty());

        let text = asked.text().replace("front", "fronts");
        std::fs::write(AskedTemplates::file(&snapshots), text).unwrap();
        let problem = AskedTemplates::read(&snapshots).unwrap_err();
        assert!(problem.position.is_some());
        assert!(
            problem.message.contains("unknown field `fronts`"),
            "{problem}"
        );
        assert!(problem.help.unwrap().contains("reference update"));
    }
}
