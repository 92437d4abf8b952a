//! The threads that render many conversations at once. They start with the first need for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rolecall_model::guard::STACK;

/// How often work looks whether the user wants to end it.
const WATCH: Duration = Duration::from_millis(5);

/// The threads, and the process that they belong to.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// One thread for each core. A process that was forked off has none of its parent's threads, so it
/// starts its own.
pub(crate) fn pool() -> PyResult<Arc<ThreadPool>> {
    let process = std::process::id();
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = &*known
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new()
        .stack_size(STACK)
        .thread_name(|number| format!("rolecall-{number}"))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("no threads: {error}")))?;
    let pool = Arc::new(pool);
    if let Some(of_parent) = known.replace((process, Arc::clone(&pool))) {
        // To drop it would wait for threads that there are not.
        std::mem::forget(of_parent);
    }
    Ok(pool)
}

/// Does work on another thread, while this one looks whether the user wants to end it, as with Ctrl-C.
/// Then it sets the flag, waits for the work, and returns what Python has raised.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
    is_ended: &AtomicBool,
) -> PyResult<T> {
    let is_done = AtomicBool::new(false);
    let here = thread::current();
    thread::scope(|scope| {
        let done = || {
            let result = work();
            is_done.store(true, Ordering::Release);
            here.unpark();
            result
        };
        let work = thread::Builder::new()
            .spawn_scoped(scope, done)
            .map_err(|error| PyRuntimeError::new_err(format!("no thread: {error}")))?;
        let mut wanted = Ok(());
        while !is_done.load(Ordering::Acquire) && !work.is_finished() {
            py.detach(|| thread::park_timeout(WATCH));
            if wanted.is_ok() {
                wanted = py.check_signals();
                is_ended.store(wanted.is_err(), Ordering::Relaxed);
            }
        }
        let result = py.detach(|| work.join());
        wanted?;
        result.map_err(|_| PyRuntimeError::new_err("a thread panicked"))
    })
}
