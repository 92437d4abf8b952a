//! Reference records: the reference's outcome for each pair.
//!
//! `snapshots/reference.json` says of each template which reference was asked, and the fingerprints
//! of what it was asked with. The outcome for a pair stands beside its accepted transcript, as the
//! checksums of the case and of the text. A snapshot is right if it agrees with its record. A record
//! no longer counts once its template or case has changed. Only `rolecall reference update` and
//! `rolecall accept --verified` write records, from the output of the real reference.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use rayon::prelude::*;
use rolecall_model::{CaseId, Dialect, Limit, Outcome, OutcomeKind, Stage, Template, TemplateName};
use rolecall_readback::reading::MessageId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::layout::Layout;
use crate::read_back::RecordedReading;
use crate::reference::{Identity, Reference};
use crate::snapshot::{REFERENCE, Snapshots};
use crate::suite::Pair;
use rolecall_base::file::{read_text, write_below};
use rolecall_base::fingerprint::{Checksum, Fingerprint};
use rolecall_base::invocation;
use rolecall_base::json::syntax_problem;
use rolecall_base::problem::{Position, Problem};
use rolecall_base::root::text_below;
use rolecall_base::rows::{self, Row};
use rolecall_front::front::Front;

/// The reference's outcomes for the pairs of one template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What the reference was asked with.
    pub asked: Asked,
    /// What it did, by case.
    pub cases: HashMap<CaseId, RecordEntry>,
    /// What it read back of the template's answers.
    pub readings: BTreeMap<MessageId, RecordedReading>,
}

/// Which reference was asked about a template, and with what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Which reference it was.
    pub reference: Identity,
    /// The front that the reference applied, except to raw cases.
    pub front: String,
    /// The template's source.
    pub template: Fingerprint,
    /// The template's special tokens and variables.
    pub settings: Fingerprint,
    /// The response template, if the template has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_template: Option<Fingerprint>,
}

/// What `snapshots/reference.json` says: a line for each template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AskedTemplates(BTreeMap<String, Row<Asked>>);

/// The reference's outcome for one pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordEntry {
    /// The checksum of the case.
    pub input: Checksum,
    /// What the reference did.
    pub answer: RecordedAnswer,
}

/// The reference's outcome as records keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedAnswer {
    /// A prompt, with the checksum of its text.
    Rendered(Checksum),
    /// A refusal by the template, with the checksum of its message.
    Raised(Checksum),
    /// The reference failed. Its message is kept, because other engines have other words.
    Failed {
        /// The stage at which it failed.
        stage: Stage,
        /// What it said.
        message: String,
        /// The template's line, if it is known.
        line: Option<usize>,
    },
    /// It ran into a limit.
    Exceeded(Limit),
}

/// Why there is no verdict on a pair.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unverified {
    /// The pair is from outside the suite.
    Outside,
    /// The template has no records, or none that can be read.
    NoRecords,
    /// The template belongs to a suite of one's own, and the reference was never asked
    /// about it.
    NeverAsked,
    /// The record is of another version of the reference.
    OtherReference(String),
    /// The template's source has changed since.
    TemplateChanged,
    /// The template's special tokens or variables have changed since.
    SettingsChanged,
    /// The case has no record.
    NoRecord,
    /// The case has changed since.
    CaseChanged,
    /// The engine that was asked for a verdict crashed.
    Crashed(String),
    /// The reference could not be asked: it was given up.
    ReferenceNotAsked(String),
    /// The engine was not asked: it was given up.
    NotAsked,
}

/// The records of a suite.
#[derive(Debug, Default)]
pub struct Records {
    templates: HashMap<TemplateName, TemplateRecord>,
    /// Templates of a suite of one's own without a record, where no template of their dialect has
    /// one. They need none: such a suite is checked by its snapshots.
    never_asked: HashSet<TemplateName>,
    /// Files that cannot be used.
    pub problems: Vec<Problem>,
}

/// A template's record, and why it no longer counts, if it does not.
#[derive(Debug)]
struct TemplateRecord {
    record: Record,
    stale: Option<Unverified>,
}

