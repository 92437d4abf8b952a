//! What the reference reads back of a template's answers, on record.
//!
//! `snapshots/<template>/read-back.json` has one line for each assistant's message of the suite: the
//! fingerprint of the answer as the reference writes it, and of what the reference reads from the
//! forms of this answer. Only `rolecall reference update` writes it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use rolecall_model::{Template, TemplateName};
use rolecall_readback::reading::{MessageId, MessageReading, Unread};
use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::reference::{Identity, Reference};
use rolecall_base::file::{hold_below, read_text, write_whole};
use rolecall_base::fingerprint::Fingerprint;
use rolecall_base::invocation;
use rolecall_base::json::syntax_problem;
use rolecall_base::problem::{Position, Problem};
use rolecall_base::root::text_below;
use rolecall_base::rows::{self, Row};
use rolecall_front::front::Front;

/// What the reference reads back of the answers of one template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadBackRecord {
    /// Which reference it was.
    #[serde(serialize_with = "rows::row")]
    reference: Identity,
    /// The front behind which it rendered.
    front: String,
    /// The template's source.
    template: Fingerprint,
    /// The template's special tokens and variables.
    settings: Fingerprint,
    /// The response template.
    response_template: Fingerprint,
    /// What it did, by the name of the message.
    messages: BTreeMap<String, Row<RecordedReading>>,
}

/// What the reference did with one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedReading {
    /// The prompt and the answer, or why there is none.
    written: Fingerprint,
    /// What was read from the forms of the answer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    read: Option<Fingerprint>,
}

/// How readings compare with the reference's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadBackTruth {
    /// The reference's record is current. These messages differ from it; often none does.
    Recorded {
        /// The messages that differ.
        differing: Vec<(MessageId, ReadingFault)>,
    },
    /// There is no record that counts, and there should be one.
    Unverified(String),
    /// The reference was never asked about the template of a suite of one's own.
    NeverAsked,
}

/// How a reading differs from the reference's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingFault {
    /// The template writes another answer.
    Written,
    /// Something else is read from the same answer.
    Read,
    /// The message has no record.
    NotRecorded,
    /// The record's message is gone.
    Gone,
}

impl fmt::Display for ReadingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReadingFault::Written => "the reference writes another answer",
            ReadingFault::Read => "the reference reads something else from the same answer",
            ReadingFault::NotRecorded => "the reference was not asked about it",
            ReadingFault::Gone => "it is on record, but no case has it",
        })
    }
}

impl RecordedReading {
    fn of(reading: &MessageReading) -> RecordedReading {
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
                    written: Fingerprint::of(parts.collect::<Vec<_>>().join("\0")),
                    read: Some(Fingerprint::of(outcomes.join("\n"))),
                }
            }
            Err(Unread::DoesNotContinue) => RecordedReading {
                written: Fingerprint::of("does not continue"),
                read: None,
            },
            // The words of a failure are the engine's own.
            Err(Unread::Refused(outcome)) => RecordedReading {
                written: Fingerprint::of(outcome.kind().name()),
                read: None,
            },
        }
    }
}

impl ReadBackRecord {
    /// The record of the reference's readings of a template.
    pub fn new(template: &Template, readings: &[MessageReading]) -> ReadBackRecord {
        let messages = readings.iter().map(|reading| {
            let recorded = Row(RecordedReading::of(reading));
            (reading.id.to_string(), recorded)
        });
        ReadBackRecord {
            reference: Reference::of(template.dialect).identity(),
            front: Front::of(template).name().to_owned(),
            template: Fingerprint::of_source(template),
            settings: Fingerprint::of_settings(template),
            response_template: of_response_template(template),
            messages: messages.collect(),
        }
    }

    /// The file of a template's record, in the snapshot folder.
    pub fn file(snapshots: &Path, template: &TemplateName) -> PathBuf {
        snapshots.join(template.as_str()).join("read-back.json")
    }

