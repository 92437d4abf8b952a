//! Templates compared with their bases.

use std::path::PathBuf;

use crate::comparison::Comparison;
use rolecall_core::problem::Problem;

/// A template compared with the one that it was made from.
#[derive(Debug)]
pub struct CheckedBase {
    pub template: String,
    pub path: PathBuf,
    /// Whether the template is the whole file, so that its lines are those of the file.
    pub is_whole_file: bool,
    /// Both next to each other; A is the base.
    pub comparison: Comparison,
    /// What is said to differ, and does not.
    pub stale: Vec<Problem>,
}

impl CheckedBase {
    /// Whether the template deviates from its base only as it may.
    pub fn is_as_expected(&self) -> bool {
        self.stale.is_empty() && !self.comparison.deviates()
    }
}
