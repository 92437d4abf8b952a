//! Reference records: the reference's outcome for each pair.
//!
//! `snapshots/reference.json` says of each template which reference was asked, and the fingerprints
//! of what it was asked with. The outcome for a pair is next to its accepted transcript, as the
//! checksums of the case and of the text. A snapshot is right if it agrees with its record. A
//! record no longer counts once its template or case has changed. Only `rolecall reference update`
//! and `rolecall accept --verified` write records, from the output of the real reference.

use std::collections::{BTreeMap, HashMap};

use rolecall_answers::reading::{MessageId, MessageReading, Unread};
use rolecall_core::{CaseId, Limit, Outcome, OutcomeKind, Stage, Template};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reference::{Identity, Reference};
use rolecall_core::fingerprint::{Checksum, Fingerprint};
use rolecall_front::front::Front;

/// The beginning of the lines that say what the reference did.
pub(crate) const REFERENCE: &str = "reference ";

/// The reference's outcomes for the pairs of one template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What the reference was asked with.
    pub asked: Asked,
    pub cases: HashMap<CaseId, RecordEntry>,
    /// Its parse of the template's answers.
    pub readings: BTreeMap<MessageId, RecordedReading>,
}

/// Which reference was asked about a template, and with what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
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

/// The reference's outcome for one pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordEntry {
    pub input: Checksum,
    /// What the reference did.
    pub answer: RecordedAnswer,
}

/// The reference's outcome as records keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedAnswer {
    /// A prompt or a refusal by the template, with the checksum of its text.
    Checked(OutcomeKind, Checksum),
    /// A failure or a limit. The message is kept, because other engines have other words.
    Whole(Outcome),
}

/// What a reference did with one case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CaseRecord {
    entry: Option<RecordEntry>,
    readings: BTreeMap<usize, RecordedReading>,
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
    /// The response template has changed since the parsed answers were recorded.
    ResponseTemplateChanged,
    NoRecord,
    CaseChanged,
    /// The engine that was asked for a verdict crashed.
    Crashed(String),
    /// The reference could not be asked: it was given up.
    ReferenceNotAsked(String),
    /// The engine was not asked: it was given up.
    NotAsked,
}

/// What the reference did with one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedReading {
    /// The prompt and the answer, or why there is none.
    pub(crate) written: Checksum,
    /// What was read from the forms of the answer, if there is one.
    read: Option<Checksum>,
}

impl RecordedAnswer {
    /// The form in which records keep an outcome. None for a crash, or if the engine was
    /// not asked.
    pub fn of(outcome: &Outcome) -> Option<RecordedAnswer> {
        match outcome.kind() {
            kind @ (OutcomeKind::Rendered | OutcomeKind::Raised) => {
                let checksum = Checksum::of(outcome.text());
                Some(RecordedAnswer::Checked(kind, checksum))
            }
            OutcomeKind::Failed | OutcomeKind::Exceeded => {
                Some(RecordedAnswer::Whole(outcome.clone()))
            }
            OutcomeKind::Crashed | OutcomeKind::NotAsked => None,
        }
    }

    pub fn kind(&self) -> OutcomeKind {
        match self {
            RecordedAnswer::Checked(kind, _) => *kind,
            RecordedAnswer::Whole(outcome) => outcome.kind(),
        }
    }

    /// Whether an engine's outcome agrees with it: see [`Outcome::agrees`].
    pub fn agrees(&self, outcome: &Outcome) -> bool {
        match self {
            RecordedAnswer::Checked(kind, checksum) => {
                *kind == outcome.kind() && *checksum == Checksum::of(outcome.text())
            }
            RecordedAnswer::Whole(whole) => whole.agrees(outcome),
        }
    }

    /// The whole outcome, unless the record holds only a checksum.
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            RecordedAnswer::Checked(..) => None,
            RecordedAnswer::Whole(outcome) => Some(outcome),
        }
    }
}

