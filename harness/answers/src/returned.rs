//! What comes back of a message from somebody who reads answers: a parser, or a whole server.

use rolecall_core::Outcome;
use serde_json::Value;

use crate::cause;
use crate::comparison::{Difference, Verdict, compare};
use crate::meaning::Meaning;
use crate::reading::MessageId;

/// An assistant's message of a case, and what came back of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReturnedMessage {
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
    Message {
        message: Value,
        /// How well it was parsed.
        verdict: Verdict,
        /// The differences from the intended message.
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
    Refused,
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
            Returned::Message { differences, .. } => cause::kinds(differences.iter()),
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

    /// How many messages the template writes so that they could be parsed.
    pub fn readable(&self) -> usize {
        let unread = [Kind::Untested, Kind::DoesNotContinue, Kind::WithoutPrompt];
        self.total() - unread.map(|kind| self.count(kind)).iter().sum::<usize>()
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
        assert_eq!(one.cause().as_deref(), Some("argument: another type"));
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
