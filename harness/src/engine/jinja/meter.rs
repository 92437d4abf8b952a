//! What a render may use up, and the moment at which it happens.

use std::cell::Cell;

use minijinja::{Error, ErrorKind};

use crate::clock::Moment;
use crate::outcome::Limit;

/// What one render may use up. No honest template comes near the defaults.
///
/// How deeply macros, loops and expressions nest is limited by minijinja itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Instructions that may be executed: 5 million unless said, a fraction of a second.
    pub fuel: u64,
    /// Bytes of text and list items that may be produced in all, intermediate values
    /// included: 64 MiB unless said. A template that gathers its prompt in a variable
    /// copies it at every step, and each copy counts.
    pub produced: usize,
    /// Bytes of text that may be looked through in all, as `in` does it: 1 GiB unless
    /// said. Running out of it counts as running out of fuel.
    pub searched: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            fuel: 5_000_000,
            produced: 64 << 20,
            searched: 1 << 30,
        }
    }
}

thread_local! {
    /// Of the render on this thread; a render never leaves its thread.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    static SEARCHABLE: Cell<usize> = const { Cell::new(usize::MAX) };
    static NOW: Cell<Option<Moment>> = const { Cell::new(None) };
}

/// The error behind an exceeded limit.
#[derive(Debug, thiserror::Error)]
#[error("the limit on {0} ran out")]
pub(super) struct LimitReached(pub(super) Limit);

/// The error of a limit that ran out.
pub(super) fn exceeded(limit: Limit) -> Error {
    Error::new(ErrorKind::OutOfFuel, limit.name()).with_source(LimitReached(limit))
}

/// Runs a render with fresh limits at a frozen moment.
pub(super) fn metered<T>(limits: &Limits, now: Moment, render: impl FnOnce() -> T) -> T {
    LEFT.set(limits.produced);
    SEARCHABLE.set(limits.searched);
    NOW.set(Some(now));
    render()
}

/// The moment at which the render on this thread happens.
pub(super) fn now() -> Moment {
    NOW.get().unwrap_or_default()
}

/// Counts text or items that are about to be produced.
pub(super) fn produce(amount: usize) -> Result<(), Error> {
    match LEFT.get().checked_sub(amount) {
        Some(left) => {
            LEFT.set(left);
            Ok(())
        }
        None => Err(exceeded(Limit::Output)),
    }
}

/// Counts text that is about to be looked through.
pub(super) fn search(amount: usize) -> Result<(), Error> {
    match SEARCHABLE.get().checked_sub(amount) {
        Some(left) => {
            SEARCHABLE.set(left);
            Ok(())
        }
        None => Err(exceeded(Limit::Fuel)),
    }
}
