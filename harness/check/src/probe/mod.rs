//! Probes: small conversations of words that no template contains, and the outcome of each.
//!
//! A template is compiled once, and each probe rendered at most once, however many
//! contracts and capabilities look at it.

pub mod words;

pub mod input_style;

mod definition;

mod comments;
mod input;
mod outcome;

mod decided;

mod masked;

pub mod catalogue;
pub(crate) mod turns;

pub(crate) mod answers;
mod reading;

#[cfg(test)]
pub(crate) mod counting_engine;

mod prober;

pub use decided::{ContentComparison, LiteralKind};
pub(crate) use decided::{Decided, Trigger};
pub use definition::Probe;
pub use input::ProbeInputs;
pub(crate) use input::Setting;
pub use input_style::{Arguments, Content, InputStyle, Requirement, spaced};
pub(crate) use masked::{MaskedProbe, MaskedProbes};
pub use outcome::ProbeOutcome;
pub(crate) use outcome::{Examined, common};
pub use prober::Prober;
pub(crate) use reading::{AnswerProber, AnswerReading, NoReadings, Readings};
