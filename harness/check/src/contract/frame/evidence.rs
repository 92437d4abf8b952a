//! What shows that a contract is broken.

use std::ops::Range;
use std::sync::Arc;

use rolecall_core::{Case, Cut, Outcome, Stage};
use rolecall_io::outcome_json::OutcomeJson;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::severity::Severity;
use crate::probe::{ProbeOutcome, common};
use rolecall_core::diff::Diff;
use rolecall_core::transcript;

/// What shows that a contract is broken: a sentence, and the renders.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Why two renders part there, by the template's lines and conditions, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// How two renders should have related to each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Relation>,
    /// How many bytes of the first prompt the second should begin with, if not with all of them: the
    /// rest opens an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<usize>,
}

/// How two renders should have related to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The same.
    Same,
    /// The second begins with the first.
    Prefix,
}

/// What a template made of a probe.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Render {
    /// The probe's name.
    pub probe: &'static str,
    /// What the probe is.
    pub about: &'static str,
    /// The question: `messages`, and where there are some `tools`, `documents` and `variables`, and
    /// `add_generation_prompt` where it is false.
    pub conversation: Value,
    /// The case itself, so that a caller can render it again with a trace.
    #[serde(skip)]
    pub asked: Arc<Case>,
    /// What the template made of it.
    #[serde(flatten, serialize_with = "as_json")]
    #[cfg_attr(feature = "schema", schemars(with = "OutcomeJson<'static>"))]
    pub outcome: Outcome,
}

impl Evidence {
    /// Evidence in the source of the template.
    pub(in crate::contract) fn of_source(what: impl Into<String>) -> Evidence {
        Evidence {
            what: what.into(),
            severity: None,
            renders: Vec::new(),
            at: None,
            source_line: None,
            parts_at: None,
            because: None,
            expected: None,
            until: None,
        }
    }

    pub(in crate::contract) fn one(what: impl Into<String>, seen: &ProbeOutcome) -> Evidence {
        Evidence {
            renders: vec![Render::of(seen)],
            ..Evidence::of_source(what)
        }
    }

    /// The same, shown by this line of the template.
    pub(in crate::contract) fn in_line(self, source_line: Option<usize>) -> Evidence {
        Evidence {
            source_line,
            ..self
        }
    }

    /// The same, with the reason why two renders part.
    pub(in crate::contract) fn because(self, because: Option<String>) -> Evidence {
        Evidence { because, ..self }
    }

    /// The same, shown by these bytes of the prompt.
    pub(in crate::contract) fn at(self, at: Option<Range<usize>>) -> Evidence {
        Evidence { at, ..self }
    }

    /// The same, where only so many bytes of the first prompt count.
    pub(in crate::contract) fn until(self, until: usize) -> Evidence {
        let first = self
            .renders
            .first()
            .and_then(|render| match &render.outcome {
                Outcome::Rendered { text } => Some(text.len()),
                _ => None,
            });
        Evidence {
            until: first.is_some_and(|all| until < all).then_some(until),
            ..self
        }
    }

    /// The same, as bad as this.
    pub(in crate::contract) fn with(self, severity: Severity) -> Evidence {
        Evidence {
            severity: Some(severity),
            ..self
        }
    }

    /// Evidence of two renders that should be the same.
    pub(crate) fn differ(
        what: impl Into<String>,
        first: &ProbeOutcome,
        second: &ProbeOutcome,
    ) -> Evidence {
        Evidence::two(what, first, second, Relation::Same)
    }

    /// Evidence of two renders: the second should begin with the first.
    pub(in crate::contract) fn no_prefix(
        what: impl Into<String>,
        first: &ProbeOutcome,
        second: &ProbeOutcome,
    ) -> Evidence {
        Evidence::two(what, first, second, Relation::Prefix)
    }

