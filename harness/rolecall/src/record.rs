//! Reference records: what the reference did with each pair.
//!
//! `snapshots/<template>/reference.json` says for each case which outcome the reference
//! had and the SHA-256 of its text, of which template and which input. A snapshot is
//! right when it agrees with its record; a record of a template or a case that has
//! changed since says nothing any more. Records are written by `rolecall reference
//! update` and by nothing else, from what the real reference gave.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rolecall_model::{CaseId, Limit, Outcome, OutcomeKind, Stage, Template, TemplateName};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::file::{read_text, write_whole};
use crate::fingerprint::Fingerprint;
use crate::front::Front;
use crate::invocation;
use crate::json::syntax_problem;
use crate::layout::Layout;
use crate::problem::{Position, Problem};
use crate::reference::{Identity, Reference};
use crate::root::text_below;
use crate::suite::Pair;

/// What the reference did with the pairs of one template.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Which reference it was.
    pub reference: Identity,
    /// The front of the reference: what it was asked for, but for raw cases.
    pub front: String,
    /// The template's source.
    pub template: Fingerprint,
    /// The template's special tokens and variables.
    pub settings: Fingerprint,
    /// What it did, by case.
    #[serde(deserialize_with = "entries")]
    pub cases: HashMap<CaseId, Entry>,
}

/// What the reference did with one pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The case as it was.
    pub input: Fingerprint,
    /// What the reference did.
    pub answer: Answer,
}

/// An outcome of the reference, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A prompt; of its text.
    Rendered(Fingerprint),
    /// The template refused; of its message.
    Raised(Fingerprint),
    /// The reference could not. Its words are its own, so they are kept.
    Failed {
        /// How far it came.
        stage: Stage,
        /// What it said.
        message: String,
        /// The template's line, where it knew it.
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
    /// The template is of a suite of one's own, and the reference was never asked about it.
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
    /// The engine that was to be asked for a verdict is gone.
    ReferenceNotAsked(String),
    /// The engine itself was not asked: it is gone.
    NotAsked,
}

/// The records of a suite.
#[derive(Debug, Default)]
pub struct Records {
    templates: HashMap<TemplateName, Known>,
    /// Templates of a suite of one's own without a file. That need not be: it has what was
    /// accepted to go by.
    never_asked: HashSet<TemplateName>,
    /// Files that cannot be used.
    pub problems: Vec<Problem>,
}

/// A template's record, and whether it is of this template and this reference.
#[derive(Debug)]
struct Known {
    record: Record,
    stale: Option<Unverified>,
}

impl Answer {
    /// What is kept of an outcome; nothing of a crash, or of an engine that was not asked.
    pub fn of(outcome: &Outcome) -> Option<Answer> {
        Some(match outcome {
            Outcome::Rendered { text } => Answer::Rendered(Fingerprint::of(text)),
            Outcome::Raised { message } => Answer::Raised(Fingerprint::of(message)),
            Outcome::Failed {
                stage,
                message,
                line,
            } => Answer::Failed {
                stage: *stage,
                message: message.clone(),
                line: *line,
            },
            Outcome::Exceeded { limit } => Answer::Exceeded(*limit),
            Outcome::Crashed { .. } | Outcome::NotAsked { .. } => return None,
        })
    }

    /// Its kind.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Answer::Rendered(_) => OutcomeKind::Rendered,
            Answer::Raised(_) => OutcomeKind::Raised,
            Answer::Failed { .. } => OutcomeKind::Failed,
            Answer::Exceeded(_) => OutcomeKind::Exceeded,
        }
    }

    /// Whether an engine's outcome agrees with it: the same text, the same message of
    /// `raise_exception`, or failed as the reference did, in whatever words.
    pub fn agrees(&self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Answer::Rendered(recorded), Outcome::Rendered { text }) => {
                *recorded == Fingerprint::of(text)
            }
            (Answer::Raised(recorded), Outcome::Raised { message }) => {
                *recorded == Fingerprint::of(message)
            }
            (Answer::Failed { .. }, Outcome::Failed { .. })
            | (Answer::Exceeded(_), Outcome::Exceeded { .. }) => true,
            _ => false,
        }
    }

    /// The whole outcome, where no fingerprint hides the words.
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Answer::Rendered(_) | Answer::Raised(_) => None,
            Answer::Failed {
                stage,
                message,
                line,
            } => Some(Outcome::Failed {
                stage: *stage,
                message: message.clone(),
                line: *line,
            }),
            Answer::Exceeded(limit) => Some(Outcome::Exceeded { limit: *limit }),
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
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut out = String::from("{\n  \"reference\": {");
        let Identity {
            engine,
            version,
            components,
        } = &self.reference;
        let components: Vec<_> = components
            .iter()
            .map(|(name, version)| format!("{}: {}", quoted(name), quoted(version)))
            .collect();
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "\"engine\": {}, \"version\": {}, \"components\": {{{}}}}},\n  \
             \"front\": {},\n  \"template\": \"{}\",\n  \"settings\": \"{}\",\n  \"cases\": {{",
            quoted(engine),
            quoted(version),
            components.join(", "),
            quoted(&self.front),
            self.template,
            self.settings,
        );
        let mut before = "\n";
        let sorted: BTreeMap<_, _> = self.cases.iter().collect();
        for (id, entry) in sorted {
            let _ = write!(
                out,
                "{before}    {}: {{\"input\": \"{}\", \"outcome\": \"{}\"",
                quoted(&id.to_string()),
                entry.input,
                entry.answer.kind()
            );
            let _ = match &entry.answer {
                Answer::Rendered(hash) | Answer::Raised(hash) => {
                    write!(out, ", \"sha256\": \"{hash}\"")
                }
                Answer::Failed {
                    stage,
                    message,
                    line,
                } => {
                    let _ = write!(
                        out,
                        ", \"stage\": \"{stage}\", \"message\": {}",
                        quoted(message)
                    );
                    line.map_or(Ok(()), |line| write!(out, ", \"line\": {line}"))
                }
                Answer::Exceeded(limit) => write!(out, ", \"limit\": \"{limit}\""),
            };
            out.push('}');
            before = ",\n";
        }
        out.push_str(if self.cases.is_empty() {
            "}\n}\n"
        } else {
            "\n  }\n}\n"
        });
        out
    }

    /// Writes it: the new file whole, or the old one stays.
    pub fn write(&self, path: &Path) -> Result<(), Problem> {
        write_whole(path, self.text())
    }

    /// Why the record says nothing about a template, if it does not.
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
    /// Whether nobody expects a verdict: it fails nothing.
    pub fn is_expected(&self) -> bool {
        matches!(self, Unverified::Outside | Unverified::NeverAsked)
    }
}