    /// The record of a template of a suite, if there is one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no record.
    pub fn of(layout: &Layout, template: &TemplateName) -> Result<Option<ReadBackRecord>, Problem> {
        let snapshots = layout.snapshots();
        let path = ReadBackRecord::file(&snapshots, template);
        let Some(text) = text_below(&snapshots, &path)? else {
            return Ok(None);
        };
        let read = serde_json::from_str(&text).map_err(|error: serde_json::Error| {
            if !error.is_data() {
                return syntax_problem(&path, &text, &error);
            }
            let message = format!("not a record of what is read back: {error}");
            let command = invocation::command("reference update");
            Problem::new(&path, message)
                .at(Position {
                    line: error.line().max(1),
                    column: error.column().max(1),
                })
                .help(format!("it is written by `{command}`, never by hand"))
        });
        read.map(Some)
    }

    /// The file's text: one line a message, sorted.
    pub fn text(&self) -> String {
        rows::text(self)
    }

    /// Why the record does not count for a template, if it does not.
    pub fn staleness(&self, template: &Template) -> Option<String> {
        let reference = Reference::of(template.dialect).identity();
        if self.reference != reference {
            let other = &self.reference;
            return Some(format!(
                "recorded with {other}, the reference is {reference}"
            ));
        }
        let front = Front::of(template).name();
        if self.front != front {
            let other = &self.front;
            return Some(format!(
                "recorded with the front `{other}`, the template has `{front}`"
            ));
        }
        let changed = [
            (
                self.template != Fingerprint::of_source(template),
                "the template has",
            ),
            (
                self.settings != Fingerprint::of_settings(template),
                "the template's special tokens or variables have",
            ),
            (
                self.response_template != of_response_template(template),
                "the response template has",
            ),
        ];
        let changed = changed.into_iter().find(|(is_changed, _)| *is_changed);
        changed.map(|(_, what)| format!("{what} changed since"))
    }

    /// Writes the record, if it is not there already. Returns whether it was written.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, layout: &Layout, template: &TemplateName) -> Result<bool, Problem> {
        let snapshots = layout.snapshots();
        let path = ReadBackRecord::file(&snapshots, template);
        let text = self.text();
        if read_text(&path).is_ok_and(|old| old == text) {
            return Ok(false);
        }
        hold_below(&snapshots, &path)?;
        write_whole(&path, text).map(|()| true)
    }

    /// The messages that this record and another one disagree about.
    fn differing(&self, other: &ReadBackRecord) -> Vec<(MessageId, ReadingFault)> {
        let names = self.messages.keys().chain(other.messages.keys());
        let mut ids: Vec<MessageId> = names.filter_map(|name| name.parse().ok()).collect();
        ids.sort();
        ids.dedup();
        let fault = |id: &MessageId| {
            let name = id.to_string();
            match (self.messages.get(&name), other.messages.get(&name)) {
                (Some(own), Some(other)) if own == other => None,
                (Some(Row(own)), Some(Row(other))) if own.written != other.written => {
                    Some(ReadingFault::Written)
                }
                (Some(_), Some(_)) => Some(ReadingFault::Read),
                (Some(_), None) => Some(ReadingFault::Gone),
                (None, _) => Some(ReadingFault::NotRecorded),
            }
        };
        let faults = ids.into_iter().map(|id| (fault(&id), id));
        faults
            .filter_map(|(fault, id)| Some((id, fault?)))
            .collect()
    }
}

fn of_response_template(template: &Template) -> Fingerprint {
    let text = template.response_template.as_ref().map(ToString::to_string);
    Fingerprint::of(text.unwrap_or_default())
}

