//! What one pair takes: the time that is computed and the memory that is allocated.

// Not every test uses everything.
#![allow(dead_code, unreachable_pub)]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use peak_alloc::PeakAlloc;
use rolecall_model::guard::load;
use rolecall_model::{Case, Conversation, Engine, Outcome, Template};

use crate::clock;

/// One pair may take this long and no longer, whatever the template does.
const LONGEST: Duration = Duration::from_secs(1);

/// One pair may allocate this much at a time, and no more.
const LARGEST: usize = 256 << 20;

/// What tables that are filled once, and the threads' own buffers, may keep.
const KEPT: usize = 1 << 20;

/// What looks wrong is tried again: a busy machine takes longer at times, and a table is
/// filled once, but what a pair really takes it takes every time.
const TRIES: usize = 4;

/// The stack of the threads that render.
const STACK: usize = 64 << 20;

/// Counts every allocation of the test's process. It grows a block by making another
/// one, so that the figures hold for allocators that have no better way.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// What something took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Taken {
    pub time: Duration,
    /// Bytes allocated at the worst moment.
    pub peak: usize,
    /// Bytes still allocated at the end.
    pub kept: usize,
}

/// As long as this is held no other test of the same program is being measured.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something on a thread like those that render, and measures it.
pub fn measured<T: Send>(work: impl FnOnce() -> T + Send) -> (T, Taken) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || {
                let begin = clock::computed();
                let before = HEAP.current_usage();
                HEAP.reset_peak_usage();
                let done = work();
                let taken = Taken {
                    time: clock::since(begin),
                    peak: HEAP.peak_usage().saturating_sub(before),
                    kept: HEAP.current_usage().saturating_sub(before),
                };
                (done, taken)
            });
        let thread = thread.expect("a thread can be started");
        match thread.join() {
            Ok(measured) => measured,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// What a pair came to, in a word: the limit that ran out, or the kind of its outcome.
pub fn word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Exceeded { limit } => limit.to_string(),
        other => other.kind().to_string(),
    }
}

/// Loads a template and renders one case with it. Gives what came of it in a word, what
/// the pair took, and what of that is too much.
pub fn pair(
    engine: &dyn Engine,
    template: &Template,
    case: &Case,
) -> (String, Taken, Option<String>) {
    let once = || {
        measured(|| {
            let outcome = load(engine, template).render(&Conversation::new(case));
            word(&outcome)
        })
    };
    let (outcome, mut taken) = once();
    for _ in 1..TRIES {
        if complaint(taken).is_none() {
            break;
        }
        let (again, other) = once();
        if again != outcome {
            return (
                outcome.clone(),
                taken,
                Some(format!("gives {outcome} and then {again}")),
            );
        }
        taken.time = taken.time.min(other.time);
        taken.kept = taken.kept.min(other.kept);
        taken.peak = taken.peak.max(other.peak);
    }
    (outcome, taken, complaint(taken))
}

/// What is too much.
fn complaint(taken: Taken) -> Option<String> {
    let mib = |bytes: usize| bytes.div_ceil(1 << 20);
    if taken.time >= LONGEST {
        Some(format!("takes {:?}", taken.time))
    } else if taken.peak >= LARGEST {
        Some(format!("takes {} MiB", mib(taken.peak)))
    } else if taken.kept > KEPT {
        Some(format!("keeps {} MiB", mib(taken.kept)))
    } else {
        None
    }
}
