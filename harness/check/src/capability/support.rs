//! What became of something that a template was given.

use rolecall_core::{Outcome, Stage};
use serde::Serialize;

use crate::probe::ProbeOutcome;

/// What became of something that a template was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Support {
    /// It is in the prompt.
    Kept,
    /// It is in the prompt, as a part of a turn of another role.
    Merged,
    /// Only a part of it is in the prompt.
    Partial,
    /// There is a prompt, and it is not in it.
    Dropped,
    /// The template refuses, with words of its own, or Ollama does before it.
    Refused {
        /// The words.
        message: String,
    },
    /// The engine fails.
    Failed {
        /// What the engine says.
        message: String,
    },
    /// It could not be found out.
    Unknown {
        /// Why not.
        why: String,
    },
}

impl Support {
    /// What became of words that a probe put in.
    pub fn of(seen: &ProbeOutcome, words: &[&str]) -> Support {
        if let Some(refused) = Support::refused(seen) {
            return refused;
        }
        match words.iter().filter(|word| seen.has(word)).count() {
            0 => Support::Dropped,
            count if count < words.len() => Support::Partial,
            _ => Support::Kept,
        }
    }

    /// The refusal of a probe, if it was refused.
    pub fn refused(seen: &ProbeOutcome) -> Option<Support> {
        let message = seen.outcome.text().trim().to_owned();
        match &*seen.outcome {
            Outcome::Rendered { .. } => None,
            Outcome::Raised { .. }
            | Outcome::Failed {
                stage: Stage::Input,
                ..
            } => Some(Support::Refused { message }),
            Outcome::Exceeded { limit } => Some(Support::Failed {
                message: format!("the limit on {limit} runs out"),
            }),
            Outcome::Failed { .. } | Outcome::Crashed { .. } | Outcome::NotAsked { .. } => {
                Some(Support::Failed { message })
            }
        }
    }

    /// The word for it in files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Support::Kept => "kept",
            Support::Merged => "merged",
            Support::Partial => "partial",
            Support::Dropped => "dropped",
            Support::Refused { .. } => "refused",
            Support::Failed { .. } => "failed",
            Support::Unknown { .. } => "unknown",
        }
    }

    /// Why it is not there, in the words of whoever said so.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Support::Refused { message } | Support::Failed { message } => Some(message),
            Support::Unknown { why } => Some(why),
            Support::Kept | Support::Merged | Support::Partial | Support::Dropped => None,
        }
    }

    /// Whether it is in the prompt, as its own or in another turn.
    pub fn is_kept(&self) -> bool {
        matches!(self, Support::Kept | Support::Merged)
    }
}
