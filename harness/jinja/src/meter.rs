//! The remaining limits of a render, and its moment.
//!
//! Once a limit has run out, all further counting fails until the render ends, and the render
//! itself fails, even if some code has ignored the error. So code that cannot return an error, such
//! as a comparison within a sort, may simply stop.

use std::cell::{Cell, RefCell};

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind};
use rolecall_core::{Limit, Limits, Moment};

use crate::release::release;

/// The work of a step from one item of a list, a dictionary or a tree to the next.
pub(crate) const ITEM: usize = 192;

/// The work of making or setting a variable.
pub(crate) const NAME: usize = 16;

/// The work of looking at a single character, for each of its bytes.
pub(crate) const CHARACTER: usize = 6;

/// The work of looking up a character in Unicode's tables, for each of its bytes.
pub(crate) const LETTER: usize = 16;

/// The bytes that an item takes in a list, with the spare room of a list that grows.
pub(crate) const SLOT: usize = 16;

/// The bytes that a list or another object costs. It is more than its size, because dropping an
/// object that holds objects also needs stack.
pub(crate) const OBJECT: usize = 512;

/// The bytes that an entry takes in a dictionary.
pub(crate) const ENTRY: usize = 96;

/// How deeply a value may be nested when something goes through it. Python raises its
/// `RecursionError` at about this depth.
pub(crate) const DEEPEST: usize = 950;

thread_local! {
    /// The bytes that the render on this thread may still produce. A render never leaves its
    /// thread.
    static OUTPUT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The work that it may still do.
    static WORK: Cell<u64> = const { Cell::new(u64::MAX) };
    /// How many levels may still be gone down into a value.
    static DEPTH: Cell<usize> = const { Cell::new(DEEPEST) };
    /// The steps that may still be taken.
    static STEPS: Cell<u64> = const { Cell::new(u64::MAX) };
    /// How many levels loops, macros, captured texts and filters in filters may still nest.
    static NESTING: Cell<usize> = const { Cell::new(Limits::DEEPEST) };
    /// The moment at which the render happens.
    static NOW: Cell<Option<Moment>> = const { Cell::new(None) };
    /// Why the render has failed, once it has.
    static FAILED: RefCell<Option<StopReason>> = const { RefCell::new(None) };
}

/// Why a render cannot go on. A template cannot catch it.
#[derive(Clone, Copy)]
enum StopReason {
    Limit(Limit),
    TooDeep,
}

impl StopReason {
    fn error(self) -> Error {
        match self {
            StopReason::Limit(limit) => exceeded(limit),
            StopReason::TooDeep => Error::new(
                ErrorKind::InvalidOperation,
                "maximum recursion depth exceeded",
            ),
        }
    }
}

/// The error after an exceeded limit.
#[derive(Debug, thiserror::Error)]
#[error("the limit on {0} ran out")]
pub(crate) struct LimitReached(pub(crate) Limit);

/// The error of a limit that ran out.
pub(crate) fn exceeded(limit: Limit) -> Error {
    Error::new(ErrorKind::OutOfFuel, limit.name()).with_source(LimitReached(limit))
}

/// Runs a render with fresh limits at a frozen moment.
pub(crate) fn metered<T>(
    limits: &Limits,
    now: Moment,
    render: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    /// Ends the render, even after a panic. It clears the state for the next render, and between
    /// renders there are no limits.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            release();
            begin(&Limits {
                fuel: u64::MAX,
                work: u64::MAX,
                output: usize::MAX,
                ..Limits::default()
            });
        }
    }
    begin(limits);
    NOW.set(Some(now));
    let _end = End;
    let result = render();
    match FAILED.take() {
        Some(failure) => Err(failure.error()),
        None => result,
    }
}

fn begin(limits: &Limits) {
    let levels = limits.recursion.min(Limits::DEEPEST);
    OUTPUT.set(limits.output);
    WORK.set(limits.work);
    DEPTH.set(DEEPEST);
    STEPS.set(limits.fuel);
    NESTING.set(levels);
    FAILED.take();
}

/// The moment at which the render on this thread happens.
pub(crate) fn now() -> Moment {
    NOW.get().unwrap_or_default()
}

