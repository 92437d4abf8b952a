//! Comparisons: what two sides make of the same cases.
//!
//! A side is a template, an engine, a front, or a run that was saved. Neither is what the
//! other should be: they are called A and B. Two sides that both give no prompt are never
//! the same prompt, and are counted apart.

mod relation;

mod cause;

mod cards;

mod gathered;

mod twins;

mod sides;

pub use cards::{CapabilityChange, CardChange, FindingChange, Turn};
pub use gathered::{Comparison, Group, Kept, Member, Pairing, Subject, Tally};
pub use relation::Relation;
pub use sides::Sides;
pub use twins::Twins;
