//! What one pair takes: the time that is computed and the memory that is allocated.

use std::time::Duration;

use rolecall_model::guard::{STACK, load};
use rolecall_model::{Case, Conversation, Engine, Outcome, Template};

use crate::meter::{Taken, taken};

/// One pair may take this long and no longer, whatever the template does: the worst take half
/// of it, on a machine that is neither new nor busy with something else.
const LONGEST: Duration = Duration::from_secs(2);

/// One pair may allocate this much at a time, and no more.
const LARGEST: usize = 256 << 20;

/// What tables that are filled once, and the threads' own buffers, may keep.
const KEPT: usize = 1 << 20;

/// What looks wrong is tried again: a busy machine takes longer at times, and a table is
/// filled once, but what a pair really takes it takes every time.
const TRIES: usize = 4;

/// Does something on a thread like those that render, and measures it. The caller is alone:
/// see [`alone`](crate::meter::alone).
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

/// What a pair came to, in a word: the limit that ran out, or the kind of its outcome.
pub(crate) fn word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Exceeded { limit } => limit.to_string(),
        other => other.kind().to_string(),
    }
}

/// Loads a template and renders one case with it. Gives what came of it in a word, what
/// the pair took, and what of that is too much.
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
