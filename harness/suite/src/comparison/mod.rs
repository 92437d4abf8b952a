//! Comparisons: the outcomes of two sides for the same cases.
//!
//! A side is a template, an engine, a front or a saved run. The sides are called A and B,
//! and neither counts as correct. Cases without a prompt on both sides are counted apart.

mod relation;

mod ordinary;

mod meaning;

mod cards;

mod source_edit;

mod gathered;

mod matched;

mod sides;

mod base;

pub use cards::{CapabilityChange, CardChange, Degree, DegreeChange, FindingChange, Turn};
pub use gathered::{
    CaseGroup, CaseTally, Comparison, GroupKind, KeptCase, Member, Pairing, SideKind,
};
pub use matched::MatchedTemplates;
pub use meaning::Meaning;
pub(crate) use ordinary::{Rank, rank};
pub use relation::Relation;
pub use sides::Sides;
pub(crate) use source_edit::OFTEN;
pub use source_edit::{SourceEdit, lines_in_words};
