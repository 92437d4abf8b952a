//! Probes: small conversations of words that no template knows, and what a template made
//! of them.
//!
//! A template is compiled once, and each probe rendered at most once, however many
//! contracts and capabilities look at it.

pub mod words;

pub mod manner;

mod definition;

mod comments;
mod input;
mod seen;

pub mod catalogue;

#[cfg(test)]
pub(crate) mod counting;

mod prober;

pub use definition::Probe;
pub use input::Inputs;
pub use manner::{Arguments, Content, Manner, Requirement, spaced};
pub use prober::Prober;
pub use seen::Seen;
