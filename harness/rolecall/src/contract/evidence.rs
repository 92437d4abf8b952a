//! What shows that a contract is broken.

use std::borrow::Cow;
use std::ops::Range;

use rolecall_model::{Case, Outcome, Stage};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::severity::Severity;
use crate::diff::Diff;
use crate::probe::Seen;
use crate::transcript;

/// What shows that a contract is broken: a sentence, and the renders.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, JsonSchema)]
pub struct Evidence {
    /// What is wrong, in plain words.
    pub what: String,
    /// How bad this is, where it is not as bad as its contract says, or worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// One render, or two that should have something in common. None where the source of the
    /// template shows it.
    pub renders: Vec<Render>,
    /// The bytes of the one prompt that show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Range<usize>>,
    /// The line of the template that shows it.
    #[serde(rename = "line", skip_serializing_if = "Option::is_none")]
    pub source_line: Option<usize>,
    /// The byte at which two renders part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts_at: Option<usize>,
    /// How two renders should have stood to each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Relation>,
}

/// How two renders should have stood to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The same.
    Same,
    /// The second begins with the first.
    Prefix,
}

/// What a template made of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Render {
    /// The probe's name.
    pub probe: &'static str,
    /// What the probe is.
    pub about: &'static str,
    /// What was asked: `messages`, and where there are some `tools`, `documents`, and
    /// `add_generation_prompt` where it is false.
    pub conversation: Value,
    /// What the template made of it.
    pub outcome: Outcome,
}

impl Evidence {
    /// That the source of the template shows.
    pub(super) fn of_source(what: impl Into<String>) -> Evidence {
        Evidence {
            what: what.into(),
            severity: None,
            renders: Vec::new(),
            at: None,
            source_line: None,
            parts_at: None,
            expected: None,
        }
    }

    /// That one render shows.
    pub(super) fn one(what: impl Into<String>, seen: &Seen) -> Evidence {
        Evidence {
            renders: vec![Render::of(seen)],
            ..Evidence::of_source(what)
        }
    }

    /// The same, shown by this line of the template.
    pub(super) fn in_line(self, source_line: Option<usize>) -> Evidence {
        Evidence {
            source_line,
            ..self
        }
    }

    /// The same, shown by these bytes of the prompt.
    pub(super) fn at(self, at: Option<Range<usize>>) -> Evidence {
        Evidence { at, ..self }
    }

    /// The same, as bad as this.
    pub(super) fn with(self, severity: Severity) -> Evidence {
        Evidence {
            severity: Some(severity),
            ..self
        }
    }

    /// That two renders show which are not the same.
    pub(super) fn differ(what: impl Into<String>, first: &Seen, second: &Seen) -> Evidence {
        Evidence::two(what, first, second, Relation::Same)
    }

    /// That two renders show of which the second does not begin with the first.
    pub(super) fn no_prefix(what: impl Into<String>, first: &Seen, second: &Seen) -> Evidence {
        Evidence::two(what, first, second, Relation::Prefix)
    }

    fn two(what: impl Into<String>, first: &Seen, second: &Seen, expected: Relation) -> Evidence {
        let parts_at = match (first.text(), second.text()) {
            (Some(first), Some(second)) => Some(common(first, second)),
            _ => None,
        };
        Evidence {
            renders: vec![Render::of(first), Render::of(second)],
            parts_at,
            expected: Some(expected),
            ..Evidence::of_source(what)
        }
    }

    /// The line of the template that shows this, or at which a conversation failed, where an engine
    /// said so.
    pub fn line(&self) -> Option<usize> {
        if self.source_line.is_some() {
            return self.source_line;
        }
        let mut outcomes = self.renders.iter().map(|render| &render.outcome);
        outcomes.find_map(|outcome| match outcome {
            Outcome::Failed {
                stage: Stage::Parse | Stage::Render,
                line,
                ..
            } => *line,
            _ => None,
        })
    }

    /// The difference of two renders. Where the second should have begun with the first,
    /// only its beginning counts.
    pub fn diff(&self) -> Option<Diff> {
        let [first, second] = self.renders.as_slice() else {
            return None;
        };
        let second = match (&first.outcome, &second.outcome, self.expected) {
            (
                Outcome::Rendered { text: first },
                Outcome::Rendered { text: second },
                Some(Relation::Prefix),
            ) => Outcome::Rendered {
                text: second[..second.floor_char_boundary(first.len())].to_owned(),
            },
            (_, other, _) => other.clone(),
        };
        Some(Diff::new(
            &transcript::encode(&first.outcome),
            &transcript::encode(&second),
        ))
    }
}

impl Render {
    /// What was seen of a probe.
    pub fn of(seen: &Seen) -> Render {
        Render {
            probe: seen.probe,
            about: seen.about,
            conversation: conversation(&seen.asked),
            outcome: seen.outcome.clone(),
        }
    }
}

/// What of a case was asked.
fn conversation(case: &Case) -> Value {
    let mut asked = Map::new();
    asked.insert("messages".to_owned(), case.messages.clone().into());
    for (name, items) in [("tools", &case.tools), ("documents", &case.documents)] {
        if let Some(items) = items {
            asked.insert(name.to_owned(), items.clone().into());
        }
    }
    if !case.add_generation_prompt {
        asked.insert("add_generation_prompt".to_owned(), false.into());
    }
    asked.into()
}

/// A render as JSON.
#[derive(Default, serde::Serialize, JsonSchema)]
struct Object<'r> {
    /// The probe's name.
    probe: &'r str,
    /// What the probe is.
    about: &'r str,
    /// What was asked: `messages`, and where there are some `tools`, `documents`, and
    /// `add_generation_prompt` where it is false.
    conversation: Value,
    /// `rendered`, `raised`, `failed`, `exceeded`, `crashed` or `not asked`.
    outcome: &'r str,
    /// The prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'r str>,
    /// The words of a refusal, a failure or a crash.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'r str>,
    /// Where it failed: `input`, `parse` or `render`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'r str>,
    /// The template's line at which it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The limit that ran out.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'r str>,
}

/// `{"probe", "about", "conversation", "outcome", "text"|"message", "stage"?, "line"?, "limit"?}`, as in
/// the lines of `render --format jsonl`.
impl Serialize for Render {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = Object {
            probe: self.probe,
            about: self.about,
            conversation: self.conversation.clone(),
            outcome: self.outcome.kind().name(),
            ..Object::default()
        };
        match &self.outcome {
            Outcome::Rendered { text } => object.text = Some(text),
            Outcome::Raised { message }
            | Outcome::Crashed { message }
            | Outcome::NotAsked { message } => {
                object.message = Some(message);
            }
            Outcome::Failed {
                stage,
                message,
                line,
            } => {
                object.stage = Some(stage.name());
                object.message = Some(message);
                object.line = *line;
            }
            Outcome::Exceeded { limit } => object.limit = Some(limit.name()),
        }
        object.serialize(serializer)
    }
}

impl JsonSchema for Render {
    fn schema_name() -> Cow<'static, str> {
        "Render".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Object::json_schema(generator)
    }
}

/// How many bytes two texts have in common at their beginning.
pub(super) fn common(first: &str, second: &str) -> usize {
    let same = first
        .bytes()
        .zip(second.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    first.floor_char_boundary(same)
}