impl RecordedAnswer {
    /// The form in which records keep an outcome. None for a crash, or if the engine was
    /// not asked.
    pub fn of(outcome: &Outcome) -> Option<RecordedAnswer> {
        Some(match outcome {
            Outcome::Rendered { text } => RecordedAnswer::Rendered(Checksum::of(text)),
            Outcome::Raised { message } => RecordedAnswer::Raised(Checksum::of(message)),
            Outcome::Failed {
                stage,
                message,
                line,
            } => RecordedAnswer::Failed {
                stage: *stage,
                message: message.clone(),
                line: *line,
            },
            Outcome::Exceeded { limit } => RecordedAnswer::Exceeded(*limit),
            Outcome::Crashed { .. } | Outcome::NotAsked { .. } => return None,
        })
    }

    /// Its kind.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            RecordedAnswer::Rendered(_) => OutcomeKind::Rendered,
            RecordedAnswer::Raised(_) => OutcomeKind::Raised,
            RecordedAnswer::Failed { .. } => OutcomeKind::Failed,
            RecordedAnswer::Exceeded(_) => OutcomeKind::Exceeded,
        }
    }

    /// Whether an engine's outcome agrees with it: the same text, the same message of
    /// `raise_exception`, or a failure where the reference failed, with any message.
    pub fn agrees(&self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (RecordedAnswer::Rendered(recorded), Outcome::Rendered { text }) => {
                *recorded == Checksum::of(text)
            }
            (RecordedAnswer::Raised(recorded), Outcome::Raised { message }) => {
                *recorded == Checksum::of(message)
            }
            (RecordedAnswer::Failed { .. }, Outcome::Failed { .. })
            | (RecordedAnswer::Exceeded(_), Outcome::Exceeded { .. }) => true,
            _ => false,
        }
    }

    /// The whole outcome, unless the record holds only a fingerprint.
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            RecordedAnswer::Rendered(_) | RecordedAnswer::Raised(_) => None,
            RecordedAnswer::Failed {
                stage,
                message,
                line,
            } => Some(Outcome::Failed {
                stage: *stage,
                message: message.clone(),
                line: *line,
            }),
            RecordedAnswer::Exceeded(limit) => Some(Outcome::Exceeded { limit: *limit }),
        }
    }
}

impl Asked {
    /// What the reference of a template is asked with now.
    pub fn of(template: &Template) -> Asked {
        let response_template = template.response_template.as_ref();
        Asked {
            reference: Reference::of(template.dialect).identity(),
            front: Front::of(template).name().to_owned(),
            template: Fingerprint::of_source(template),
            settings: Fingerprint::of_settings(template),
            response_template: response_template.map(|one| Fingerprint::of(one.to_string())),
        }
    }

    /// Why a record does not count for a template, if it does not.
    pub fn staleness(&self, template: &Template) -> Option<Unverified> {
        let now = Asked::of(template);
        if self.reference != now.reference {
            let why = format!(
                "recorded with {}, the reference is {}",
                self.reference, now.reference
            );
            Some(Unverified::OtherReference(why))
        } else if self.front != now.front {
            let why = format!(
                "recorded with the front `{}`, the template has `{}`",
                self.front, now.front
            );
            Some(Unverified::OtherReference(why))
        } else if self.template != now.template {
            Some(Unverified::TemplateChanged)
        } else if self.settings != now.settings {
            Some(Unverified::SettingsChanged)
        } else {
            None
        }
    }

    /// Whether what was read back counts no longer, because the response template has changed.
    pub fn has_other_response_template(&self, template: &Template) -> bool {
        self.response_template != Asked::of(template).response_template
    }
}

impl AskedTemplates {
    /// The file in the folder of snapshots.
    pub fn file(snapshots: &Snapshots) -> PathBuf {
        snapshots.root().join("reference.json")
    }

