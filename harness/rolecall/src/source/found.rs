//! What a source gave.

use rolecall_model::Template;

use crate::problem::{Note, Problem};

/// What a source gave.
#[derive(Debug, Default)]
pub struct Found {
    /// The templates.
    pub templates: Vec<Template>,
    /// What there is to know about them, such as that two files disagree.
    pub notes: Vec<Note>,
    /// What is wrong; what is not named here was read.
    pub problems: Vec<Problem>,
}

impl Found {
    /// Nothing but a problem.
    pub(super) fn problem(problem: Problem) -> Found {
        Found {
            problems: vec![problem],
            ..Found::default()
        }
    }

    /// Adds what another source gave.
    pub(super) fn add(&mut self, other: Found) {
        self.templates.extend(other.templates);
        self.notes.extend(other.notes);
        self.problems.extend(other.problems);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.templates.is_empty() && self.problems.is_empty()
    }
}