/// Fails the render, and leaves nothing of its limits.
#[cold]
fn fail(failure: StopReason) -> Error {
    OUTPUT.set(0);
    WORK.set(0);
    STEPS.set(0);
    FAILED
        .with_borrow_mut(|failed| *failed.get_or_insert(failure))
        .error()
}

/// Whether the render on this thread has failed already: an error is not one that Python
/// would have dealt with.
pub(crate) fn has_failed() -> bool {
    FAILED.with_borrow(Option::is_some)
}

/// Takes a step.
#[inline]
pub(crate) fn step() -> Result<(), Error> {
    match STEPS.get().checked_sub(1) {
        Some(left) => {
            STEPS.set(left);
            Ok(())
        }
        None => Err(fail(StopReason::Limit(Limit::Fuel))),
    }
}

/// Levels of loops, macros and whatever else nests. They end when this is dropped.
pub(crate) struct Nesting(usize);

impl Nesting {
    /// Goes down so many levels.
    pub(crate) fn deeper(levels: usize) -> Result<Nesting, Error> {
        match NESTING.get().checked_sub(levels) {
            Some(left) => {
                NESTING.set(left);
                Ok(Nesting(levels))
            }
            None => Err(fail(StopReason::Limit(Limit::Recursion))),
        }
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        NESTING.set(NESTING.get() + self.0);
    }
}

/// Counts bytes that are about to be produced.
#[inline]
pub(crate) fn produce(amount: usize) -> Result<(), Error> {
    match OUTPUT.get().checked_sub(amount) {
        Some(left) => {
            OUTPUT.set(left);
            Ok(())
        }
        None => Err(fail(StopReason::Limit(Limit::Output))),
    }
}

/// Counts work that is about to be done. A unit is the time in which a byte of text is
/// searched or compared.
#[inline]
pub(crate) fn work(amount: usize) -> Result<(), Error> {
    match WORK.get().checked_sub(amount as u64) {
        Some(left) => {
            WORK.set(left);
            Ok(())
        }
        None => Err(fail(StopReason::Limit(Limit::Fuel))),
    }
}

/// Goes a level down into a value, or fails where the value is nested too deeply for Python.
pub(crate) fn nested<T>(within: impl FnOnce() -> T) -> Result<T, Error> {
    let here = DEPTH.get();
    let Some(below) = here.checked_sub(1) else {
        return Err(fail(StopReason::TooDeep));
    };
    DEPTH.set(below);
    let result = within();
    DEPTH.set(here);
    Ok(result)
}

/// What a filter, a test or a method costs for each byte of the texts that it is given.
/// Those that go through lists count each item as they come to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Work for a byte of text.
    pub(crate) byte: usize,
    /// Bytes produced for a byte of text.
    pub(crate) text: usize,
}

impl Cost {
    /// For those that look only at types, or that count by themselves.
    pub(crate) const NOTHING: Cost = Cost { byte: 0, text: 0 };
    pub(crate) const COPIES: Cost = Cost { byte: 1, text: 1 };
    pub(crate) const SEARCHES: Cost = Cost { byte: 2, text: 0 };
    /// For those that go through texts one character after the other.
    pub(crate) const READS: Cost = Cost {
        byte: CHARACTER,
        text: 0,
    };
    /// For those that go through texts one character after the other, and copy them.
    pub(crate) const REWRITES: Cost = Cost {
        byte: CHARACTER,
        text: 1,
    };
    /// For those that look up every character in Unicode's tables.
    pub(crate) const KNOWS: Cost = Cost {
        byte: LETTER,
        text: 0,
    };
    /// For those that look up every character in Unicode's tables, and copy the text.
    pub(crate) const SPELLS: Cost = Cost {
        byte: LETTER,
        text: 1,
    };

    /// The same, with so many bytes produced for each byte of text.
    pub(crate) const fn times(self, text: usize) -> Cost {
        Cost { text, ..self }
    }

    /// Counts the cost of a call with these arguments.
    pub(crate) fn charge(self, args: &[Value]) -> Result<(), Error> {
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

    /// Counts the cost of a text.
    #[inline]
    pub(crate) fn charge_text(self, text: &str) -> Result<(), Error> {
        work(text.len().saturating_mul(self.byte))?;
        produce(text.len().saturating_mul(self.text))
    }
}
