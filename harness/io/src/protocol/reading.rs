//! Answers to `parse`: what a program has read from the text of a model.

use rolecall_core::{Limit, ReadOutcome};
use serde::Deserialize;
use serde_json::Value;

use super::message::{AnswerHead, parse, shown};

/// The fields of an answer to `parse`.
#[derive(Debug, Deserialize)]
struct ReadingLine {
    outcome: Option<String>,
    /// An object if the outcome is `read`, otherwise the words of a failure.
    message: Option<Value>,
    kind: Option<String>,
    limit: Option<String>,
}

/// Reads the answer to the request of an ID. The error says what is wrong with the line.
pub(super) fn read_message(line: &[u8], asked: u64) -> Result<ReadOutcome, String> {
    AnswerHead::read(line, asked)?;
    let answer: ReadingLine = parse(line, "an answer")?;
    let missing = |key: &str| format!("an answer without `{key}`: {}", shown(line));
    let words = |message: Option<Value>| match message {
        Some(Value::String(words)) => Ok(words),
        Some(_) => Err(format!(
            "an answer whose `message` is no text: {}",
            shown(line)
        )),
        None => Err(missing("message")),
    };
    let outcome = answer.outcome.ok_or_else(|| missing("outcome"))?;
    Ok(match outcome.as_str() {
        "read" => match answer.message {
            Some(message @ Value::Object(_)) => ReadOutcome::Read { message },
            Some(_) => {
                return Err(format!(
                    "an answer whose `message` is no object: {}",
                    shown(line)
                ));
            }
            None => return Err(missing("message")),
        },
        "failed" => ReadOutcome::Failed {
            kind: answer.kind.ok_or_else(|| missing("kind"))?,
            message: words(answer.message)?,
        },
        "unsupported" => ReadOutcome::Unsupported {
            message: words(answer.message)?,
        },
        "crashed" => ReadOutcome::Crashed {
            message: words(answer.message)?,
        },
        "exceeded" => {
            let name = answer.limit.ok_or_else(|| missing("limit"))?;
            let limit = Limit::named(&name);
            let limit = limit.ok_or_else(|| format!("an answer with the limit `{name}`"))?;
            ReadOutcome::Exceeded { limit }
        }
        other => return Err(format!("an answer with the outcome `{other}`")),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn outcomes_are_read_or_refused_with_words() {
        let read = |line: &str| read_message(line.as_bytes(), 7);
        assert_eq!(
            read(r#"{"id": 7, "outcome": "read", "message": {"content": "a"}, "events": []}"#),
            Ok(ReadOutcome::Read {
                message: json!({"content": "a"})
            })
        );
        assert_eq!(
            read(r#"{"id": 7, "outcome": "failed", "kind": "ValueError", "message": "m"}"#),
            Ok(ReadOutcome::Failed {
                kind: "ValueError".into(),
                message: "m".into()
            })
        );
        assert_eq!(
            read(r#"{"id": 7, "outcome": "exceeded", "limit": "time"}"#),
            Ok(ReadOutcome::Exceeded { limit: Limit::Time })
        );
        for (line, words) in [
            (
                r#"{"id": 6, "outcome": "read", "message": {}}"#,
                "it answered request 6 instead of 7",
            ),
            (
                r#"{"id": 7, "error": "what?"}"#,
                "it did not understand the request: what?",
            ),
            (r#"{"id": 7}"#, "an answer without `outcome`: "),
            (
                r#"{"id": 7, "outcome": "read", "message": "m"}"#,
                "an answer whose `message` is no object: ",
            ),
            (
                r#"{"id": 7, "outcome": "failed", "message": "m"}"#,
                "an answer without `kind`: ",
            ),
            (
                r#"{"id": 7, "outcome": "failed", "kind": "E", "message": {}}"#,
                "an answer whose `message` is no text: ",
            ),
            (
                r#"{"id": 7, "outcome": "rendered", "text": ""}"#,
                "an answer with the outcome `rendered`",
            ),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.starts_with(words), "{error}");
        }
    }
}
