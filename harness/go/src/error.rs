//! Why a template was refused or a render ended.

use rolecall_model::{Limit, Refusal, Stage};

/// What ended a load or a render.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// What Go would say, without its `template: :LINE:COL:`.
    #[error("{message}")]
    Words {
        message: String,
        line: Option<usize>,
    },
    #[error("the limit on {0} ran out")]
    Limit(Limit),
}

impl Error {
    /// Words without a place; [`Error::at`] adds it.
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error::Words {
            message: message.into(),
            line: None,
        }
    }

    /// The line that it happened in, unless a line is known already.
    pub(crate) fn at(self, place: usize) -> Error {
        match self {
            Error::Words {
                message,
                line: None,
            } => Error::Words {
                message,
                line: Some(place),
            },
            other => other,
        }
    }

    /// The refusal that it comes to.
    pub(crate) fn refusal(self, stage: Stage) -> Refusal {
        match self {
            Error::Words { message, line } => Refusal::Failed {
                stage,
                message,
                line,
            },
            Error::Limit(limit) => Refusal::Exceeded { limit },
        }
    }
}
