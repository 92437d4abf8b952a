//! The harness as users see it: the library's public interface, the command line, and the project
//! itself.
//!
//! Slow tests try a sample, unless the variable `ROLECALL_EVERYTHING` is set.

// The helpers of a test may panic as the test itself does, and some print figures.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::print_stdout)]

mod extent;
mod folder;
mod project;
mod scratch;

#[cfg(target_os = "linux")]
mod attacks;
mod base;
mod cli;
mod constructs;
#[cfg(unix)]
mod convenience;
mod conversations;
mod cover;
mod export;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod fingerprint;
mod fixes;
mod internal_errors;
mod inventory;
mod mask;
mod matrix;
mod mock_models;
mod mutate;
mod output;
mod page;
mod pages;
#[cfg(unix)]
mod parsers;
#[cfg(unix)]
mod probe_engine;
#[cfg(unix)]
mod protocol;
#[cfg(unix)]
mod recipe;
mod remote;
mod sabotage;
mod served;
mod servers;
mod snapshots;
mod sources;
mod tidy;
mod trace;
mod trial;
mod workflows;
