//! The threads that render many conversations at once. They start with the first need for them.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rolecall_core::guard::STACK;

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