    /// Reads the file. Nothing stands in a missing one.
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
        serde_json::from_str(&text).map_err(|error: serde_json::Error| {
            if !error.is_data() {
                let problem = syntax_problem(&path, &text, &error);
                return match problem.help {
                    Some(_) => problem,
                    None => problem.help(help),
                };
            }
            let message = error.to_string();
            let message = message
                .rsplit_once(" at line ")
                .map_or(message.as_str(), |(message, _)| message);
            Problem::new(
                &path,
                format!("does not say what the references were asked: {message}"),
            )
            .at(Position {
                line: error.line().max(1),
                column: error.column().max(1),
            })
            .help(help)
        })
    }

    /// What the reference of a template was asked with.
    pub fn of(&self, template: &TemplateName) -> Option<&Asked> {
        self.0.get(template.as_str()).map(|Row(asked)| asked)
    }

    /// The templates that the file names.
    pub fn templates(&self) -> impl Iterator<Item = TemplateName> {
        self.0.keys().map(|name| TemplateName::new(name))
    }

    /// Says what the reference of a template was asked with.
    pub fn set(&mut self, template: &TemplateName, asked: Asked) {
        self.0.insert(template.to_string(), Row(asked));
    }

    /// Keeps only these templates.
    pub fn retain(&mut self, is_kept: impl Fn(&TemplateName) -> bool) {
        self.0.retain(|name, _| is_kept(&TemplateName::new(name)));
    }

    /// The text of the file: one line a template, sorted.
    pub fn text(&self) -> String {
        rows::text(self)
    }

    /// Writes the file, if it is not like this already.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, snapshots: &Snapshots) -> Result<bool, Problem> {
        let path = AskedTemplates::file(snapshots);
        let text = self.text();
        if read_text(&path).is_ok_and(|old| old == text) {
            return Ok(false);
        }
        write_below(snapshots.root(), &path, text).map(|()| true)
    }

    /// Whether every template of a dialect needs a record: in a suite of one's own as soon as one has
    /// one. A suite would be the greener the more of its records are lost.
    pub fn are_needed(&self, layout: &Layout, dialect: Dialect) -> bool {
        let reference = Reference::of(dialect).identity().engine;
        let mut all = self.0.values();
        layout.configuration().is_none() || all.any(|Row(one)| one.reference.engine == reference)
    }
}

impl Record {
    /// An empty record of a template as it is now.
    pub fn new(template: &Template) -> Record {
        Record {
            asked: Asked::of(template),
            cases: HashMap::new(),
            readings: BTreeMap::new(),
        }
    }

    /// The lines about a case, for the file of its family.
    pub fn lines(&self, id: &CaseId) -> String {
        let mut lines = String::new();
        if let Some(entry) = self.cases.get(id) {
            lines.push_str(REFERENCE);
            entry.add_to(&mut lines);
            lines.push('\n');
        }
        let first = MessageId {
            case: id.clone(),
            index: 0,
        };
        let of_case = self.readings.range(first..);
        for (message, reading) in of_case.take_while(|(message, _)| message.case == *id) {
            lines.push_str(REFERENCE);
            reading.add_to(&mut lines, message.index);
            lines.push('\n');
        }
        lines
    }

    /// Reads a line about a case. `None` if no reference wrote it.
    fn add(&mut self, id: &CaseId, line: &str) -> Option<()> {
        let is_new = if line.starts_with('#') {
            let (index, reading) = RecordedReading::parse(line)?;
            let case = id.clone();
            let before = self.readings.insert(MessageId { case, index }, reading);
            before.is_none()
        } else {
            let entry = RecordEntry::parse(line)?;
            self.cases.insert(id.clone(), entry).is_none()
        };
        is_new.then_some(())
    }
}

impl RecordEntry {
    /// Adds the entry as it is written: the checksum of the case, what the reference did unless it gave
    /// a prompt, and the checksum of its text or its own words.
    fn add_to(&self, line: &mut String) {
        use std::fmt::Write as _;
        let input = self.input;
        // Writing to a string cannot fail.
        let _ = match &self.answer {
            RecordedAnswer::Rendered(hash) => write!(line, "{input} {hash}"),
            RecordedAnswer::Raised(hash) => write!(line, "{input} raised {hash}"),
            RecordedAnswer::Exceeded(limit) => write!(line, "{input} exceeded {}", limit.name()),
            RecordedAnswer::Failed {
                stage,
                message,
                line: at,
            } => {
                let at = at.map_or_else(|| "-".to_owned(), |at| at.to_string());
                let message = Value::from(message.as_str());
                write!(line, "{input} failed {} {at} {message}", stage.name())
            }
        };
    }

