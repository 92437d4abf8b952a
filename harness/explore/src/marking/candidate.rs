//! Candidates for marks, and the template that has the chosen ones.

use std::ops::Range;

use super::gap::Edit;

/// A way to mark a part of what the model writes.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) edits: Vec<Edit>,
    /// The same changes where each part of a cut sum stays a sum with a text, so that what the
    /// template refuses to add is still refused. None if no sum is cut, or if these are the edits.
    pub(super) guarded: Option<Vec<Edit>>,
    /// The part of the source that it changes or copies. Chosen candidates do not overlap.
    pub(super) span: Range<usize>,
    /// What it marks in each prompt of the sample.
    pub(super) marks: Vec<Vec<Range<usize>>>,
}

/// A template with marks, and their proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    pub source: String,
    /// How many `{% generation %}` blocks it has.
    pub blocks: usize,
    /// How many cases have the same prompt as before.
    pub prompts: usize,
    /// How many cases are refused as before.
    pub refusals: usize,
    /// In how many of the prompts something is marked.
    pub answers: usize,
}
