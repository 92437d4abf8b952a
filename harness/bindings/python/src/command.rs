//! The command `rolecall`.

use std::ffi::OsString;

use pyo3::prelude::*;
use rolecall_cli::{Started, library};

/// Runs the command, and returns its exit code. A process runs it once.
///
/// `arguments` are those of the command; the first one is its name. `again` are the words that start
/// it again.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, arguments: Vec<OsString>, again: Vec<String>) -> u8 {
    py.detach(|| rolecall_cli::run(Started { arguments, again }))
}

/// Sets the words that start the command: some work needs a new process.
pub(crate) fn start_with(py: Python<'_>) -> PyResult<()> {
    let words: Vec<String> = py
        .import("rolecall.__main__")?
        .call_method0("again")?
        .extract()?;
    library::start_with(words);
    Ok(())
}
