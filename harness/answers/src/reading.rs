//! Readings: the answers of a case, written by a chat template and read with its response template.

use std::borrow::Cow;
use std::fmt;

use rolecall_core::guard;
use rolecall_core::{
    Answer, AnswerReader, Case, CaseId, Engine, Outcome, ReadOutcome, Template, TemplateReader,
};
use rolecall_front::program::FrontProgram;
use serde_json::Value;

use crate::comparison::{Difference, Verdict, compare};
use crate::ending::Form;
use crate::meaning::Meaning;
use crate::reader::DeclaredReader;
use crate::written::{Writer, Written, WrittenAnswer, variables};

/// The name of an assistant's message: its case, and its index among the messages of the case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId {
    pub case: CaseId,
    pub index: usize,
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.case, self.index)
    }
}

impl MessageId {
    pub(crate) fn of(case: &Case, index: usize) -> MessageId {
        let case = case.id.clone();
        MessageId { case, index }
    }
}

/// An assistant's message of a case, and the message that a parser or a whole server made of its text.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageReading {
    pub id: MessageId,
    pub meant: Meaning,
    /// What came back.
    pub result: Result<ReadAnswer, Unread>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadAnswer {
    pub prompt: String,
    /// The setting under which the finished turn continues the prompt: see
    /// [`Written::Text`].
    pub setting: Option<String>,
    /// The forms of the answer, each with the message that was parsed from it. Whoever gets only one
    /// form, such as a server, has one.
    pub forms: Vec<FormReading>,
    /// The reader's own prompt, if it is a server and this is not the template's.
    pub other_prompt: Option<String>,
}

/// Why an answer was not read.
#[derive(Debug, Clone, PartialEq)]
pub enum Unread {
    /// The finished turn does not continue its prompt.
    DoesNotContinue,
    /// The chat template gives no prompt.
    Refused(Outcome),
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
    let read = |case: &'c Case| contained_case(&writer, reader, case);
    of_dialect(&writer, cases).flat_map(read).collect()
}

/// The cases that a writer writes, each once: not those for other fronts.
fn of_dialect<'c>(
    writer: &Writer<'_, '_>,
    cases: impl IntoIterator<Item = &'c Case>,
) -> impl Iterator<Item = &'c Case> {
    let dialect = writer.template().dialect;
    let cases = cases.into_iter();
    cases.filter(move |case| case.front.is_none() && case.is_for(dialect))
}

/// Reads all answers of a case. A panic costs the answers of this case only.
pub fn contained_case(
    writer: &Writer<'_, '_>,
    reader: &dyn TemplateReader,
    case: &Case,
) -> Vec<MessageReading> {
    let part = format!("the roundtrip of {}", case.id);
    let read = || read_case(writer, reader, case).collect();
    guard::contained(&part, read).unwrap_or_default()
}

/// Reads all answers of a case, in all forms, or as servers get them.
pub fn read_case<'w>(
    writer: &'w Writer<'_, '_>,
    reader: &'w dyn TemplateReader,
    case: &'w Case,
) -> impl Iterator<Item = MessageReading> + 'w {
    writer.answers(case).map(move |answer| {
        let task = match Task::of(case, answer) {
            Ok(task) => task,
            Err(unread) => return *unread,
        };
        let variables = variables(case, task.setting);
        let read = |(form, text): (Form, &str)| {
            let answer = Answer {
                prompt: &task.prompt,
                text,
                tools: case.tools.as_deref(),
            };
            let outcome = reader.read(&answer, &variables);
            let streamed = (text.len() <= LONGEST_STREAM)
                .then(|| reader.read_streamed(&answer))
                .flatten()
                .filter(|streamed| !streamed.agrees(&outcome));
            FormReading {
                streamed,
                ..FormReading::judge(form, text.to_owned(), outcome, &task.meant)
            }
        };
        let tokens = &writer.end_tokens;
        let forms = if reader.is_server() {
            vec![tokens.bare(&task.text)]
        } else {
            tokens.forms(&task.text)
        };
        let read = forms.into_iter().map(read).collect();
        task.read(read)
    })
}

/// A text that a model has to write, and where it belongs.
#[derive(Debug, Clone)]
pub struct Task<'c> {
    pub case: &'c Case,
    /// The index of the message in the case.
    pub index: usize,
    pub meant: Meaning,
    /// The prompt before the text.
    pub prompt: String,
    pub text: String,
    /// The setting under which the finished turn continues the prompt: see [`Written::Text`].
    pub setting: Option<(&'static str, bool)>,
}

