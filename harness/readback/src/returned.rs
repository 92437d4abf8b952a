//! What comes back of a message from somebody who reads answers: a parser, or a whole server.

use rolecall_model::{
    Answer, AnswerReader, Case, CaseId, Outcome, ReadOutcome, Template, TemplateReader,
};
use serde_json::Value;

use crate::comparison::{Difference, Verdict, compare};
use crate::ending::Form;
use crate::meaning::{Call, Meaning};
use crate::reading::MessageId;
use crate::written::{Writer, Written, variables};

/// Somebody who reads the answers of models back as messages.
pub trait Recipient: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Its version.
    fn version(&self) -> &str;

    /// What comes back of the answers that a template writes in some cases.
    fn returned(&self, writer: &Writer<'_, '_>, cases: &[&Case]) -> Vec<ReturnedMessage>;
}

/// An assistant's message of a case, and what came back of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReturnedMessage {
    /// The message's name.
    pub id: MessageId,
    /// The text that the model has to write, if the template writes one.
    pub text: Option<String>,
    /// Whether all that is meant is in the text, so that a reader can find it.
    pub is_whole: bool,
    /// What came back.
    pub returned: Returned,
    /// The message that comes back if it is streamed, if that is another one.
    pub streamed: Option<Value>,
    /// The recipient's own prompt, if it is not that of the reference.
    pub other_prompt: Option<String>,
}

impl ReturnedMessage {
    /// Whether the recipient is to blame for something.
    pub fn is_fault(&self) -> bool {
        self.returned.kind().is_fault() || self.streamed.is_some()
    }

    /// What is wrong, as a text that is the same for messages with one cause: the kind, and how the
    /// parts of the message differ or what the recipient says.
    pub fn cause(&self) -> String {
        let mut words = self.returned.kind().name().to_owned();
        if let Some(cause) = self.returned.cause() {
            words = format!("{words}: {cause}");
        }
        if self.streamed.is_some() {
            words.push_str(", and otherwise when streamed");
        }
        words
    }
}

/// What came back of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Returned {
    /// A message.
    Message {
        /// The message.
        message: Value,
        /// How well it was read back.
        verdict: Verdict,
        /// What is not as it was meant.
        differences: Vec<Difference>,
    },
    /// The recipient refuses the template or the conversation, in these words.
    Refused(String),
    /// The recipient does not let the model write the text. This is what came out instead.
    Forbidden(String),
    /// The recipient fails, in these words.
    Failed(String),
    /// The recipient was given up before, and why.
    NotAsked(String),
    /// It cannot be tested in this way, and why.
    Untested(String),
    /// The finished turn does not continue its prompt, so nobody knows what the model has to write.
    DoesNotContinue,
    /// The chat template gives no prompt.
    WithoutPrompt(Outcome),
}

/// The kinds of what comes back, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The message as it was meant.
    ReadBack,
    /// The message, but for white space at the ends of its texts.
    ButForWhiteSpace,
    /// A message without what the chat template does not write.
    NotWritten,
    /// Another message.
    Changed,
    /// The model may not write the text.
    Forbidden,
    /// A refusal.
    Refused,
    /// A failure.
    Failed,
    /// Nothing, because nobody asked any more.
    NotAsked,
    /// Nothing, because this cannot be tested.
    Untested,
    /// Nothing, because the finished turn does not continue its prompt.
    DoesNotContinue,
    /// Nothing, because there is no prompt.
    WithoutPrompt,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 11] = [
        Kind::ReadBack,
        Kind::ButForWhiteSpace,
        Kind::NotWritten,
        Kind::Changed,
        Kind::Forbidden,
        Kind::Refused,
        Kind::Failed,
        Kind::NotAsked,
        Kind::Untested,
        Kind::DoesNotContinue,
        Kind::WithoutPrompt,
    ];

    /// The words for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ReadBack => Verdict::ReadBack.name(),
            Kind::ButForWhiteSpace => Verdict::ButForWhiteSpace.name(),
            Kind::NotWritten => Verdict::NotWritten.name(),
            Kind::Changed => Verdict::Changed.name(),
            Kind::Forbidden => "forbidden by the grammar",
            Kind::Refused => "refused",
            Kind::Failed => Verdict::Failed.name(),
            Kind::NotAsked => "not asked",
            Kind::Untested => "cannot be tested",
            Kind::DoesNotContinue => "do not continue the prompt",
            Kind::WithoutPrompt => "without a prompt",
        }
    }

    /// Its name in files: lower-case words with dashes.
    pub fn key(self) -> &'static str {
        match self {
            Kind::ReadBack => "read-back",
            Kind::ButForWhiteSpace => "white-space",
            Kind::NotWritten => "not-written",
            Kind::Changed => "changed",
            Kind::Forbidden => "forbidden",
            Kind::Refused => "refused",
            Kind::Failed => "failed",
            Kind::NotAsked => "not-asked",
            Kind::Untested => "untested",
            Kind::DoesNotContinue => "not-continuing",
            Kind::WithoutPrompt => "without-prompt",
        }
    }

    /// The kind with a name in files.
    pub fn of_key(key: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.key() == key)
    }

    /// Whether the message is as it was meant, but perhaps for white space.
    pub fn is_back(self) -> bool {
        matches!(self, Kind::ReadBack | Kind::ButForWhiteSpace)
    }

    /// Whether the recipient is to blame.
    pub fn is_fault(self) -> bool {
        matches!(
            self,
            Kind::Changed | Kind::Forbidden | Kind::Refused | Kind::Failed | Kind::NotAsked
        )
    }
}

