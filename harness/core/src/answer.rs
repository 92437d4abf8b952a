//! Answers of models, and the programs that read them as messages.

use serde_json::{Map, Number, Value};

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
        /// The message in the form of `parse_response`: `role`, `content`, `tool_calls`.
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
    /// The reader cannot do what the response template asks for, or has no parser for the chat
    /// template.
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
    /// Reads one answer with a response template, as transformers' `parse_response` does.
    fn read(&self, response_template: &Value, answer: &Answer<'_>) -> ReadOutcome;

    /// Reads one answer character by character, as it comes from a server that streams. None if the
    /// reader reads only whole answers.
    fn read_streamed(
        &self,
        _response_template: &Value,
        _answer: &Answer<'_>,
    ) -> Option<ReadOutcome> {
        None
    }
}

/// Reads the answers to the prompts of one chat template: with its response template, or with parsers
/// of its own, as a server does.
pub trait TemplateReader: Send + Sync {
    /// Reads one answer. The variables are those of its conversation.
    fn read(&self, answer: &Answer<'_>, variables: &Map<String, Value>) -> ReadOutcome;

    /// Reads one answer character by character, as [`AnswerReader::read_streamed`] does.
    fn read_streamed(&self, _answer: &Answer<'_>) -> Option<ReadOutcome> {
        None
    }

    /// Whether it gets answers as a server does, which cuts off what comes after the end.
    fn is_server(&self) -> bool {
        true
    }
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
            ReadOutcome::Read { message } => format!("read {}", canonical(message)),
            ReadOutcome::Failed { kind, .. } => format!("failed {kind}"),
            ReadOutcome::Exceeded { limit } => format!("exceeded {}", limit.name()),
            ReadOutcome::Unsupported { .. } => "unsupported".to_owned(),
            ReadOutcome::Crashed { .. } => "crashed".to_owned(),
            ReadOutcome::NotAsked { .. } => "not asked".to_owned(),
        }
    }
}

/// A value in which each float is written in the same way, whoever wrote it: Python's `1e-07` is
/// Rust's `1e-7`. Integers keep their digits.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            let is_float = text.contains(['.', 'e', 'E']);
            let float = is_float
                .then(|| Number::from_f64(text.parse().ok()?))
                .flatten();
            Value::Number(float.unwrap_or_else(|| number.clone()))
        }
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(name, value)| (name.clone(), canonical(value)))
                .collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_may_be_written_in_several_ways() {
        let read = |text: &str| ReadOutcome::Read {
            message: serde_json::from_str(text).unwrap(),
        };
        assert!(read(r#"{"a": [1e-07]}"#).agrees(&read(r#"{"a": [1e-7]}"#)));
        assert!(read(r#"{"a": 1e+22}"#).agrees(&read(r#"{"a": 1e22}"#)));
        for other in [r#"{"a": 1}"#, r#"{"a": "1.0"}"#, r#"{"b": 1.0}"#] {
            assert!(!read(r#"{"a": 1.0}"#).agrees(&read(other)), "{other}");
        }
        assert!(!read(r#"{"a": 1, "b": 2}"#).agrees(&read(r#"{"b": 2, "a": 1}"#)));
        let long = r#"{"a": 123456789012345678901234567890}"#;
        assert!(
            read(long)
                .essence()
                .contains("123456789012345678901234567890")
        );
    }

    #[test]
    fn errors_agree_by_their_kind() {
        let failed = |kind: &str, message: &str| ReadOutcome::Failed {
            kind: kind.into(),
            message: message.into(),
        };
        assert!(failed("ValueError", "a").agrees(&failed("ValueError", "b")));
        assert!(!failed("ValueError", "a").agrees(&failed("KeyError", "a")));
        let message = "a".to_owned();
        assert!(!failed("ValueError", "a").agrees(&ReadOutcome::Unsupported { message }));
    }
}
