#![doc = include_str!("../README.md")]
//!
//! An [`Engine`] compiles a [`Template`] into a [`Program`]. The program renders a [`Case`]. Every
//! render ends in an [`Outcome`]: a prompt, or the reason why there is none.
//!
//! The modules are listed in the order in which they build on each other; each one uses
//! only those above it.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::string_slice))]

#[macro_use]
mod named;

pub mod cut;

pub mod clock;
pub mod float;
pub mod limits;
pub mod outcome;

pub mod answer;

pub mod coverage;

pub mod template;

pub mod case;

pub mod conversation;

pub mod provenance;

pub mod decision;

pub mod mutation;
pub mod words;

pub mod engine;

#[cfg(feature = "guard")]
mod large_stack;

#[cfg(feature = "guard")]
pub mod guard;

#[cfg(feature = "harness")]
pub mod chance;

#[cfg(feature = "harness")]
pub mod environment;

#[cfg(feature = "harness")]
pub mod owner;

#[cfg(feature = "harness")]
pub mod invisible;

#[cfg(feature = "harness")]
pub mod lines;

#[cfg(feature = "harness")]
pub mod problem;

#[cfg(feature = "harness")]
pub mod file;

#[cfg(feature = "harness")]
pub mod folder;

#[cfg(feature = "harness")]
pub mod invocation;

#[cfg(feature = "harness")]
pub mod json;

#[cfg(feature = "harness")]
pub mod rows;

#[cfg(feature = "harness")]
pub mod root;

#[cfg(feature = "harness")]
pub mod fingerprint;

#[cfg(feature = "harness")]
pub mod naming;

#[cfg(feature = "harness")]
pub mod reason;

#[cfg(feature = "harness")]
pub mod document;

#[cfg(feature = "harness")]
pub mod wildcard;

#[cfg(feature = "harness")]
pub mod lock;

#[cfg(feature = "harness")]
pub mod wording;

#[cfg(feature = "harness")]
pub mod transcript;

#[cfg(feature = "harness")]
pub mod diff;

#[cfg(feature = "harness")]
pub mod hunk;

#[cfg(feature = "harness")]
pub mod patch;

#[cfg(feature = "harness")]
pub mod window;

#[cfg(feature = "harness")]
pub mod stream;

#[cfg(feature = "harness")]
pub mod shrinking;

pub use answer::{Answer, AnswerReader, ReadOutcome, TemplateReader};
pub use case::{CONTENT, Case, CaseId, InvalidCaseId, ROLES};
pub use clock::{InvalidMoment, Moment};
pub use conversation::{Beginning, Conversation};
pub use coverage::{Branch, Hits, Recorder, Site, SiteKind};
pub use cut::Cut;
pub use decision::Decisions;
pub use engine::{Deaths, Engine, NameKind, Observer, Program, UnknownName, Wanted};
pub use limits::Limits;
pub use mutation::{Mutation, MutationKind};
pub use outcome::{Limit, Outcome, OutcomeKind, Refusal, Stage};
pub use template::{
    Dialect, OllamaSetup, Template, TemplateName, TemplatePart, Unreached, Variable,
};
pub use words::Words;