impl<'c> Task<'c> {
    /// The text of an answer, or the message for which there is none.
    fn of(case: &'c Case, answer: WrittenAnswer) -> Result<Task<'c>, Box<MessageReading>> {
        let WrittenAnswer {
            index,
            meant,
            outcome,
        } = answer;
        let unread = match outcome {
            Written::Text {
                prompt,
                text,
                setting,
            } => {
                return Ok(Task {
                    case,
                    index,
                    meant,
                    prompt,
                    text,
                    setting,
                });
            }
            Written::DoesNotContinue => Unread::DoesNotContinue,
            Written::Refused(outcome) => Unread::Refused(outcome),
        };
        Err(Box::new(MessageReading {
            id: MessageId::of(case, index),
            meant,
            result: Err(unread),
        }))
    }

    /// The answers of cases as a server gets them: without the end token. A case for another front is
    /// left out, because it is there for the template's own front, too.
    pub fn all(
        writer: &Writer<'_, '_>,
        cases: &[&'c Case],
    ) -> Vec<Result<Task<'c>, Box<MessageReading>>> {
        let tasks = of_dialect(writer, cases.iter().copied()).flat_map(|case| {
            writer.answers(case).map(move |answer| {
                let mut task = Task::of(case, answer)?;
                let (_, served) = writer.end_tokens.bare(&task.text);
                task.text = served.to_owned();
                Ok(task)
            })
        });
        tasks.collect()
    }

    /// The message with what was read of its forms.
    fn read(self, forms: Vec<FormReading>) -> MessageReading {
        MessageReading {
            id: MessageId::of(self.case, self.index),
            meant: self.meant,
            result: Ok(ReadAnswer {
                prompt: self.prompt,
                setting: self.setting.map(|(name, value)| format!("{name}={value}")),
                forms,
                other_prompt: None,
            }),
        }
    }

    /// The message, and what was parsed from its text.
    pub fn done(&self, message: Value) -> MessageReading {
        let outcome = ReadOutcome::Read { message };
        let form = FormReading::judge(Form::Bare, self.text.clone(), outcome, &self.meant);
        self.clone().read(vec![form])
    }

    /// The message whose text was not parsed: with the error of the parser, or with the text that the model
    /// wrote instead.
    pub fn failed(&self, verdict: Verdict, words: String) -> MessageReading {
        let outcome = ReadOutcome::Failed {
            kind: words,
            message: String::new(),
        };
        let form = FormReading::judge(Form::Bare, self.text.clone(), outcome, &self.meant);
        self.clone().read(vec![FormReading { verdict, ..form }])
    }
}

impl FormReading {
    pub(crate) fn judge(
        form: Form,
        text: String,
        outcome: ReadOutcome,
        meant: &Meaning,
    ) -> FormReading {
        let (verdict, differences) = match &outcome {
            ReadOutcome::Read { message } => match Meaning::of(message) {
                Some(read) => compare(meant, &read, &text),
                // A message whose fields have other types than those of messages.
                None => (Verdict::Changed, Vec::new()),
            },
            ReadOutcome::Unsupported { .. } => (Verdict::Refused, Vec::new()),
            ReadOutcome::NotAsked { .. } => (Verdict::NotAsked, Vec::new()),
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

    /// The words of a refusal or a failure.
    pub fn words(&self) -> Option<Cow<'_, str>> {
        match &self.outcome {
            ReadOutcome::Read { .. } => None,
            ReadOutcome::Exceeded { limit } => {
                Some(format!("over the limit of {}", limit.name()).into())
            }
            ReadOutcome::Failed { kind: words, .. }
            | ReadOutcome::Unsupported { message: words }
            | ReadOutcome::Crashed { message: words }
            | ReadOutcome::NotAsked { message: words } => Some(words.into()),
        }
    }
}

impl MessageReading {
    /// The forms that were read; none if the answer was not.
    pub fn forms(&self) -> &[FormReading] {
        let answer = self.result.as_ref();
        answer.map_or(&[], |answer| &answer.forms)
    }

    /// Whether another message comes out of a form if it is read character by character.
    pub fn is_streamed_otherwise(&self) -> bool {
        self.forms().iter().any(|form| form.streamed.is_some())
    }

    /// Whether the reader answered for every form. One that crashed, or was given up, shows nothing.
    pub fn is_answered(&self) -> bool {
        self.forms().iter().all(|form| {
            !matches!(
                form.outcome,
                ReadOutcome::Crashed { .. } | ReadOutcome::NotAsked { .. }
            )
        })
    }

    /// The worst verdict on its forms.
    pub fn verdict(&self) -> Verdict {
        match &self.result {
            Err(Unread::DoesNotContinue) => Verdict::DoesNotContinue,
            Err(Unread::Refused(_)) => Verdict::WithoutPrompt,
            Ok(answer) => {
                let worst = answer.forms.iter().map(|form| form.verdict).max();
                worst.unwrap_or(Verdict::ReadBack)
            }
        }
    }

    /// Whether the reader is to blame for something.
    pub fn is_fault(&self) -> bool {
        self.verdict().is_fault() || self.is_streamed_otherwise()
    }
}
