//! The time and memory that templates and inputs take. This is a program of its own, because it
//! counts every allocation.
//!
//! Slow tests try a sample, unless the variable `ROLECALL_EVERYTHING` is set.

// The helpers of a test may panic as the test itself does, and some print figures.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::print_stdout)]

#[path = "../extent.rs"]
mod extent;
mod large;
mod measure;
mod meter;
#[path = "../scratch.rs"]
mod scratch;

mod freed;
mod fuzz;
mod go_limits;
mod hostile;
mod jinja_limits;
