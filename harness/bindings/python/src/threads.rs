//! The threads that render many conversations at once. They start with the first need for them.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rolecall_cli::report::progress::Progress;
use rolecall_core::guard::{STACK, catch};

/// How often long work looks whether the user wants to end it.
pub(crate) const WATCH: Duration = Duration::from_millis(20);

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

/// Does something that may take long on the threads, and returns at once if a signal such as Ctrl-C
/// raises an exception. What was begun then ends by itself, and its result is dropped.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    pool()?.spawn(move || {
        // Nobody may be waiting any more.
        let _ = sender.send(catch(work));
    });
    loop {
        let answer;
        (receiver, answer) = py.detach(move || {
            let answer = receiver.recv_timeout(WATCH);
            (receiver, answer)
        });
        match answer {
            Ok(result) => return result.map_err(PyRuntimeError::new_err),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("a thread has ended"));
            }
        }
    }
}

/// A progress bar on a terminal, for work that takes longer than a second.
pub(crate) struct LateBar {
    begun: Instant,
    /// How many things there are. Without a number there is no bar.
    count: Option<usize>,
    what: &'static str,
    things: &'static str,
    bar: Option<Progress>,
    shown: usize,
}

impl LateBar {
    pub(crate) fn new(count: Option<usize>, what: &'static str, things: &'static str) -> LateBar {
        LateBar {
            begun: Instant::now(),
            count,
            what,
            things,
            bar: None,
            shown: 0,
        }
    }

    /// So many things are done.
    pub(crate) fn at(&mut self, done: usize) {
        let is_late = self.begun.elapsed() > Duration::from_secs(1);
        let Some(count) = self.count.filter(|_| is_late) else {
            return;
        };
        let new = || Progress::new(count, self.what, self.things);
        let step = self.bar.get_or_insert_with(new).step();
        (self.shown..done).for_each(|_| step());
        self.shown = done;
    }
}

impl Drop for LateBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
    }
}
