//! Gives the same pair to an engine and the reference, and compares their outcomes.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use rolecall_core::guard::{LoadedTemplate, load};
use rolecall_core::{Case, Conversation, Engine, Outcome, Stage, Template};

/// Differences without a meaning: addresses in memory, which change every time, and the package
/// names of the types in Ollama and in its reference program.
static NOTHING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)( at )?0x[0-9a-f]{7,16}|(main|template|api)\.").ok());

/// An engine compared with the reference.
#[derive(Clone, Copy)]
pub struct Examiner<'e> {
    pub engine: &'e dyn Engine,
    pub reference: &'e dyn Engine,
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Examination {
    /// Both did the same.
    Agrees,
    /// The engine exceeded a limit. The reference has no limits and might run forever, so it is not
    /// asked.
    Exceeded,
    /// The reference gave no answer, for this reason.
    Unanswered(String),
    Differs(Box<OutcomeDifference>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeDifference {
    /// The reference's outcome.
    pub expected: Outcome,
    /// The engine's outcome.
    pub found: Outcome,
}

pub struct ExaminedTemplate {
    ours: LoadedTemplate,
    theirs: LoadedTemplate,
}

impl Examiner<'_> {
    /// Loads a template into both.
    pub fn load(&self, template: &Template) -> ExaminedTemplate {
        ExaminedTemplate {
            ours: load(self.engine, template),
            theirs: load(self.reference, template),
        }
    }
}

impl ExaminedTemplate {
    /// Whether the engine refuses the template, so that every conversation has the same outcome.
    pub fn is_refused(&self) -> bool {
        self.ours.refusal().is_some()
    }

    /// The engine's outcome.
    pub fn found(&self, case: &Case) -> Outcome {
        self.ours.render(&Conversation::new(case))
    }

    /// Asks the reference and compares.
    pub fn compare(&self, case: &Case, found: Outcome) -> Examination {
        if matches!(found, Outcome::Exceeded { .. }) {
            return Examination::Exceeded;
        }
        let expected = self.theirs.render(&Conversation::new(case));
        let is_same = match (&expected, &found) {
            (Outcome::Crashed { .. } | Outcome::NotAsked { .. }, _) => {
                return Examination::Unanswered(expected.text().to_owned());
            }
            (Outcome::Rendered { text }, Outcome::Rendered { text: other }) => {
                text == other || said(text).is_some_and(|text| Some(text) == said(other))
            }
            (Outcome::Raised { message }, Outcome::Raised { message: other }) => message == other,
            (Outcome::Failed { stage, .. }, Outcome::Failed { stage: other, .. }) => {
                is_same_stage(*stage, *other)
            }
            _ => false,
        };
        if is_same {
            Examination::Agrees
        } else {
            Examination::Differs(Box::new(OutcomeDifference { expected, found }))
        }
    }
}

/// Whether both failures come before the template sees a conversation, or both after. A template
/// that does not parse fails for every conversation, so that is another kind of failure.
fn is_same_stage(expected: Stage, found: Stage) -> bool {
    (expected == Stage::Parse) == (found == Stage::Parse)
}

/// A prompt without the differences that have no meaning.
fn said(prompt: &str) -> Option<Cow<'_, str>> {
    Some(NOTHING.as_ref()?.replace_all(prompt, ""))
}
