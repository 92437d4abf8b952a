//! Reference records: the reference's outcome for each pair.
//!
//! `snapshots/<template>/reference.json` has the reference's outcome for each case, with
//! the SHA-256 of its text, and the fingerprints of the template and the case. A snapshot
//! is right if it agrees with its record. A record no longer counts once its template or
//! case has changed. Only `rolecall reference update` writes records, from the output of
//! the real reference.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rolecall_model::{CaseId, Dialect, Limit, Outcome, OutcomeKind, Stage, Template, TemplateName};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::layout::Layout;
use crate::reference::{Identity, Reference};
use crate::suite::Pair;
use rolecall_base::file::{read_text, write_whole};
use rolecall_base::fingerprint::Fingerprint;
use rolecall_base::invocation;
use rolecall_base::json::syntax_problem;
use rolecall_base::problem::{Position, Problem};
use rolecall_base::root::text_below;
use rolecall_base::rows::{self, Row};
use rolecall_front::front::Front;

/// The reference's outcomes for the pairs of one template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Which reference it was.
    #[serde(serialize_with = "rows::row")]
    pub reference: Identity,
    /// The front that the reference applied, except to raw cases.
    pub front: String,
    /// The template's source.
    pub template: Fingerprint,
    /// The template's special tokens and variables.
    pub settings: Fingerprint,
    /// What it did, by case.
    #[serde(serialize_with = "lines", deserialize_with = "entries")]
    pub cases: HashMap<CaseId, RecordEntry>,
}

/// The reference's outcome for one pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordEntry {
    /// The fingerprint of the case.
    pub input: Fingerprint,
    /// What the reference did.
    pub answer: RecordedAnswer,
}

