//! Answers of models, and the programs that read them as messages.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::outcome::Limit;

/// A text that a model wrote, and what it was written after.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer<'a> {
    /// The prompt, with the opening of the assistant's turn. A template may begin the answer in it,
    /// for example with `<think>`.
    pub prompt: &'a str,
    /// What the model wrote after the prompt.
    pub text: &'a str,
    /// The tools that the model had.
    pub tools: Option<&'a [Value]>,
}

/// What reading an answer gave.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadOutcome {
    /// A message, as an object. Python's values that JSON lacks are written as `rolecall-response`
    /// writes them.
    Read {
        /// The message.
        message: Value,
    },
    /// The reader refuses the response template, or the answer does not fit it.
    Failed {
        /// The kind of the error, as Python names it, such as `ValueError`.
        kind: String,
        /// What the reader says.
        message: String,
    },
    /// A limit ran out.
    Exceeded {
        /// Which one.
        limit: Limit,
    },
    /// The reader cannot do what the response template asks for.
    Unsupported {
        /// What that is.
        message: String,
    },
    /// The reader broke.
    Crashed {
        /// How.
        message: String,
    },
    /// The reader was given up before.
    NotAsked {
        /// Why.
        message: String,
    },
}

/// Reads answers with response templates.
pub trait AnswerReader: Send + Sync {
    /// Its name, such as `rolecall-response`.
    fn name(&self) -> &str;

    /// Its version; empty if it has none.
    fn version(&self) -> &str;

    /// The parts that it is made of, each with its version.
    fn components(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Reads one answer.
    fn read(&self, response_template: &Value, answer: &Answer<'_>) -> ReadOutcome;
}

impl ReadOutcome {
    /// The message, if there is one.
    pub fn message(&self) -> Option<&Value> {
        match self {
            ReadOutcome::Read { message } => Some(message),
            _ => None,
        }
    }

    /// Whether two readers did the same: both read the same message, or both refused the answer
    /// with the same kind of error. The words of errors may differ.
    pub fn agrees(&self, other: &ReadOutcome) -> bool {
        self.essence() == other.essence()
    }

    /// What has to be the same for two outcomes to agree, as a line of text.
    pub fn essence(&self) -> String {
        match self {
            // Its keys have an order, so equal texts are equal messages.
            ReadOutcome::Read { message } => format!("read {message}"),
            ReadOutcome::Failed { kind, .. } => format!("failed {kind}"),
            ReadOutcome::Exceeded { limit } => format!("exceeded {}", limit.name()),
            ReadOutcome::Unsupported { .. } => "unsupported".to_owned(),
            ReadOutcome::Crashed { .. } => "crashed".to_owned(),
            ReadOutcome::NotAsked { .. } => "not asked".to_owned(),
        }
    }
}