impl Asked {
    /// What the reference of a template is asked with now.
    pub fn of(template: &Template) -> Asked {
        let response_template = template.response_template.as_ref();
        Asked {
            reference: Reference::of_template(template).identity(),
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

    /// Why the parsed answers do not count for a template whose record counts, if it does not.
    pub fn staleness_of_answers(&self, template: &Template) -> Option<Unverified> {
        let is_same = self.response_template == Asked::of(template).response_template;
        (!is_same).then_some(Unverified::ResponseTemplateChanged)
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
        let first = MessageId {
            case: id.clone(),
            index: 0,
        };
        let of_case = self.readings.range(first..);
        let of_case = of_case.take_while(|(message, _)| message.case == *id);
        let of_case = CaseRecord {
            entry: self.cases.get(id).cloned(),
            readings: of_case.map(|(id, reading)| (id.index, *reading)).collect(),
        };
        of_case.lines()
    }

    /// Takes what was read about a case.
    pub(crate) fn learn(&mut self, id: &CaseId, read: CaseRecord) {
        let readings = read.readings.into_iter().map(|(index, reading)| {
            let case = id.clone();
            (MessageId { case, index }, reading)
        });
        self.readings.extend(readings);
        self.cases
            .extend(read.entry.map(|entry| (id.clone(), entry)));
    }
}

impl CaseRecord {
    /// Reads a line, without what all lines of references begin with.
    ///
    /// # Errors
    ///
    /// No reference wrote the line, or it says again what another one has said. The error says which.
    pub(crate) fn read(&mut self, line: &str) -> Result<(), &'static str> {
        const UNKNOWN: &str = "not what a reference did";
        let is_new = if line.starts_with('#') {
            let (index, reading) = RecordedReading::parse(line).ok_or(UNKNOWN)?;
            self.readings.insert(index, reading).is_none()
        } else {
            let entry = RecordEntry::parse(line).ok_or(UNKNOWN)?;
            self.entry.replace(entry).is_none()
        };
        if is_new {
            Ok(())
        } else {
            Err("a second answer of the reference")
        }
    }

    fn lines(&self) -> String {
        let mut lines = String::new();
        if let Some(entry) = &self.entry {
            lines.push_str(REFERENCE);
            entry.add_to(&mut lines);
            lines.push('\n');
        }
        for (index, reading) in &self.readings {
            lines.push_str(REFERENCE);
            reading.add_to(&mut lines, *index);
            lines.push('\n');
        }
        lines
    }
}

/// The lines about a case in the order in which they are written.
pub(crate) fn in_order(lines: String) -> String {
    let index = |line: &&str| -> Option<usize> {
        let message = line.strip_prefix(REFERENCE)?.strip_prefix('#')?;
        message.split(' ').next()?.parse().ok()
    };
    let mut all: Vec<&str> = lines.lines().collect();
    if all.is_sorted_by_key(index) {
        return lines;
    }
    all.sort_by_key(index);
    all.join("\n") + "\n"
}

impl RecordEntry {
    /// Adds the entry as it is written: the checksum of the case, what the reference did unless it gave
    /// a prompt, and the checksum of its text or its own words.
    fn add_to(&self, line: &mut String) {
        use std::fmt::Write as _;
        let input = self.input;
        // Writing to a string cannot fail.
        let _ = match &self.answer {
            RecordedAnswer::Checked(OutcomeKind::Rendered, hash) => write!(line, "{input} {hash}"),
            RecordedAnswer::Checked(kind, hash) => write!(line, "{input} {kind} {hash}"),
            RecordedAnswer::Whole(Outcome::Failed {
                stage,
                message,
                line: at,
            }) => {
                let at = at.map_or_else(|| "-".to_owned(), |at| at.to_string());
                let message = Value::from(message.as_str());
                write!(line, "{input} failed {stage} {at} {message}")
            }
            RecordedAnswer::Whole(other) => {
                write!(line, "{input} {} {}", other.kind(), other.text())
            }
        };
    }