impl Records {
    /// The file of a template's record, in the snapshot folder.
    pub fn file(snapshots: &Path, template: &TemplateName) -> PathBuf {
        snapshots.join(template.as_str()).join("reference.json")
    }

    /// Reads the records of templates. A file that is not there is no problem: its
    /// template's pairs are unverified.
    pub fn read<'t>(layout: &Layout, templates: impl IntoIterator<Item = &'t Template>) -> Records {
        let templates: Vec<&Template> = templates.into_iter().collect();
        let read = |template: &&Template| {
            let record = Record::of(layout, &template.name)?;
            Ok(record.map(|record| Known {
                stale: record.staleness(template),
                record,
            }))
        };
        // For one, threads take longer to start than its file to be read.
        let read: Vec<_> = match templates.as_slice() {
            [template] => vec![read(template)],
            several => several.par_iter().map(read).collect(),
        };
        let mut records = Records::default();
        for (template, known) in templates.iter().zip(read) {
            let name = template.name.clone();
            match known {
                Ok(Some(known)) => drop(records.templates.insert(name, known)),
                Ok(None) if layout.configuration().is_some() => {
                    records.never_asked.insert(name);
                }
                Ok(None) => {}
                Err(problem) => records.problems.push(problem),
            }
        }
        records
    }

    /// The record of a template, current or not.
    pub fn of(&self, template: &TemplateName) -> Option<&Record> {
        self.templates.get(template).map(|known| &known.record)
    }

    /// What the reference did with a pair, if it is known of the pair as it is now.
    /// `input` is the fingerprint of the pair's case.
    pub fn answer(&self, pair: &Pair<'_>, input: Fingerprint) -> Result<&Answer, Unverified> {
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

/// An entry of a file as it stands there.
#[derive(Deserialize)]
#[allow(clippy::struct_field_names)] // they are the file's
#[serde(deny_unknown_fields)]
struct Line {
    input: Fingerprint,
    outcome: String,
    sha256: Option<Fingerprint>,
    stage: Option<String>,
    message: Option<String>,
    line: Option<usize>,
    limit: Option<String>,
}

/// The entries of a file, of which it may have thousands: they are read one by one.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = HashMap<CaseId, Entry>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object of cases")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = HashMap::with_capacity(map.size_hint().unwrap_or(0).min(1000));
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            let id = name
                .parse()
                .map_err(|_| A::Error::custom(format!("`{name}` is no case: family/name")))?;
            let line: Line = map.next_value()?;
            let input = line.input;
            let answer = line
                .answer()
                .ok_or_else(|| A::Error::custom(format!("`{name}` has no outcome that can be")))?;
            entries.insert(id, Entry { input, answer });
        }
        Ok(entries)
    }
}

fn entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HashMap<CaseId, Entry>, D::Error> {
    deserializer.deserialize_map(Entries)
}

impl Line {
    /// The answer, if exactly that is there which its outcome carries.
    fn answer(self) -> Option<Answer> {
        let Line {
            sha256,
            stage,
            message,
            line,
            limit,
            ..
        } = self;
        Some(
            match (self.outcome.as_str(), sha256, stage, message, line, limit) {
                ("rendered", Some(hash), None, None, None, None) => Answer::Rendered(hash),
                ("raised", Some(hash), None, None, None, None) => Answer::Raised(hash),
                ("failed", None, Some(stage), Some(message), line, None) => Answer::Failed {
                    stage: Stage::ALL.into_iter().find(|known| known.name() == stage)?,
                    message,
                    line,
                },
                ("exceeded", None, None, None, None, Some(limit)) => {
                    Answer::Exceeded(Limit::ALL.into_iter().find(|known| known.name() == limit)?)
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
            let answer = Answer::of(outcome).unwrap();
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
                Entry {
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
        record.reference.version = "5.22.0".into();
        let why = record.staleness(&template).unwrap().to_string();
        assert_eq!(
            why,
            "recorded with transformers 5.22.0 (jinja2 3.1.6), the reference is transformers 5.23.0 (jinja2 3.1.6)"
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
                .contains("`f/c1` has no outcome that can be")
        );
        assert!(problem.help.unwrap().contains("reference update"));
    }
}
