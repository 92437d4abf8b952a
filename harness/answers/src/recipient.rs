//! Recipients: parsers and whole servers, which get answers and give messages back.

use rolecall_core::{Answer, Case, CaseId, ReadOutcome, Template, TemplateReader};
use serde_json::Value;

use crate::comparison::compare;
use crate::ending::Form;
use crate::meaning::{Call, Meaning};
use crate::reading::MessageId;
use crate::returned::{Returned, ReturnedMessage};
use crate::written::{Writer, Written, variables};

/// Somebody who reads the answers of models back as messages.
pub trait Recipient: Send + Sync {
    fn name(&self) -> &str;

    fn version(&self) -> &str;

    /// What comes back of the answers that a template writes in some cases.
    fn returned(&self, writer: &Writer<'_, '_>, cases: &[&Case]) -> Vec<ReturnedMessage>;
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
    /// The text, without the end token.
    pub text: String,
    /// The text up to the end token, and with it.
    pub ended: String,
    /// The setting under which the finished turn continues the prompt: see [`Written::Text`].
    pub setting: Option<(&'static str, bool)>,
}

impl Task<'_> {
    pub fn id(&self) -> MessageId {
        name(&self.case.id, self.index)
    }

    /// Whether all that is meant is in the text: then even a reader that finds nothing has lost
    /// nothing that the template does not write.
    fn is_whole(&self) -> bool {
        let (_, differences) = compare(&self.meant, &Meaning::default(), &self.text);
        let empty = |call: &Call| Call {
            arguments: Value::Object(serde_json::Map::new()),
            ..call.clone()
        };
        // Without calls to compare with, arguments are not looked at.
        let nothing = Meaning {
            calls: self.meant.calls.iter().map(empty).collect(),
            ..Meaning::default()
        };
        let (_, arguments) = compare(&self.meant, &nothing, &self.text);
        !differences
            .iter()
            .chain(&arguments)
            .any(|it| it.is_not_written)
    }

    /// The message, with what came back of it.
    pub fn done(&self, returned: Returned) -> ReturnedMessage {
        ReturnedMessage {
            id: self.id(),
            text: Some(self.text.clone()),
            is_whole: self.is_whole(),
            returned,
            streamed: None,
            other_prompt: None,
        }
    }
}

/// The answers of cases, as a template writes them: what a model has to write, or why nobody knows
/// that. A case for another front is left out, because it is there for the template's own front, too.
pub fn tasks<'c>(
    writer: &Writer<'_, '_>,
    cases: &[&'c Case],
) -> Vec<Result<Task<'c>, Box<ReturnedMessage>>> {
    let dialect = writer.dialect();
    let cases = cases.iter().copied();
    let cases = cases.filter(|case| case.front.is_none() && case.is_for(dialect));
    let tasks = cases.flat_map(|case| {
        let answers = writer.answers(case);
        let tasks = answers.map(move |answer| {
            let unread = |returned| {
                Box::new(ReturnedMessage {
                    id: name(&case.id, answer.index),
                    text: None,
                    is_whole: false,
                    returned,
                    streamed: None,
                    other_prompt: None,
                })
            };
            match answer.outcome {
                Written::Text {
                    prompt,
                    text,
                    setting,
                } => {
                    let form = |form| writer.end_tokens.form(&text, form);
                    let ended = form(Form::Ended).unwrap_or(&text).to_owned();
                    let bare = form(Form::Bare);
                    Ok(Task {
                        ended,
                        case,
                        index: answer.index,
                        meant: answer.meant,
                        prompt,
                        text: bare.unwrap_or(&text).to_owned(),
                        setting,
                    })
                }
                Written::DoesNotContinue => Err(unread(Returned::DoesNotContinue)),
                Written::Refused(outcome) => Err(unread(Returned::WithoutPrompt(outcome))),
            }
        });
        tasks.collect::<Vec<_>>()
    });
    tasks.collect()
}

fn name(case: &CaseId, index: usize) -> MessageId {
    MessageId {
        case: case.clone(),
        index,
    }
}

/// A parser for each chat template: none for a template without a response template.
pub type ParserOf<'r> =
    dyn Fn(&Template) -> Option<Box<dyn TemplateReader + 'r>> + Send + Sync + 'r;

/// Parsers without the rest of a server.
pub struct Parsers<'r> {
    pub name: String,
    pub version: String,
    pub parser: Box<ParserOf<'r>>,
    /// Whether it gets the end token, too, as the model writes it. Servers return the text without.
    pub gets_end_token: bool,
}

impl Recipient for Parsers<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn returned(&self, writer: &Writer<'_, '_>, cases: &[&Case]) -> Vec<ReturnedMessage> {
        let parser = (self.parser)(writer.template());
        let tasks = tasks(writer, cases).into_iter();
        let done = tasks.map(|task| {
            let task = match task {
                Ok(task) => task,
                Err(unread) => return *unread,
            };
            let Some(parser) = &parser else {
                return task.done(Returned::Refused("no response template".to_owned()));
            };
            let answer = Answer {
                prompt: &task.prompt,
                text: if self.gets_end_token {
                    &task.ended
                } else {
                    &task.text
                },
                tools: task.case.tools.as_deref(),
            };
            let outcome = parser.read(&answer, &variables(task.case, task.setting));
            let streamed = parser.read_streamed(&answer);
            let streamed = streamed.filter(|streamed| !streamed.agrees(&outcome));
            let mut done = task.done(returned(outcome, &task));
            done.streamed = streamed.and_then(|it| it.message().cloned());
            done
        });
        done.collect()
    }
}

fn returned(outcome: ReadOutcome, task: &Task<'_>) -> Returned {
    match outcome {
        ReadOutcome::Read { message } => Returned::message(message, &task.meant, &task.text),
        ReadOutcome::Failed { kind, .. } => Returned::Failed(kind),
        ReadOutcome::Exceeded { limit } => {
            Returned::Failed(format!("over the limit of {}", limit.name()))
        }
        ReadOutcome::Unsupported { message } => Returned::Refused(message),
        ReadOutcome::Crashed { message } => Returned::Failed(message),
        ReadOutcome::NotAsked { message } => Returned::NotAsked(message),
    }
}