    /// Reads an entry that [`RecordEntry::add_to`] wrote.
    fn parse(line: &str) -> Option<RecordEntry> {
        let (input, rest) = line.split_once(' ')?;
        let (kind, rest) = rest.split_once(' ').unwrap_or(("rendered", rest));
        let answer = match kind {
            "rendered" => RecordedAnswer::Checked(OutcomeKind::Rendered, rest.parse().ok()?),
            "raised" => RecordedAnswer::Checked(OutcomeKind::Raised, rest.parse().ok()?),
            "exceeded" => RecordedAnswer::Whole(Outcome::Exceeded {
                limit: Limit::named(rest)?,
            }),
            "failed" => {
                let mut parts = rest.splitn(3, ' ');
                RecordedAnswer::Whole(Outcome::Failed {
                    stage: Stage::named(parts.next()?)?,
                    line: match parts.next()? {
                        "-" => None,
                        at => Some(at.parse().ok()?),
                    },
                    message: serde_json::from_str(parts.next()?).ok()?,
                })
            }
            _ => return None,
        };
        let entry = RecordEntry {
            input: input.parse().ok()?,
            answer,
        };
        let mut written = String::new();
        entry.add_to(&mut written);
        // Only the one spelling of a record counts, so that no changed byte goes unnoticed.
        (written == line).then_some(entry)
    }
}

impl RecordedReading {
    /// Of what the reference did.
    pub fn of(reading: &MessageReading) -> RecordedReading {
        match &reading.result {
            Ok(answer) => {
                let setting = answer.setting.as_deref().unwrap_or_default();
                let texts = answer.forms.iter().map(|form| form.text.as_str());
                let parts = [setting, answer.prompt.as_str()].into_iter().chain(texts);
                let outcomes: Vec<String> = answer
                    .forms
                    .iter()
                    .map(|form| form.outcome.essence())
                    .collect();
                RecordedReading {
                    written: Checksum::of(parts.collect::<Vec<_>>().join("\0")),
                    read: Some(Checksum::of(outcomes.join("\n"))),
                }
            }
            Err(Unread::DoesNotContinue) => RecordedReading {
                written: Checksum::of("does not continue"),
                read: None,
            },
            // The words of a failure are the engine's own.
            Err(Unread::Refused(outcome)) => RecordedReading {
                written: Checksum::of(outcome.kind().name()),
                read: None,
            },
        }
    }

    /// Adds it as it is written, after the index of its message.
    fn add_to(&self, line: &mut String, index: usize) {
        use std::fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = write!(line, "#{index} {}", self.written);
        if let Some(read) = self.read {
            let _ = write!(line, " {read}");
        }
    }

    /// Reads a line that [`RecordedReading::add_to`] wrote.
    fn parse(line: &str) -> Option<(usize, RecordedReading)> {
        let mut parts = line.strip_prefix('#')?.split(' ');
        let index = parts.next()?.parse().ok()?;
        let reading = RecordedReading {
            written: parts.next()?.parse().ok()?,
            read: parts.next().map(str::parse).transpose().ok()?,
        };
        let mut written = String::new();
        reading.add_to(&mut written, index);
        (written == line).then_some((index, reading))
    }
}

impl Unverified {
    /// Whether no verdict is expected, so that its absence fails nothing.
    pub fn is_expected(&self) -> bool {
        matches!(self, Unverified::Outside | Unverified::NeverAsked)
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
            Unverified::ResponseTemplateChanged => {
                "the response template has changed since it was recorded"
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
    use rolecall_core::Dialect;

    fn record() -> (Template, Record) {
        let template = Template::from_source("t", Dialect::Jinja, "x");
        let mut record = Record::new(&template);
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
            let case = CaseId::new("f", &format!("c{index}"));
            let entry = RecordEntry {
                input: Checksum::of("input"),
                answer,
            };
            record.cases.insert(case.clone(), entry);
            for index in 0..index {
                let case = case.clone();
                let reading = RecordedReading {
                    written: Checksum::of("written"),
                    read: (index > 0).then(|| Checksum::of("read")),
                };
                record.readings.insert(MessageId { case, index }, reading);
            }
        }
        (template, record)
    }

    /// The record with its lines read again.
    fn read(record: &Record, lines: impl Fn(String) -> String) -> Result<Record, &'static str> {
        let mut again = Record {
            cases: HashMap::new(),
            readings: BTreeMap::new(),
            ..record.clone()
        };
        for id in record.cases.keys() {
            let mut read = CaseRecord::default();
            for line in lines(record.lines(id)).lines() {
                read.read(
                    line.strip_prefix(REFERENCE)
                        .ok_or("no line of a reference")?,
                )?;
            }
            again.learn(id, read);
        }
        Ok(again)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (template, record) = record();
        assert_eq!(read(&record, |lines| lines), Ok(record.clone()));
        assert_eq!(record.asked.staleness(&template), None);
        let lines = record.lines(&CaseId::new("f", "c2"));
        let written = "reference c96c6d5be8d0 failed render 3 \"it said \\\"no\\\"\\n\"\n\
                       reference #0 ccc0e8da6b80\nreference #1 ccc0e8da6b80 3316348dbadf\n";
        assert_eq!(lines, written);
        assert_eq!(record.lines(&CaseId::new("f", "c9")), "");
    }

