//! Why a template was refused or a render ended.

use rolecall_core::{Limit, Refusal, Stage};

/// The error that ended a load or a render.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// Go's message without its `template: :LINE:COL:`.
    #[error("{message}")]
    Words {
        message: String,
        line: Option<usize>,
        column: Option<usize>,
    },
    #[error("the limit on {0} ran out")]
    Limit(Limit),
}

impl Error {
    /// A message without a line; [`Error::at`] adds it.
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error::Words {
            message: message.into(),
            line: None,
            column: None,
        }
    }

    /// Adds the line, unless the error already has one.
    pub(crate) fn at(self, place: usize) -> Error {
        match self {
            Error::Words {
                message,
                line: None,
                column,
            } => Error::Words {
                message,
                line: Some(place),
                column,
            },
            other => other,
        }
    }

    /// Adds the column in that line, from 1.
    pub(crate) fn in_column(self, place: usize) -> Error {
        match self {
            Error::Words { message, line, .. } => Error::Words {
                message,
                line,
                column: Some(place),
            },
            limit @ Error::Limit(_) => limit,
        }
    }

    /// The column, if it is known.
    pub(crate) fn column(&self) -> Option<usize> {
        match self {
            Error::Words { column, .. } => *column,
            Error::Limit(_) => None,
        }
    }

    /// Turns the error into a refusal.
    pub(crate) fn refusal(self, stage: Stage) -> Refusal {
        match self {
            Error::Words { message, line, .. } => Refusal::Failed {
                stage,
                message,
                line,
            },
            Error::Limit(limit) => Refusal::Exceeded { limit },
        }
    }
}
