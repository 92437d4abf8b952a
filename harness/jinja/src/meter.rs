//! What a render has left of its limits, and the moment at which it happens.
//!
//! Once a limit has run out, everything that is counted fails until the render ends, and
//! the render itself has failed, whoever may have dealt with the error in between. So
//! those who cannot return an error, such as what compares values, may simply stop.

use std::cell::{Cell, RefCell};

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind};
use rolecall_model::{Limit, Limits, Moment};

use super::helpers;
use super::namespaces;

/// The work of a step from one item of a list, a dictionary or a tree to the next.
pub(super) const ITEM: usize = 192;

/// The work of a character that is looked at by itself; for each of its bytes.
pub(super) const CHARACTER: usize = 6;

/// The work of a character that is looked up in Unicode's tables; for each of its bytes.
pub(super) const LETTER: usize = 16;

/// The bytes that an item takes in a list, with what a list that grows has to spare.
pub(super) const SLOT: usize = 16;

/// The bytes that a list or another object takes at least. That is more than it has, for
/// an object that holds objects also needs stack when it is dropped.
pub(super) const OBJECT: usize = 512;

/// The bytes that an entry takes in a dictionary.
pub(super) const ENTRY: usize = 96;

/// How deeply a value may be nested that is gone through: so deep that Python raises its
/// `RecursionError` there.
pub(super) const DEEPEST: usize = 950;

thread_local! {
    /// Of the render on this thread; a render never leaves its thread.
    static OUTPUT: Cell<usize> = const { Cell::new(usize::MAX) };
    static WORK: Cell<u64> = const { Cell::new(u64::MAX) };
    static CALLS: Cell<usize> = const { Cell::new(Limits::DEEPEST) };
    static DEPTH: Cell<usize> = const { Cell::new(DEEPEST) };
    /// How often a loop has called itself: its scopes pile up at most as often.
    static RECURSIONS: Cell<usize> = const { Cell::new(0) };
    /// The steps whose lookups are counted.
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static NOW: Cell<Option<Moment>> = const { Cell::new(None) };
    static FAILED: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

/// Why a render cannot go on, whatever the template does about it.
#[derive(Clone, Copy)]
enum Failure {
    Limit(Limit),
    TooDeep,
}

impl Failure {
    fn error(self) -> Error {
        match self {
            Failure::Limit(limit) => exceeded(limit),
            Failure::TooDeep => Error::new(
                ErrorKind::InvalidOperation,
                "maximum recursion depth exceeded",
            ),
        }
    }
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
pub(super) fn metered<T>(
    limits: &Limits,
    now: Moment,
    render: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    /// Nothing is left over for the next render, after a panic either; and what happens
    /// between renders has no limits.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            namespaces::clear();
            helpers::clear();
            begin(usize::MAX, u64::MAX, Limits::DEEPEST);
        }
    }
    begin(
        limits.output,
        limits.work,
        limits.recursion.min(Limits::DEEPEST),
    );
    NOW.set(Some(now));
    let _end = End;
    let result = render();
    match FAILED.take() {
        Some(failure) => Err(failure.error()),
        None => result,
    }
}

fn begin(output: usize, work: u64, calls: usize) {
    OUTPUT.set(output);
    WORK.set(work);
    CALLS.set(calls);
    DEPTH.set(DEEPEST);
    RECURSIONS.set(0);
    STEPS.set(0);
    FAILED.take();
}

/// The moment at which the render on this thread happens.
pub(super) fn now() -> Moment {
    NOW.get().unwrap_or_default()
}

/// Ends the render: nothing is left of its limits.
#[cold]
fn fail(failure: Failure) -> Error {
    OUTPUT.set(0);
    WORK.set(0);
    FAILED
        .with_borrow_mut(|failed| *failed.get_or_insert(failure))
        .error()
}

/// Counts bytes that are about to be produced.
#[inline]
pub(super) fn produce(amount: usize) -> Result<(), Error> {
    match OUTPUT.get().checked_sub(amount) {
        Some(left) => {
            OUTPUT.set(left);
            Ok(())
        }
        None => Err(fail(Failure::Limit(Limit::Output))),
    }
}

