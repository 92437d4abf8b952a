//! Why a template was refused or a render ended.

use crate::outcome::{Limit, Outcome, Stage};

/// What ended a load or a render.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// What Go would say, without its `template: :LINE:COL:`.
    #[error("{message}")]
    Words {
        message: String,
        line: Option<usize>,
    },
    #[error("the limit on {0} ran out")]
    Limit(Limit),
}

impl Refusal {
    /// Words without a place; [`Refusal::at`] adds it.
    pub(super) fn new(message: impl Into<String>) -> Refusal {
        Refusal::Words {
            message: message.into(),
            line: None,
        }
    }

    /// The line that it happened in, unless a line is known already.
    pub(super) fn at(self, place: usize) -> Refusal {
        match self {
            Refusal::Words {
                message,
                line: None,
            } => Refusal::Words {
                message,
                line: Some(place),
            },
            other => other,
        }
    }

    /// The outcome of a load or a render that ended so.
    pub(super) fn outcome(self, stage: Stage) -> Outcome {
        match self {
            Refusal::Words { message, line } => Outcome::Failed {
                stage,
                message,
                line,
            },
            Refusal::Limit(limit) => Outcome::Exceeded { limit },
        }
    }
}
