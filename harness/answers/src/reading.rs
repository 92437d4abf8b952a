//! Readings: the answers of a case, written by a chat template and read with its response template.

use std::fmt;

use rolecall_core::{
    Answer, AnswerReader, Case, CaseId, Engine, Outcome, ReadOutcome, Template, TemplateReader,
};
use rolecall_front::program::FrontProgram;

use crate::comparison::{Difference, Verdict, compare};
use crate::ending::Form;
use crate::meaning::Meaning;
use crate::reader::DeclaredReader;
use crate::written::{Writer, Written, variables};

/// The name of an assistant's message: its case, and its index among the messages of the case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId {
    pub case: CaseId,
    pub index: usize,
}

/// A text that is not the name of a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no message: a message is named family/name#index")]
pub struct InvalidMessageId(String);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.case, self.index)
    }
}

impl std::str::FromStr for MessageId {
    type Err = InvalidMessageId;

    fn from_str(text: &str) -> Result<MessageId, InvalidMessageId> {
        let parse = || {
            let (case, index) = text.split_once('#')?;
            Some(MessageId {
                case: case.parse().ok()?,
                index: index.parse().ok()?,
            })
        };
        parse().ok_or_else(|| InvalidMessageId(text.to_owned()))
    }
}

/// An assistant's message of a case, and what came back of it.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageReading {
    pub id: MessageId,
    pub meant: Meaning,
    /// What came back.
    pub result: Result<ReadAnswer, Unread>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ReadAnswer {
    pub prompt: String,
    /// The setting under which the finished turn continues the prompt: see
    /// [`Written::Text`].
    pub setting: Option<String>,
    /// The forms of the answer, each with the message that was parsed from it.
    pub forms: Vec<FormReading>,
}

/// Why an answer was not read.
#[derive(Debug, Clone, PartialEq)]
pub enum Unread {
    /// The finished turn does not continue its prompt.
    DoesNotContinue,
    /// The chat template gives no prompt.
    Refused(Outcome),
}

impl MessageReading {
    /// Whether the reader answered for every form. One that crashed, or was given up, shows nothing.
    pub fn is_answered(&self) -> bool {
        let forms = self.result.iter().flat_map(|read| &read.forms);
        forms.map(|read| &read.outcome).all(|outcome| {
            !matches!(
                outcome,
                ReadOutcome::Crashed { .. } | ReadOutcome::NotAsked { .. }
            )
        })
    }
}

/// A form of an answer, and the message that was parsed from it.
#[derive(Debug, Clone, PartialEq)]
pub struct FormReading {
    pub form: Form,
    pub text: String,
    /// What the reader made of it.
    pub outcome: ReadOutcome,
    /// How well it was parsed.
    pub verdict: Verdict,
    /// The differences from the intended message.
    pub differences: Vec<Difference>,
    /// What the reader made of it character by character, if that is something else. Long answers
    /// are read only whole.
    pub streamed: Option<ReadOutcome>,
}

/// The longest answer that is also read character by character, in bytes.
const LONGEST_STREAM: usize = 4_000;

/// Reads the answers of cases that are for the template's dialect. None if the template has no
/// response template.
///
/// A case that another front prepares differently is read once, with the template's own front.
pub fn read_all<'c>(
    engine: &dyn Engine,
    template: &Template,
    reader: &dyn AnswerReader,
    cases: impl IntoIterator<Item = &'c Case>,
) -> Option<Vec<MessageReading>> {
    let response_template = template.response_template.as_ref()?;
    let reader = DeclaredReader::new(reader, response_template);
    Some(read_all_with(engine, template, &reader, cases))
}

/// Reads the answers of cases that are for the template's dialect.
pub fn read_all_with<'c>(
    engine: &dyn Engine,
    template: &Template,
    reader: &dyn TemplateReader,
    cases: impl IntoIterator<Item = &'c Case>,
) -> Vec<MessageReading> {
    let program = FrontProgram::load(engine, template);
    let writer = Writer::new(&program);
    let cases = cases.into_iter();
    let cases = cases.filter(|case| case.front.is_none() && case.is_for(template.dialect));
    let read = |case: &'c Case| read_case(&writer, reader, case).collect::<Vec<_>>();
    cases.flat_map(read).collect()
}

/// Reads all answers of a case.
pub fn read_case<'w>(
    writer: &'w Writer<'_, '_>,
    reader: &'w dyn TemplateReader,
    case: &'w Case,
) -> impl Iterator<Item = MessageReading> + 'w {
    writer.answers(case).map(move |answer| {
        let result = match answer.outcome {
            Written::Text {
                prompt,
                text,
                setting,
            } => {
                let variables = variables(case, setting);
                let read = |(form, text): (Form, &str)| {
                    let form_answer = Answer {
                        prompt: &prompt,
                        text,
                        tools: case.tools.as_deref(),
                    };
                    let outcome = reader.read(&form_answer, &variables);
                    let streamed = (text.len() <= LONGEST_STREAM)
                        .then(|| reader.read_streamed(&form_answer))
                        .flatten()
                        .filter(|streamed| !streamed.agrees(&outcome));
                    FormReading {
                        streamed,
                        ..FormReading::judge(form, text.to_owned(), outcome, &answer.meant)
                    }
                };
                let tokens = &writer.end_tokens;
                let forms = if reader.is_server() {
                    vec![tokens.as_served(&text)]
                } else {
                    tokens.forms(&text)
                };
                let forms = forms.into_iter().map(read).collect();
                Ok(ReadAnswer {
                    prompt,
                    setting: setting.map(|(name, value)| format!("{name}={value}")),
                    forms,
                })
            }
            Written::DoesNotContinue => Err(Unread::DoesNotContinue),
            Written::Refused(outcome) => Err(Unread::Refused(outcome)),
        };
        MessageReading {
            id: MessageId {
                case: case.id.clone(),
                index: answer.index,
            },
            meant: answer.meant,
            result,
        }
    })
}

impl FormReading {
    fn judge(form: Form, text: String, outcome: ReadOutcome, meant: &Meaning) -> FormReading {
        let (verdict, differences) = match &outcome {
            ReadOutcome::Read { message } => match Meaning::of(message) {
                Some(read) => compare(meant, &read, &text),
                // A message whose fields have other types than those of messages.
                None => (Verdict::Changed, Vec::new()),
            },
            ReadOutcome::Unsupported { .. } => (Verdict::Unsupported, Vec::new()),
            _ => (Verdict::Failed, Vec::new()),
        };
        FormReading {
            form,
            text,
            outcome,
            verdict,
            differences,
            streamed: None,
        }
    }
}

impl MessageReading {
    /// Whether another message comes out of a form if it is read character by character.
    pub fn is_streamed_otherwise(&self) -> bool {
        let answer = self.result.as_ref();
        answer.is_ok_and(|answer| answer.forms.iter().any(|form| form.streamed.is_some()))
    }

    /// The worst verdict on its forms. None if it was not read.
    pub fn verdict(&self) -> Option<Verdict> {
        let answer = self.result.as_ref().ok()?;
        answer.forms.iter().map(|form| form.verdict).max()
    }
}