    fn two(
        what: impl Into<String>,
        first: &ProbeOutcome,
        second: &ProbeOutcome,
        expected: Relation,
    ) -> Evidence {
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

    /// Whether this takes an unusual conversation: what ordinary ones lose comes before it in reports.
    pub(in crate::contract) fn is_unusual(&self) -> bool {
        let mut asked = self.renders.iter().map(|render| &render.asked.messages);
        !asked.all(|messages| is_ordinary(messages))
    }

    /// What is wrong, and where: under a setting, and in a conversation, in words. The words for both
    /// may be empty.
    fn parts(&self) -> [&str; 3] {
        let (setting, rest) = match self.what.strip_prefix("with `") {
            Some(_) => self.what.split_once(": ").unwrap_or(("", &self.what)),
            None => ("", self.what.as_str()),
        };
        let mut abouts = self.renders.iter().map(|render| render.about);
        let about = abouts.find_map(|about| {
            let stem = rest.strip_suffix(about)?.strip_suffix(": ")?;
            Some((stem, about))
        });
        let (stem, about) = about.unwrap_or((rest, ""));
        [setting, stem, about]
    }

    /// Where this is so: in which conversation, and under which setting.
    pub fn place(&self) -> String {
        let [setting, _, about] = self.parts();
        let places = [about, setting]
            .into_iter()
            .filter(|place| !place.is_empty());
        places.collect::<Vec<_>>().join(" ")
    }

    /// Whether this and the other have one cause, as far as their words tell.
    pub(super) fn has_cause_of(&self, other: &Evidence) -> bool {
        let key = |of: &Evidence| {
            let because = of.because.as_deref().unwrap_or_default();
            // The first part names the lines. How much is computed again is an effect, and which
            // message it is depends on the conversation.
            let first = because.split("; ").next().unwrap_or_default();
            let mut pieces = first.split('[');
            let head = pieces.next().unwrap_or_default().to_owned();
            let lines = pieces.fold(head, |all, piece| {
                all + piece.trim_start_matches(|c: char| c.is_ascii_digit())
            });
            let is_effect = first.contains("computed again");
            let cause = if is_effect { String::new() } else { lines };
            (of.parts()[1].to_owned(), of.severity, cause)
        };
        key(self) == key(other)
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
        let (first, second) = match (&first.outcome, &second.outcome, self.expected) {
            (
                Outcome::Rendered { text: first },
                Outcome::Rendered { text: second },
                Some(Relation::Prefix),
            ) => {
                let first = first.cut(..self.until.unwrap_or(first.len()));
                let second = second.cut(..second.floor_char_boundary(first.len()));
                let rendered = |text: &str| Outcome::Rendered {
                    text: text.to_owned(),
                };
                (rendered(first), rendered(second))
            }
            (first, second, _) => (first.clone(), second.clone()),
        };
        Some(Diff::new(
            &transcript::encode(&first),
            &transcript::encode(&second),
        ))
    }
}

impl Render {
    pub fn of(seen: &ProbeOutcome) -> Render {
        Render {
            probe: seen.probe,
            about: seen.about,
            conversation: conversation(&seen.asked),
            asked: Arc::clone(&seen.asked),
            outcome: (*seen.outcome).clone(),
        }
    }
}

/// Whether a conversation is as most are: perhaps instructions, then questions and answers in turn,
/// calls with their results, and all of it as texts.
fn is_ordinary(messages: &[Value]) -> bool {
    let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
    let turns = match messages {
        [first, rest @ ..] if role(first) == "system" => rest,
        all => all,
    };
    let follows = |pair: &[Value]| {
        let [one, other] = pair else {
            return false;
        };
        match [role(one), role(other)].each_ref().map(String::as_str) {
            ["user" | "tool", "assistant"] | ["assistant", "user"] => true,
            ["assistant" | "tool", "tool"] => other["tool_call_id"].is_string(),
            _ => false,
        }
    };
    let is_said = |message: &Value| {
        message["tool_calls"].get(0).is_some_and(Value::is_object)
            || message["content"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
    };
    turns.first().is_some_and(|first| role(first) == "user")
        && turns.windows(2).all(follows)
        && turns.iter().all(is_said)
}

fn as_json<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    OutcomeJson::from(outcome).serialize(serializer)
}

/// The part of a case that evidence shows.
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
    if !case.variables.is_empty() {
        asked.insert("variables".to_owned(), case.variables.clone().into());
    }
    asked.into()
}
