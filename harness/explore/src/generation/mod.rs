//! Conversations that reach what no case reaches.
//!
//! The search changes the cases that come nearest, keeps every conversation that takes a new path
//! through the template, and makes each find as small as it can. The modules are listed from the
//! ground up.

mod likelihood;
mod parts;
mod vocabulary;

mod edits;

mod search;

mod reduction;

mod distinction;
mod finds;

pub(crate) use distinction::{Distinguisher, Spot};
pub use finds::{GeneratedCase, Generation, ReachedBranch, fields};
pub use search::Effort;

#[cfg(test)]
mod tests;