/// The reference's outcome as records keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedAnswer {
    /// A prompt, with the fingerprint of its text.
    Rendered(Fingerprint),
    /// A refusal by the template, with the fingerprint of its message.
    Raised(Fingerprint),
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
            Outcome::Rendered { text } => RecordedAnswer::Rendered(Fingerprint::of(text)),
            Outcome::Raised { message } => RecordedAnswer::Raised(Fingerprint::of(message)),
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
                *recorded == Fingerprint::of(text)
            }
            (RecordedAnswer::Raised(recorded), Outcome::Raised { message }) => {
                *recorded == Fingerprint::of(message)
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

impl Record {
    /// An empty record of a template as it is now.
    pub fn new(reference: Identity, template: &Template) -> Record {
        Record {
            reference,
            front: Front::of(template).name().to_owned(),
            template: Fingerprint::of_source(template),
            settings: Fingerprint::of_settings(template),
            cases: HashMap::new(),
        }
    }

    /// The record of a template of a suite, if there is one.
    pub fn of(layout: &Layout, template: &TemplateName) -> Result<Option<Record>, Problem> {
        let snapshots = layout.snapshots();
        let path = Records::file(&snapshots, template);
        let text = text_below(&snapshots, &path)?;
        text.map(|text| Record::parse(&path, &text)).transpose()
    }

    /// Whether every template of a dialect needs a record: in a suite of one's own as soon as one has
    /// one. A suite would be the greener the more of its records are lost.
    pub fn are_needed(layout: &Layout, dialect: Dialect) -> bool {
        if layout.configuration().is_none() {
            return true;
        }
        let reference = Reference::of(dialect).identity().engine;
        let folders = std::fs::read_dir(layout.snapshots()).into_iter().flatten();
        let names = folders.flatten().map(|folder| folder.file_name());
        let names = names.map(|name| TemplateName::new(&name.to_string_lossy()));
        // A record that cannot be read may be one of this dialect.
        names
            .into_iter()
            .any(|name| match Record::of(layout, &name) {
                Ok(Some(record)) => record.reference.engine == reference,
                Ok(None) => false,
                Err(_) => true,
            })
    }

    /// Reads a record.
    pub fn read(path: &Path) -> Result<Record, Problem> {
        Record::parse(path, &read_text(path)?)
    }

    fn parse(path: &Path, text: &str) -> Result<Record, Problem> {
        let help = format!(
            "it is written by `{}`, never by hand",
            invocation::command("reference update")
        );
        serde_json::from_str(text).map_err(|error: serde_json::Error| {
            if !error.is_data() {
                let problem = syntax_problem(path, text, &error);
                return match problem.help {
                    Some(_) => problem,
                    None => problem.help(help),
                };
            }
            let message = error.to_string();
            let message = message
                .rsplit_once(" at line ")
                .map_or(message.as_str(), |(message, _)| message);
            Problem::new(path, format!("not a reference record: {message}"))
                .at(Position {
                    line: error.line().max(1),
                    column: error.column().max(1),
                })
                .help(help)
        })
    }

    /// The file's text: one line a case, sorted.
    pub fn text(&self) -> String {
        rows::text(self)
    }

    /// Writes it: the new file whole, or the old one stays.
    pub fn write(&self, path: &Path) -> Result<(), Problem> {
        write_whole(path, self.text())
    }

    /// Why the record does not count for a template, if it does not.
    pub fn staleness(&self, template: &Template) -> Option<Unverified> {
        let reference = Reference::of(template.dialect).identity();
        if self.reference != reference {
            let why = format!(
                "recorded with {}, the reference is {reference}",
                self.reference
            );
            Some(Unverified::OtherReference(why))
        } else if self.front != Front::of(template).name() {
            let why = format!(
                "recorded with the front `{}`, the template has `{}`",
                self.front,
                Front::of(template)
            );
            Some(Unverified::OtherReference(why))
        } else if self.template != Fingerprint::of_source(template) {
            Some(Unverified::TemplateChanged)
        } else if self.settings != Fingerprint::of_settings(template) {
            Some(Unverified::SettingsChanged)
        } else {
            None
        }
    }
}

impl Unverified {
    /// Whether no verdict is expected, so that its absence fails nothing.
    pub fn is_expected(&self) -> bool {
        matches!(self, Unverified::Outside | Unverified::NeverAsked)
    }
}

impl Records {
    /// The file of a template's record, in the snapshot folder.
    pub fn file(snapshots: &Path, template: &TemplateName) -> PathBuf {
        snapshots.join(template.as_str()).join("reference.json")
    }

    /// Whether no template has a record, and none needs one.
    pub fn are_never_asked(&self) -> bool {
        self.templates.is_empty() && !self.never_asked.is_empty()
    }

    /// Reads the records of templates. A missing file is not a problem: the template's
    /// pairs are unverified.
    pub fn read<'t>(layout: &Layout, templates: impl IntoIterator<Item = &'t Template>) -> Records {
        let templates: Vec<&Template> = templates.into_iter().collect();
        let read = |template: &&Template| {
            let record = Record::of(layout, &template.name)?;
            Ok(record.map(|record| TemplateRecord {
                stale: record.staleness(template),
                record,
            }))
        };
        // Starting threads takes longer than reading one file.
        let read: Vec<_> = match templates.as_slice() {
            [template] => vec![read(template)],
            several => several.par_iter().map(read).collect(),
        };
        let mut records = Records::default();
        let mut needed: BTreeMap<Dialect, bool> = BTreeMap::new();
        for (template, known) in templates.iter().zip(read) {
            let name = template.name.clone();
            match known {
                Ok(Some(known)) => drop(records.templates.insert(name, known)),
                Ok(None) => {
                    let dialect = template.dialect;
                    let needed = needed.entry(dialect);
                    if !*needed.or_insert_with(|| Record::are_needed(layout, dialect)) {
                        records.never_asked.insert(name);
                    }
                }
                Err(problem) => records.problems.push(problem),
            }
        }
        records
    }

    /// Takes a template's new record in the place of the one that was read.
    pub fn learn(&mut self, template: &Template, record: Record) {
        let name = template.name.clone();
        self.never_asked.remove(&name);
        let stale = record.staleness(template);
        self.templates
            .insert(name, TemplateRecord { record, stale });
    }

    /// The record of a template, current or not.
    pub fn of(&self, template: &TemplateName) -> Option<&Record> {
        self.templates.get(template).map(|known| &known.record)
    }

    /// The reference's outcome for a pair, if the record is current. `input` is the
    /// fingerprint of the pair's case.
    pub fn answer(
        &self,
        pair: &Pair<'_>,
        input: Fingerprint,
    ) -> Result<&RecordedAnswer, Unverified> {
        let name = &pair.template.name;
        let Some(known) = self.templates.get(name) else {
            return Err(if self.never_asked.contains(name) {
                Unverified::NeverAsked
            } else {
                Unverified::NoRecords
            });
        };
        if let Some(why) = &known.stale {
            return Err(why.clone());
        }
        let entry = known.record.cases.get(&pair.case.id);
        let entry = entry.ok_or(Unverified::NoRecord)?;
        if entry.input == input {
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

/// An entry as it is written in a file.
#[derive(Serialize, Deserialize)]
#[allow(clippy::struct_field_names)] // they are the file's
#[serde(deny_unknown_fields)]
struct RecordLine<'e> {
    input: Fingerprint,
    outcome: Cow<'e, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<Fingerprint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<Cow<'e, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Cow<'e, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Cow<'e, str>>,
}

/// Reads the entries of a file one by one: there may be thousands.
struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = HashMap<CaseId, RecordEntry>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object of cases")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = HashMap::with_capacity(map.size_hint().unwrap_or(0).min(1000));
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            let id = name
                .parse()
                .map_err(|_| A::Error::custom(format!("`{name}` is no case: family/name")))?;
            let line: RecordLine<'_> = map.next_value()?;
            let input = line.input;
            let answer = line.answer().ok_or_else(|| {
                A::Error::custom(format!(
                    "`{name}` has an impossible combination of outcome fields"
                ))
            })?;
            entries.insert(id, RecordEntry { input, answer });
        }
        Ok(entries)
    }
}