/// Counts what is about to be gone through. A unit is the time in which a byte of text is
/// searched or compared.
#[inline]
pub(super) fn work(amount: usize) -> Result<(), Error> {
    match WORK.get().checked_sub(amount as u64) {
        Some(left) => {
            WORK.set(left);
            Ok(())
        }
        None => Err(fail(Failure::Limit(Limit::Fuel))),
    }
}

/// Counts the names that were looked for since the last time, in so many scopes.
pub(super) fn looked_up(steps: u64, scopes: usize, lookup: usize) -> Result<(), Error> {
    let since = steps.saturating_sub(STEPS.replace(steps));
    let scopes = scopes.saturating_mul(1 + RECURSIONS.get());
    let scopes = scopes.min(Limits::DEEPEST + 2);
    // Not every step looks for a name.
    let work_of_step = scopes.saturating_mul(lookup) / 2;
    let since = usize::try_from(since).unwrap_or(usize::MAX);
    work(since.saturating_mul(work_of_step))
}

/// A loop calls itself.
pub(super) fn recursed() {
    RECURSIONS.set(RECURSIONS.get() + 1);
}

/// Goes a level down into a value, where Python would: what is nested too deeply for
/// Python fails.
pub(super) fn nested<T>(within: impl FnOnce() -> T) -> Result<T, Error> {
    level(&DEPTH, Failure::TooDeep, within)
}

/// Calls a filter from within a filter.
pub(super) fn called<T>(within: impl FnOnce() -> T) -> Result<T, Error> {
    level(&CALLS, Failure::Limit(Limit::Recursion), within)
}

fn level<T>(
    left: &'static std::thread::LocalKey<Cell<usize>>,
    failure: Failure,
    within: impl FnOnce() -> T,
) -> Result<T, Error> {
    let here = left.get();
    let Some(below) = here.checked_sub(1) else {
        return Err(fail(failure));
    };
    left.set(below);
    let result = within();
    left.set(here);
    Ok(result)
}

/// What a filter, a test or a method costs for each byte of the texts that it is given.
/// What goes through lists counts as it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    /// Work for a byte of text.
    pub(super) byte: usize,
    /// Bytes produced for a byte of text.
    pub(super) text: usize,
}

impl Cost {
    /// Of what looks at nothing but types, or counts by itself.
    pub(super) const NOTHING: Cost = Cost { byte: 0, text: 0 };
    /// Of what copies texts.
    pub(super) const COPIES: Cost = Cost { byte: 1, text: 1 };
    /// Of what searches texts.
    pub(super) const SEARCHES: Cost = Cost { byte: 2, text: 0 };
    /// Of what goes through texts one character after the other.
    pub(super) const READS: Cost = Cost {
        byte: CHARACTER,
        text: 0,
    };
    /// Of what also copies them.
    pub(super) const REWRITES: Cost = Cost {
        byte: CHARACTER,
        text: 1,
    };
    /// Of what asks Unicode about every character.
    pub(super) const KNOWS: Cost = Cost {
        byte: LETTER,
        text: 0,
    };
    /// Of what also copies them.
    pub(super) const SPELLS: Cost = Cost {
        byte: LETTER,
        text: 1,
    };

    /// With so many bytes produced for each byte of text.
    pub(super) const fn times(self, text: usize) -> Cost {
        Cost { text, ..self }
    }

    /// Counts what a call with these arguments is going to cost.
    pub(super) fn charge(self, args: &[Value]) -> Result<(), Error> {
        if self == Cost::NOTHING {
            return Ok(());
        }
        for arg in args {
            self.charge_one(arg)?;
        }
        Ok(())
    }

    fn charge_one(self, arg: &Value) -> Result<(), Error> {
        if let Some(text) = arg.as_str() {
            return self.charge_text(text);
        }
        if arg.is_kwargs() {
            let kwargs = Kwargs::try_from(arg.clone())?;
            for name in kwargs.args() {
                if let Some(text) = kwargs.peek::<Value>(name)?.as_str() {
                    self.charge_text(text)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn charge_text(self, text: &str) -> Result<(), Error> {
        work(text.len().saturating_mul(self.byte))?;
        produce(text.len().saturating_mul(self.text))
    }
}