    #[test]
    fn lines_that_a_reference_wrote_are_put_in_order() {
        let (_, record) = record();
        let lines = record.lines(&CaseId::new("f", "c2"));
        let mut reversed: Vec<&str> = lines.lines().rev().collect();
        assert_eq!(in_order(reversed.join("\n") + "\n"), lines);
        reversed.insert(0, "reference to nothing");
        let text = in_order(reversed.join("\n") + "\n");
        assert_eq!(text, format!("reference to nothing\n{lines}"));
    }

    #[test]
    fn one_changed_byte_is_noticed_anywhere() {
        let (_, record) = record();
        for id in record.cases.keys() {
            let text = record.lines(id);
            for at in 0..text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
                let changed = String::from_utf8(bytes).unwrap();
                let change = |lines| {
                    if lines == text {
                        changed.clone()
                    } else {
                        lines
                    }
                };
                if let Ok(read) = read(&record, change) {
                    assert!(read != record, "byte {at} of {text}");
                }
            }
        }
    }

    #[test]
    fn a_record_is_of_one_template_and_one_reference() {
        let (mut template, record) = record();
        let mut asked = record.asked;
        template
            .special_tokens
            .insert("bos_token".into(), "<s>".into());
        assert_eq!(
            asked.staleness(&template),
            Some(Unverified::SettingsChanged)
        );
        template.source.push('\n');
        assert_eq!(
            asked.staleness(&template),
            Some(Unverified::TemplateChanged)
        );
        asked.reference.version = "4.57.0".into();
        let why = asked.staleness(&template).unwrap().to_string();
        assert_eq!(
            why,
            "recorded with transformers 4.57.0 (jinja2 3.1.6), the reference is transformers 5.24.0 (jinja2 3.1.6)"
        );
    }

    #[test]
    fn what_no_reference_wrote_is_refused() {
        let (_, record) = record();
        let lines = record.lines(&CaseId::new("f", "c1"));
        let line = lines
            .lines()
            .next()
            .unwrap()
            .strip_prefix(REFERENCE)
            .unwrap();
        let mut read = CaseRecord::default();
        let unknown = "not what a reference did";
        for wrong in [
            line.replace("raised", "fine"),
            line.replace("raised ", ""),
            format!("{line} "),
            line.to_uppercase(),
            "#01 000000000000".to_owned(),
            "#1".to_owned(),
            String::new(),
        ] {
            let found = read.read(&wrong);
            let is_other = wrong == line.replace("raised ", "");
            assert_eq!(found.is_err(), !is_other, "{wrong}: {found:?}");
            if let Err(message) = found {
                assert_eq!(message, unknown, "{wrong}");
            }
        }
        assert_eq!(read.read(line), Err("a second answer of the reference"));
    }
}