impl Returned {
    /// A message that came back for one that was meant, whose text is known.
    pub fn message(message: Value, meant: &Meaning, text: &str) -> Returned {
        let (verdict, differences) = match Meaning::of(&message) {
            Some(read) => compare(meant, &read, text),
            // Its fields have other types than those of messages.
            None => (Verdict::Changed, Vec::new()),
        };
        Returned::Message {
            message,
            verdict,
            differences,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Returned::Message { verdict, .. } => match verdict {
                Verdict::ReadBack => Kind::ReadBack,
                Verdict::ButForWhiteSpace => Kind::ButForWhiteSpace,
                Verdict::NotWritten => Kind::NotWritten,
                Verdict::Changed => Kind::Changed,
                Verdict::Failed => Kind::Failed,
                Verdict::Unsupported => Kind::Refused,
            },
            Returned::Refused(_) => Kind::Refused,
            Returned::Forbidden(_) => Kind::Forbidden,
            Returned::Failed(_) => Kind::Failed,
            Returned::NotAsked(_) => Kind::NotAsked,
            Returned::Untested(_) => Kind::Untested,
            Returned::DoesNotContinue => Kind::DoesNotContinue,
            Returned::WithoutPrompt(_) => Kind::WithoutPrompt,
        }
    }

    /// Why it is not as it was meant, as a short text that is the same for messages with one cause:
    /// how its parts differ, or the words of a refusal. None if nothing is wrong.
    pub fn cause(&self) -> Option<String> {
        match self {
            Returned::Message { differences, .. } => {
                let words = differences.iter().map(|it| {
                    let part = it.part.kind();
                    format!("{part} {}", it.change.name())
                });
                let mut words: Vec<String> = words.collect();
                words.sort();
                words.dedup();
                (!words.is_empty()).then(|| words.join(", "))
            }
            Returned::Refused(words) | Returned::Failed(words) | Returned::NotAsked(words) => {
                Some(essence(words).to_owned())
            }
            Returned::Forbidden(_)
            | Returned::Untested(_)
            | Returned::DoesNotContinue
            | Returned::WithoutPrompt(_) => None,
        }
    }
}

/// The part of an error's words that says what is wrong: what follows the last `error:`, to the end of
/// its line. Other words are their own essence.
pub fn essence(words: &str) -> &str {
    const MARK: &str = "rror: ";
    let ends = words.rmatch_indices(MARK).map(|(at, _)| at + MARK.len());
    let lines = ends.filter_map(|end| words.get(end..)?.lines().next());
    // An exception without words says nothing.
    let mut lines = lines.map(str::trim);
    let found = lines.find(|line| !matches!(*line, "" | "std::exception"));
    found.unwrap_or(words.trim())
}

/// How many messages are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KindCounts([usize; Kind::ALL.len()]);

impl KindCounts {
    /// The counts of some messages.
    pub fn of(messages: &[ReturnedMessage]) -> KindCounts {
        let mut counts = KindCounts::default();
        for message in messages {
            counts.add(message.returned.kind(), 1);
        }
        counts
    }