    /// Reads an entry that [`RecordEntry::add_to`] wrote.
    fn parse(line: &str) -> Option<RecordEntry> {
        let (input, rest) = line.split_once(' ')?;
        let (kind, rest) = rest.split_once(' ').unwrap_or(("rendered", rest));
        let answer = match kind {
            "rendered" => RecordedAnswer::Rendered(rest.parse().ok()?),
            "raised" => RecordedAnswer::Raised(rest.parse().ok()?),
            "exceeded" => RecordedAnswer::Exceeded(Limit::named(rest)?),
            "failed" => {
                let mut parts = rest.splitn(3, ' ');
                RecordedAnswer::Failed {
                    stage: Stage::named(parts.next()?)?,
                    line: match parts.next()? {
                        "-" => None,
                        at => Some(at.parse().ok()?),
                    },
                    message: serde_json::from_str(parts.next()?).ok()?,
                }
            }
            _ => return None,
        };
        let entry = RecordEntry {
            input: input.parse().ok()?,
            answer,
        };
        let mut written = String::new();
        entry.add_to(&mut written);
        (written == line).then_some(entry)
    }
}

impl Unverified {
    /// Whether no verdict is expected, so that its absence fails nothing.
    pub fn is_expected(&self) -> bool {
        matches!(self, Unverified::Outside | Unverified::NeverAsked)
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
                    let known = TemplateRecord { record, stale };
                    records.templates.insert(name, known);
                }
                None if !asked.are_needed(layout, template.dialect) => {
                    records.never_asked.insert(name);
                }
                None => {}
            }
        }
        if records.templates.is_empty() {
            return records;
        }
        let families = snapshots.families();
        let files: Vec<_> = families
            .par_iter()
            .map(|family| (family, snapshots.family(family)))
            .collect();
        for (family, file) in &files {
            for (case, template, lines) in file.records() {
                let known = records.templates.get_mut(&TemplateName::new(template));
                let Some(TemplateRecord { record, .. }) = known else {
                    continue;
                };
                let id = CaseId::new(family, case);
                for (number, line) in lines {
                    if record.add(&id, line).is_none() {
                        let message = format!("not what a reference did: `{REFERENCE}{line}`");
                        let place = Position {
                            line: number,
                            column: 1,
                        };
                        let help = format!("run `{}`", invocation::command("reference update"));
                        let problem = Problem::new(file.path(), message).at(place).help(help);
                        records.problems.push(problem);
                    }
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
        self.templates
            .insert(name, TemplateRecord { record, stale });
    }

    /// The record of a template, current or not.
    pub fn of(&self, template: &TemplateName) -> Option<&Record> {
        self.templates.get(template).map(|known| &known.record)
    }

    /// Whether the record of a template counts, and if not, why.
    pub fn standing(&self, template: &TemplateName) -> Result<&Record, Unverified> {
        let Some(known) = self.templates.get(template) else {
            return Err(if self.never_asked.contains(template) {
                Unverified::NeverAsked
            } else {
                Unverified::NoRecords
            });
        };
        match &known.stale {
            Some(why) => Err(why.clone()),
            None => Ok(&known.record),
        }
    }

    /// The reference's outcome for a pair, if the record is current. `input` is the
    /// fingerprint of the pair's case.
    pub fn answer(
        &self,
        pair: &Pair<'_>,
        input: Fingerprint,
    ) -> Result<&RecordedAnswer, Unverified> {
        let record = self.standing(&pair.template.name)?;
        let entry = record.cases.get(&pair.case.id);
        let entry = entry.ok_or(Unverified::NoRecord)?;
        if entry.input == Checksum::from(input) {
            Ok(&entry.answer)
        } else {
            Err(Unverified::CaseChanged)
        }
    }
}

impl std::fmt::Display for Unverified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unverified::Outside => "from outside the suite",
            Unverified::NoRecords => "the template has no reference records",
            Unverified::NeverAsked => "the reference was never asked about the template",
            Unverified::OtherReference(why) => why,
            Unverified::TemplateChanged => "the template has changed since it was recorded",
            Unverified::SettingsChanged => {
                "the template's special tokens or variables have changed since it was recorded"
            }
            Unverified::NoRecord => "the case has no reference record",
            Unverified::CaseChanged => "the case has changed since it was recorded",
            Unverified::NotAsked => "the engine was not asked",
            Unverified::ReferenceNotAsked(why) => {
                return write!(f, "the reference was not asked: {why}");
            }
            Unverified::Crashed(why) => return write!(f, "the reference crashed: {why}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_model::Dialect;

    fn record() -> (Template, Record) {
        let template = Template::from_source("t", Dialect::Jinja, "x");
        let identity = Reference::of(Dialect::Jinja).identity();
        let mut record = Record::new(identity, &template);
        let outcomes = [
            Outcome::Rendered { text: "a\n".into() },
            Outcome::Raised {
                message: "No.".into(),
            },
            Outcome::Failed {
                stage: Stage::Render,
                message: "it said \"no\"\n".into(),
                line: Some(3),
            },
            Outcome::Failed {
                stage: Stage::Input,
                message: String::new(),
                line: None,
            },
            Outcome::Exceeded {
                limit: Limit::Recursion,
            },
        ];
        for (index, outcome) in outcomes.iter().enumerate() {
            let answer = RecordedAnswer::of(outcome).unwrap();
            assert!(answer.agrees(outcome));
            let others = outcomes.iter().filter(|other| answer.agrees(other));
            // The words of a failure belong to the engine.
            let same = if outcome.kind() == OutcomeKind::Failed {
                2
            } else {
                1
            };
            assert_eq!(others.count(), same);
            record.cases.insert(
                CaseId::new("f", &format!("c{index}")),
                RecordEntry {
                    input: Fingerprint::of("input"),
                    answer,
                },
            );
        }
        (template, record)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (template, record) = record();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t/reference.json");
        record.write(&path).unwrap();
        assert_eq!(Record::read(&path).unwrap(), record);
        assert_eq!(record.staleness(&template), None);
        let files = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(files, 1);
        let empty = Record::new(record.reference.clone(), &template);
        empty.write(&path).unwrap();
        assert_eq!(Record::read(&path).unwrap(), empty);
    }

    #[test]
    fn the_records_of_the_suite_are_as_they_would_be_written() {
        let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../snapshots");
        let folders = std::fs::read_dir(snapshots).unwrap();
        let paths = folders.map(|folder| folder.unwrap().path().join("reference.json"));
        let mut count = 0;
        for path in paths.filter(|path| path.is_file()) {
            let text = Record::read(&path).unwrap().text();
            assert!(text == read_text(&path).unwrap(), "{}", path.display());
            count += 1;
        }
        assert!(count > 20, "{count}");
    }

    #[test]
    fn one_changed_byte_is_noticed_anywhere() {
        let (_, record) = record();
        let text = record.text();
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
            let changed = String::from_utf8(bytes).unwrap();
            match Record::parse(Path::new("reference.json"), &changed) {
                Err(problem) => assert!(problem.position.is_some(), "{problem}"),
                Ok(read) => assert!(read != record, "byte {at}"),
            }
        }
    }

    #[test]
    fn a_record_is_of_one_template_and_one_reference() {
        let (mut template, mut record) = record();
        template
            .special_tokens
            .insert("bos_token".into(), "<s>".into());
        assert_eq!(
            record.staleness(&template),
            Some(Unverified::SettingsChanged)
        );
        template.source.push('\n');
        assert_eq!(
            record.staleness(&template),
            Some(Unverified::TemplateChanged)
        );
        record.reference.version = "4.57.0".into();
        let why = record.staleness(&template).unwrap().to_string();
        assert_eq!(
            why,
            "recorded with transformers 4.57.0 (jinja2 3.1.6), the reference is transformers 5.24.0 (jinja2 3.1.6)"
        );
    }

    #[test]
    fn what_no_reference_wrote_is_refused_with_its_place() {
        let (_, record) = record();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reference.json");
        let text = record
            .text()
            .replacen("\"outcome\": \"raised\"", "\"outcome\": \"fine\"", 1);
        std::fs::write(&path, text).unwrap();
        let problem = Record::read(&path).unwrap_err();
        assert!(
            problem
                .message
                .contains("`f/c1` has an impossible combination of outcome fields")
        );
        assert!(problem.help.unwrap().contains("reference update"));
    }
}
