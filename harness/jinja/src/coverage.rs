//! Records what a render reaches.
//!
//! The code of such a render has probes: calls of filters that report to the recorder of their
//! thread. Probes take steps of the interpreter, too. They are counted and taken off, so a covered
//! render has the limits of a plain one.

use std::cell::{Cell, RefCell};

use minijinja::value::Value;
use minijinja::{Environment, Error, State};
use rolecall_core::{Hits, Recorder};

use crate::meter::out_of_fuel;
use crate::operator::Operator;

/// How much more fuel a covered render gets. No probe is alone: with every probe there is at least
/// one instruction of the template, and a probe has at most three.
pub(crate) const FUEL_FACTOR: u64 = 4;

/// The steps of a probe that is a statement: a constant, the filter, and the jump after it.
const STEPS_OF_STATEMENT: u64 = 3;

/// The steps of a probe within an expression: a constant, and the filter.
const STEPS_OF_EXPRESSION: u64 = 2;

/// A render whose hits are recorded.
struct Recording {
    recorder: Recorder,
    /// The steps that a plain render may take.
    fuel: u64,
}

thread_local! {
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
    /// The steps that the probes of the render on this thread have taken.
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// What a probe reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A statement or a macro begins.
    Reach,
    Loop,
    /// An iteration of a loop begins.
    Iteration,
    /// The `else` of a loop begins.
    Else,
    EndLoop,
    End,
}

impl Event {
    const ALL: [Event; 6] = [
        Event::Reach,
        Event::Loop,
        Event::Iteration,
        Event::Else,
        Event::EndLoop,
        Event::End,
    ];

    /// An event at a site, in a number.
    pub(crate) fn at(self, site: usize) -> usize {
        site * Event::ALL.len() + self as usize
    }

    /// The event and the site in a number.
    fn of(number: usize) -> (Event, usize) {
        let count = Event::ALL.len();
        (Event::ALL[number % count], number / count)
    }
}

/// Adds the probes to an environment.
pub(crate) fn add(environment: &mut Environment<'_>) {
    environment.add_filter(
        Operator::Reach.name(),
        |state: &mut State<'_, '_>, number: usize| {
            let (event, site) = Event::of(number);
            record(state, STEPS_OF_STATEMENT, |recorder| match event {
                Event::Reach => recorder.reach(site),
                Event::Loop => recorder.begin_loop(site),
                Event::Iteration => recorder.iteration(site),
                Event::Else => recorder.begin_else(site),
                Event::EndLoop => recorder.end_loop(site),
                Event::End => {}
            })
        },
    );
    environment.add_filter(
        Operator::Decide.name(),
        |state: &mut State<'_, '_>, value: Value, site: usize| {
            let truth = value.is_true();
            record(state, STEPS_OF_EXPRESSION, |recorder| {
                recorder.decide(site, truth);
            })?;
            Ok::<Value, Error>(value)
        },
    );
}

/// Records something, unless the render has used up its steps.
fn record(
    state: &State<'_, '_>,
    steps: u64,
    report: impl FnOnce(&mut Recorder),
) -> Result<(), Error> {
    let of_probes = STEPS.get() + steps;
    STEPS.set(of_probes);
    let taken = state.fuel_levels().map_or(0, |(taken, _)| taken);
    RECORDING.with_borrow_mut(|recording| match recording {
        Some(recording) if taken.saturating_sub(of_probes) >= recording.fuel => Err(out_of_fuel()),
        Some(recording) => {
            report(&mut recording.recorder);
            Ok(())
        }
        None => Ok(()),
    })
}

/// The steps that the probes of the render on this thread have taken.
pub(crate) fn steps_of_probes() -> u64 {
    STEPS.get()
}

/// Records the hits of a render.
pub(crate) fn recorded<T>(sites: usize, fuel: u64, render: impl FnOnce() -> T) -> (T, Hits) {
    /// Ends the recording, after a panic too.
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            RECORDING.take();
            STEPS.set(0);
        }
    }
    let recorder = Recorder::new(sites);
    RECORDING.set(Some(Recording { recorder, fuel }));
    STEPS.set(0);
    let _off = Off;
    let result = render();
    let recording = RECORDING.take();
    let hits = recording.map(|recording| recording.recorder.into_hits());
    (result, hits.unwrap_or_default())
}