    /// Counts more messages of a kind.
    pub fn add(&mut self, kind: Kind, count: usize) {
        self.0[kind as usize] += count;
    }

    /// Adds other counts.
    pub fn add_all(&mut self, other: &KindCounts) {
        for kind in Kind::ALL {
            self.add(kind, other.count(kind));
        }
    }

    /// How many there are of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.0[kind as usize]
    }

    /// The kinds that there are, with their counts.
    pub fn words(&self) -> Vec<(Kind, usize)> {
        let all = Kind::ALL.map(|kind| (kind, self.count(kind)));
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    /// How many there are of all kinds.
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }

    /// How many messages the template writes so that they could be read back.
    pub fn readable(&self) -> usize {
        let unread = [Kind::Untested, Kind::DoesNotContinue, Kind::WithoutPrompt];
        self.total() - unread.map(|kind| self.count(kind)).iter().sum::<usize>()
    }
}

/// A text that a model has to write, and where it belongs.
#[derive(Debug, Clone)]
pub struct Task<'c> {
    /// The case.
    pub case: &'c Case,
    /// The index of the message in the case.
    pub index: usize,
    /// What is meant.
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
    /// The name of the message.
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

/// A parser as a recipient.
pub struct Parser<'r> {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The parser.
    pub reader: &'r dyn AnswerReader,
    /// Whether it gets the end token, too, as the model writes it. Servers return the text without.
    pub gets_end_token: bool,
    /// Whether the parser brings its own knowledge of templates. Otherwise a template without a
    /// response template is refused.
    pub has_own_templates: bool,
}

impl Recipient for Parser<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn returned(&self, writer: &Writer<'_, '_>, cases: &[&Case]) -> Vec<ReturnedMessage> {
        let tasks = tasks(writer, cases).into_iter();
        let done = tasks.map(|task| {
            let task = match task {
                Ok(task) => task,
                Err(unread) => return *unread,
            };
            let response_template = writer.response_template();
            let response_template = match response_template {
                Some(response_template) => response_template,
                None if self.has_own_templates => &Value::Null,
                None => return task.done(Returned::Refused("no response template".to_owned())),
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
            let outcome = self.reader.read(response_template, &answer);
            let streamed = self.reader.read_streamed(response_template, &answer);
            let streamed = streamed.filter(|streamed| !streamed.agrees(&outcome));
            let mut done = task.done(returned(outcome, &task));
            done.streamed = streamed.and_then(|it| it.message().cloned());
            done
        });
        done.collect()
    }
}

/// A program as a recipient that chooses its parser by the chat template, as a server does.
pub struct OwnParsers<'r> {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The parser for a template.
    pub parser: &'r (dyn Fn(&Template) -> Box<dyn TemplateReader + 'r> + Send + Sync),
}

impl Recipient for OwnParsers<'_> {
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
            let answer = Answer {
                prompt: &task.prompt,
                text: &task.text,
                tools: task.case.tools.as_deref(),
            };
            let outcome = parser.read(&answer, &variables(task.case, task.setting));
            task.done(returned(outcome, &task))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_essence_is_what_is_wrong() {
        for (words, essence_) in [
            ("it is so", "it is so"),
            ("While executing\nError: no `x`\n", "no `x`"),
            (
                "1 E init: error: raw\n2 E init: parsing error: std::exception\nbye",
                "raw",
            ),
            ("error: ", "error:"),
        ] {
            assert_eq!(essence(words), essence_, "{words}");
        }
    }

    #[test]
    fn messages_with_one_cause_have_the_same_words() {
        let returned = |arguments| {
            let message =
                |arguments: Value| json!({"tool_calls": [{"name": "f", "arguments": arguments}]});
            let meant = Meaning::of(&message(json!({"a": "1", "b": "2"}))).unwrap();
            Returned::message(message(arguments), &meant, "f a 1 b 2")
        };
        let one = returned(json!({"a": 1, "b": "2"}));
        let other = returned(json!({"a": 1, "b": 2}));
        assert_eq!(one.kind(), Kind::Changed);
        assert_eq!(one.cause().as_deref(), Some("argument another type"));
        assert_eq!(one.cause(), other.cause());
        assert_eq!(returned(json!({"a": "1", "b": "2"})).cause(), None);
    }

    #[test]
    fn kinds_have_names_in_files() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of_key(kind.key()), Some(kind));
        }
        assert_eq!(Kind::of_key("other"), None);
    }
}
