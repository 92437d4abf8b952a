//! The cost of one pair: computing time and allocated memory.

use std::time::Duration;

use rolecall_core::guard::{STACK, load};
use rolecall_core::{Case, Conversation, Engine, Outcome, Template};

use crate::meter::{Taken, taken};

/// The most time for one pair, whatever its template does. The worst pairs take half of it on a
/// machine that is neither new nor busy.
const LONGEST: Duration = Duration::from_secs(2);

/// The most memory that one pair may hold at a time.
const LARGEST: usize = 256 << 20;

/// How much memory may remain in tables that are filled once and in the threads' own buffers.
const KEPT: usize = 1 << 20;

/// How often to measure what looks wrong. A busy machine is sometimes slower, and a table is
/// filled only once, but a pair's own cost comes every time.
const TRIES: usize = 4;

/// Runs something on a thread like those that render, and measures it. The caller must hold
/// [`alone`](crate::meter::alone).
pub(crate) fn measured<T: Send>(work: impl FnOnce() -> T + Send) -> (T, Taken) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || taken(work));
        let thread = thread.expect("a thread can be started");
        match thread.join() {
            Ok(measured) => measured,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Measures something until it costs little enough, and returns the least that it cost. A table is
/// filled only once, and a busy machine is sometimes slower, but its own cost comes every time. The
/// caller must hold [`alone`](crate::meter::alone).
pub(crate) fn least(work: impl Fn() + Sync, is_little: impl Fn(Taken) -> bool) -> Taken {
    let ((), mut least) = measured(&work);
    for _ in 1..TRIES {
        if is_little(least) {
            break;
        }
        let ((), taken) = measured(&work);
        least.at_most(taken);
    }
    least
}

/// The result of a pair in a word: the exceeded limit, or the kind of the outcome.
pub(crate) fn word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Exceeded { limit } => limit.to_string(),
        other => other.kind().to_string(),
    }
}

/// Loads a template and renders one case with it. Returns the result in a word, the cost, and a
/// complaint if the cost is too high.
pub(crate) fn pair(
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
        taken.at_most(other);
    }
    (outcome, taken, complaint(taken))
}

/// The costs that are too high, in words.
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
