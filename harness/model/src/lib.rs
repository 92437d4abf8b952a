//! What the engines and the harness of Rolecall share.
//!
//! A [`Template`] and a [`Case`] go into an [`Engine`]: it compiles the template into a
//! [`Program`], which renders conversations. Whatever happens, there is an [`Outcome`]: a
//! prompt, or why there is none.
//!
//! The modules are listed in the order in which they build on each other; each one uses
//! only those above it.

pub mod clock;
pub mod limits;
pub mod outcome;

pub mod template;

pub mod case;

pub mod conversation;

pub mod engine;

#[cfg(feature = "guard")]
pub mod guard;

pub use case::{CONTENT, Case, CaseId, InvalidCaseId};
pub use clock::{InvalidMoment, Moment};
pub use conversation::Conversation;
pub use engine::{Engine, NameKind, Program, Tracked, UnknownName};
pub use limits::Limits;
pub use outcome::{Limit, Outcome, OutcomeKind, Refusal, Stage};
pub use template::{Dialect, Part, Setup, Template, TemplateName, Variable};