fn entries<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<HashMap<CaseId, RecordEntry>, D::Error> {
    deserializer.deserialize_map(EntriesVisitor)
}

/// Writes the entries sorted, one line each.
fn lines<S: Serializer>(
    entries: &HashMap<CaseId, RecordEntry>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let sorted: BTreeMap<_, _> = entries.iter().collect();
    let line = |(id, entry): (&CaseId, _)| (id.to_string(), Row(RecordLine::of(entry)));
    serializer.collect_map(sorted.into_iter().map(line))
}

impl RecordLine<'_> {
    fn of(entry: &RecordEntry) -> RecordLine<'_> {
        let mut line = RecordLine {
            input: entry.input,
            outcome: entry.answer.kind().name().into(),
            sha256: None,
            stage: None,
            message: None,
            line: None,
            limit: None,
        };
        match &entry.answer {
            RecordedAnswer::Rendered(hash) | RecordedAnswer::Raised(hash) => {
                line.sha256 = Some(*hash);
            }
            RecordedAnswer::Failed {
                stage,
                message,
                line: at,
            } => {
                line.stage = Some(stage.name().into());
                line.message = Some(message.into());
                line.line = *at;
            }
            RecordedAnswer::Exceeded(limit) => line.limit = Some(limit.name().into()),
        }
        line
    }

    /// The outcome, if exactly the fields of its kind are there.
    fn answer(self) -> Option<RecordedAnswer> {
        let RecordLine {
            sha256,
            stage,
            message,
            line,
            limit,
            ..
        } = self;
        Some(
            match (&*self.outcome, sha256, stage, message, line, limit) {
                ("rendered", Some(hash), None, None, None, None) => RecordedAnswer::Rendered(hash),
                ("raised", Some(hash), None, None, None, None) => RecordedAnswer::Raised(hash),
                ("failed", None, Some(stage), Some(message), line, None) => {
                    RecordedAnswer::Failed {
                        stage: Stage::named(&stage)?,
                        message: message.into_owned(),
                        line,
                    }
                }
                ("exceeded", None, None, None, None, Some(limit)) => {
                    RecordedAnswer::Exceeded(Limit::named(&limit)?)
                }
                _ => return None,
            },
        )
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
