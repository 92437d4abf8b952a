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

/// What a render has left.
#[derive(Debug)]
pub(super) struct Meter {
    pub(super) fuel: u64,
    pub(super) work: u64,
    pub(super) output: usize,
    /// How much deeper calls may nest.
    pub(super) depth: usize,
}

impl Meter {
    /// Counts one step.
    pub(super) fn step(&mut self) -> Result<(), Refusal> {
        self.fuel = self
            .fuel
            .checked_sub(1)
            .ok_or(Refusal::Limit(Limit::Fuel))?;
        Ok(())
    }

    /// Counts bytes or items that are about to be gone through.
    pub(super) fn work(&mut self, amount: usize) -> Result<(), Refusal> {
        self.work = self
            .work
            .checked_sub(amount as u64)
            .ok_or(Refusal::Limit(Limit::Fuel))?;
        Ok(())
    }

    /// Begins something that may nest.
    pub(super) fn enter(&mut self) -> Result<(), Refusal> {
        self.depth = self
            .depth
            .checked_sub(1)
            .ok_or(Refusal::Limit(Limit::Recursion))?;
        Ok(())
    }

    /// Ends it.
    pub(super) fn leave(&mut self) {
        self.depth += 1;
    }

    /// Counts bytes or items that were produced.
    pub(super) fn produce(&mut self, amount: usize) -> Result<(), Refusal> {
        self.output = self
            .output
            .checked_sub(amount)
            .ok_or(Refusal::Limit(Limit::Output))?;
        Ok(())
    }
}