/// Compares the readings of a template with the reference's record. The readings are those of all
/// cases of the suite.
///
/// # Errors
///
/// The record cannot be read.
pub fn truth(
    layout: &Layout,
    template: &Template,
    readings: &[MessageReading],
) -> Result<ReadBackTruth, Problem> {
    let Some(record) = ReadBackRecord::of(layout, &template.name)? else {
        // A suite of one's own is checked by what was accepted.
        return Ok(match layout.configuration() {
            Some(_) => ReadBackTruth::NeverAsked,
            None => ReadBackTruth::Unverified("the template has no record".to_owned()),
        });
    };
    if let Some(why) = record.staleness(template) {
        return Ok(ReadBackTruth::Unverified(why));
    }
    Ok(ReadBackTruth::Recorded {
        differing: record.differing(&ReadBackRecord::new(template, readings)),
    })
}

#[cfg(test)]
mod tests {
    use rolecall_front::engines::Engines;
    use rolecall_model::{Answer, AnswerReader, Case, Dialect, ReadOutcome};
    use serde_json::{Value, json};

    use super::*;
    use rolecall_readback::reading::read_all;

    /// Reads every text as content, after it has replaced one word by another.
    struct Fake(&'static str, &'static str);

    impl AnswerReader for Fake {
        fn read(&self, _: &Value, answer: &Answer<'_>) -> ReadOutcome {
            ReadOutcome::Read {
                message: json!({"content": answer.text.replace(self.0, self.1)}),
            }
        }
    }

    fn readings(template: &Template, reader: &Fake, answers: &[&str]) -> Vec<MessageReading> {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja).unwrap();
        let answers = answers.iter();
        let messages = answers.map(|it| json!({"role": "assistant", "content": it}));
        let case = Case::from_messages(messages.collect());
        read_all(engine, template, reader, [&case]).unwrap()
    }

    #[test]
    fn what_the_record_says_is_compared_with_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        std::fs::create_dir_all(layout.snapshots().join("t")).unwrap();
        let mut template = Template::from_source(
            "t",
            Dialect::Jinja,
            "{% for m in messages %}{{ m.content }}{% endfor %}",
        );
        template.response_template = Some(json!({}));
        let truth = |template: &Template, reader: &Fake, answers: &[&str]| {
            truth(&layout, template, &readings(template, reader, answers)).unwrap()
        };
        let faithful = Fake("", "");
        assert_eq!(
            truth(&template, &faithful, &["a"]),
            ReadBackTruth::Unverified("the template has no record".to_owned())
        );
        let record = ReadBackRecord::new(&template, &readings(&template, &faithful, &["a", "b"]));
        assert_eq!(record.write(&layout, &template.name), Ok(true));
        assert_eq!(record.write(&layout, &template.name), Ok(false));
        let found = |template: &Template, reader: &Fake, answers: &[&str]| match truth(
            template, reader, answers,
        ) {
            ReadBackTruth::Recorded { differing } => differing
                .into_iter()
                .map(|(id, fault)| (id.index, fault))
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert_eq!(found(&template, &faithful, &["a", "b"]), []);
        // The finished turn of `b` is `ab`, so this reader changes both.
        assert_eq!(
            found(&template, &Fake("b", "c"), &["a", "b"]),
            [(1, ReadingFault::Read)]
        );
        assert_eq!(
            found(&template, &faithful, &["a", "x"]),
            [(1, ReadingFault::Written)]
        );
        assert_eq!(
            found(&template, &faithful, &["a"]),
            [(1, ReadingFault::Gone)]
        );
        assert_eq!(
            found(&template, &faithful, &["a", "b", "c"]),
            [(2, ReadingFault::NotRecorded)]
        );
        template.response_template = Some(json!({"fields": {}}));
        assert_eq!(
            truth(&template, &faithful, &["a", "b"]),
            ReadBackTruth::Unverified("the response template has changed since".to_owned())
        );
        let path = ReadBackRecord::file(&layout.snapshots(), &template.name);
        std::fs::write(&path, "{\"messages\": 3}").unwrap();
        let problem = ReadBackRecord::of(&layout, &template.name).unwrap_err();
        assert!(
            problem
                .message
                .starts_with("not a record of what is read back")
        );
    }
}
