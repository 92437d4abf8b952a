//! Differential fuzzing. The library gives random templates to an engine and a reference, and
//! reduces every difference to a small example.
//!
//! The library prints nothing, reads no files and starts no programs. Its caller supplies the
//! engine, the reference and the suite's templates. The modules before `question` need no engine,
//! so that a search or a mutation test can use them alone.
//!
//! The modules are listed in the order in which they build on each other; each one uses
//! only those above it.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod tokens;

// The questions.
pub mod grammar;
pub mod mutation;

pub mod question;

// An engine that is compared with itself.
pub mod tracing;

// The comparison and its results.
pub mod examination;

pub mod cause;
pub mod known_differences;

pub mod reduction;

pub mod campaign;

// The same for the text of answers.
pub mod answers;
