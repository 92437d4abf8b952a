//! An outcome as JSON: its keys in reports, saved runs and engines' answers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use rolecall_core::{Limit, Outcome, OutcomeKind, Stage};

/// An outcome as keys of a JSON object. The object may have other keys too.
///
/// A writer embeds it with `#[serde(flatten)]`. A reader does not: flattening loses the positions
/// of mistakes and the exact digits of numbers. It reads the text twice: once for these keys and
/// once for its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeJson<'o> {
    /// `rendered`, `raised`, `failed`, `exceeded`, `crashed` or `not asked`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    outcome: Option<Cow<'o, str>>,
    /// The prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'o, str>>,
    /// The words of a refusal, a failure or a crash.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Cow<'o, str>>,
    /// Where it failed: `input`, `parse` or `render`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<Cow<'o, str>>,
    /// The template's line at which it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The limit that ran out.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Cow<'o, str>>,
}

/// Why the keys of an object are not an outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOutcome {
    /// A key of the outcome is missing.
    #[error("no `{0}`")]
    Missing(&'static str),
    /// A key has a value that Rolecall does not know.
    #[error("no {key} is named `{name}`")]
    Unknown {
        /// `outcome`, `stage` or `limit`.
        key: &'static str,
        /// The name.
        name: String,
    },
}

impl<'o> From<&'o Outcome> for OutcomeJson<'o> {
    fn from(outcome: &'o Outcome) -> OutcomeJson<'o> {
        let words = outcome.text();
        let mut json = OutcomeJson {
            outcome: Some(outcome.kind().name().into()),
            text: None,
            message: None,
            stage: None,
            line: None,
            limit: None,
        };
        match outcome {
            Outcome::Rendered { .. } => json.text = Some(words.into()),
            // A limit has no words of its own, so its name is not given a second time as a message.
            Outcome::Exceeded { .. } => json.limit = Some(words.into()),
            _ => json.message = Some(words.into()),
        }
        if let Outcome::Failed { stage, line, .. } = outcome {
            json.stage = Some(stage.name().into());
            json.line = *line;
        }
        json
    }
}

impl OutcomeJson<'_> {
    /// Reads the outcome from the keys. It ignores keys that belong to other outcomes.
    ///
    /// # Errors
    ///
    /// A key is missing, or has a value that Rolecall does not know.
    pub fn outcome(self) -> Result<Outcome, InvalidOutcome> {
        let message = || text(self.message, "message");
        let kind = named(self.outcome, "outcome", OutcomeKind::named)?;
        Ok(match kind {
            OutcomeKind::Rendered => Outcome::Rendered {
                text: text(self.text, "text")?,
            },
            OutcomeKind::Raised => Outcome::Raised {
                message: message()?,
            },
            OutcomeKind::Failed => Outcome::Failed {
                stage: named(self.stage, "stage", Stage::named)?,
                message: message()?,
                line: self.line,
            },
            OutcomeKind::Exceeded => Outcome::Exceeded {
                limit: named(self.limit, "limit", Limit::named)?,
            },
            OutcomeKind::Crashed => Outcome::Crashed {
                message: message()?,
            },
            OutcomeKind::NotAsked => Outcome::NotAsked {
                message: message()?,
            },
        })
    }
}

fn text(value: Option<Cow<'_, str>>, key: &'static str) -> Result<String, InvalidOutcome> {
    let value = value.ok_or(InvalidOutcome::Missing(key))?;
    Ok(value.into_owned())
}

fn named<T>(
    value: Option<Cow<'_, str>>,
    key: &'static str,
    find: fn(&str) -> Option<T>,
) -> Result<T, InvalidOutcome> {
    let name = text(value, key)?;
    find(&name).ok_or(InvalidOutcome::Unknown { key, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_read_as_it_was_written() {
        let message = String::from("No.");
        for (outcome, json) in [
            (
                Outcome::Rendered { text: "a\n".into() },
                r#"{"outcome":"rendered","text":"a\n"}"#,
            ),
            (
                Outcome::Raised {
                    message: message.clone(),
                },
                r#"{"outcome":"raised","message":"No."}"#,
            ),
            (
                Outcome::Failed {
                    stage: Stage::Parse,
                    message: message.clone(),
                    line: Some(3),
                },
                r#"{"outcome":"failed","message":"No.","stage":"parse","line":3}"#,
            ),
            (
                Outcome::Failed {
                    stage: Stage::Input,
                    message: message.clone(),
                    line: None,
                },
                r#"{"outcome":"failed","message":"No.","stage":"input"}"#,
            ),
            (
                Outcome::Exceeded {
                    limit: Limit::Output,
                },
                r#"{"outcome":"exceeded","limit":"output"}"#,
            ),
            (
                Outcome::Crashed {
                    message: message.clone(),
                },
                r#"{"outcome":"crashed","message":"No."}"#,
            ),
            (
                Outcome::NotAsked { message },
                r#"{"outcome":"not asked","message":"No."}"#,
            ),
        ] {
            let written = serde_json::to_string(&OutcomeJson::from(&outcome)).unwrap();
            assert_eq!(written, json);
            let read: OutcomeJson<'_> = serde_json::from_str(json).unwrap();
            assert_eq!(read.outcome(), Ok(outcome));
        }
    }

    #[test]
    fn what_is_no_outcome_says_why() {
        for (json, words) in [
            ("{}", "no `outcome`"),
            (r#"{"outcome":"fine"}"#, "no outcome is named `fine`"),
            (r#"{"outcome":"rendered","message":""}"#, "no `text`"),
            (r#"{"outcome":"failed","message":""}"#, "no `stage`"),
            (
                r#"{"outcome":"exceeded","limit":"luck"}"#,
                "no limit is named `luck`",
            ),
        ] {
            let read: OutcomeJson<'_> = serde_json::from_str(json).unwrap();
            assert_eq!(read.outcome().unwrap_err().to_string(), words);
        }
    }
}
