//! Asks an engine and the reference the same, and compares what they do.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use rolecall::protocol::ProtocolEngine;
use rolecall::record::Answer;
use rolecall_model::guard::{Loaded, load};
use rolecall_model::{Case, Conversation, Engine, Outcome, Stage, Template};

/// What differs and says nothing: an address in memory, which is another one every time, and
/// the names of the packages in which the types of Ollama and of its reference are.
static NOTHING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)( at )?0x[0-9a-f]{7,16}|(main|template|api)\.").ok());

/// Both of whom something is asked.
pub(crate) struct Examiner<'e> {
    pub(crate) engine: &'e dyn Engine,
    pub(crate) reference: &'e ProtocolEngine,
}

/// What came of asking both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Both did the same.
    Agrees,
    /// A limit of the engine ran out, which the reference does not have. It is not asked then:
    /// it would take as long as the template likes.
    Exceeded,
    /// The reference gave no answer, for the reason that is told.
    Unanswered(String),
    /// Not the same.
    Differs(Box<Difference>),
}

/// What was done by either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// By the reference.
    pub(crate) expected: Outcome,
    /// By the engine.
    pub(crate) found: Outcome,
}

/// A template in both.
pub(crate) struct Examined {
    ours: Loaded,
    theirs: Loaded,
}

impl Examiner<'_> {
    /// Gives both a template.
    pub(crate) fn load(&self, template: &Template) -> Examined {
        Examined {
            ours: load(self.engine, template),
            theirs: load(self.reference, template),
        }
    }
}

impl Examined {
    /// Whether the engine refuses the template, so that every conversation says the same.
    pub(crate) fn is_refused(&self) -> bool {
        self.ours.refusal().is_some()
    }

    /// What the engine alone does.
    pub(crate) fn found(&self, case: &Case) -> Outcome {
        self.ours.render(&Conversation::new(case))
    }

    /// Asks the reference and compares.
    pub(crate) fn compare(&self, case: &Case, found: Outcome) -> Finding {
        if matches!(found, Outcome::Exceeded { .. }) {
            return Finding::Exceeded;
        }
        let expected = self.theirs.render(&Conversation::new(case));
        let Some(answer) = Answer::of(&expected) else {
            return Finding::Unanswered(expected.text().to_owned());
        };
        let is_same = answer.agrees(&found) && is_same_stage(&expected, &found)
            || said(&expected).is_some_and(|text| Some(text) == said(&found));
        if is_same {
            Finding::Agrees
        } else {
            Finding::Differs(Box::new(Difference { expected, found }))
        }
    }
}

/// Whether two failures come before the template has seen a conversation, or both later. One
/// that does not parse is refused for every conversation, so it is more than a failure.
fn is_same_stage(expected: &Outcome, found: &Outcome) -> bool {
    let is_parsed = |outcome: &Outcome| match outcome {
        Outcome::Failed { stage, .. } => *stage == Stage::Parse,
        _ => false,
    };
    is_parsed(expected) == is_parsed(found)
}

/// A prompt without what says nothing.
fn said(outcome: &Outcome) -> Option<Cow<'_, str>> {
    match outcome {
        Outcome::Rendered { text } => Some(NOTHING.as_ref()?.replace_all(text, "")),
        _ => None,
    }
}
