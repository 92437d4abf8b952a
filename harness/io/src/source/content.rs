//! The templates of a source, with notes and problems.

use rolecall_core::Template;

use rolecall_core::problem::{Note, Problem};

/// The templates of a source, with notes and problems.
#[derive(Debug, Default)]
pub struct SourceContent {
    pub templates: Vec<Template>,
    /// Notes about them, for example that two files disagree.
    pub notes: Vec<Note>,
    /// The problems. Everything else was read.
    pub problems: Vec<Problem>,
}

impl SourceContent {
    pub(super) fn problem(problem: Problem) -> SourceContent {
        SourceContent {
            problems: vec![problem],
            ..SourceContent::default()
        }
    }

    /// Adds the content of another source.
    pub(super) fn add(&mut self, other: SourceContent) {
        self.templates.extend(other.templates);
        self.notes.extend(other.notes);
        self.problems.extend(other.problems);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.templates.is_empty() && self.problems.is_empty()
    }
}
