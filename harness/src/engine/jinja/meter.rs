//! What a render has left of its limits, and the moment at which it happens.

use std::cell::Cell;

use minijinja::{Error, ErrorKind};

use crate::clock::Moment;
use crate::engine::limits::Limits;
use crate::outcome::Limit;

thread_local! {
    /// Of the render on this thread; a render never leaves its thread.
    static OUTPUT: Cell<usize> = const { Cell::new(usize::MAX) };
    static WORK: Cell<u64> = const { Cell::new(u64::MAX) };
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
    OUTPUT.set(limits.output);
    WORK.set(limits.work);
    NOW.set(Some(now));
    render()
}

/// The moment at which the render on this thread happens.
pub(super) fn now() -> Moment {
    NOW.get().unwrap_or_default()
}

/// Counts text or items that are about to be produced.
pub(super) fn produce(amount: usize) -> Result<(), Error> {
    match OUTPUT.get().checked_sub(amount) {
        Some(left) => {
            OUTPUT.set(left);
            Ok(())
        }
        None => Err(exceeded(Limit::Output)),
    }
}

/// Counts text or items that are about to be gone through.
pub(super) fn work(amount: usize) -> Result<(), Error> {
    match WORK.get().checked_sub(amount as u64) {
        Some(left) => {
            WORK.set(left);
            Ok(())
        }
        None => Err(exceeded(Limit::Fuel)),
    }
}
