//! Errors that happen before there is a test to report them.

use std::io;
use std::path::PathBuf;

use rolecall_core::problem::Problem;
use rolecall_suite::run::RunError;
use rolecall_suite::selection::InvalidFilter;

/// Why the suite cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    /// A filter is invalid, in the code or in the list of expected failures.
    #[error("{place}: {error}")]
    Filter {
        /// The place of the filter.
        place: String,
        /// The reason.
        error: InvalidFilter,
    },
    /// A filter chooses nothing.
    #[error("the filter `{0}` matches no pair of the engine's dialect")]
    Nothing(String),
    /// The suite cannot be unpacked.
    #[error("the suite cannot be unpacked into {}: {error}", folder.display())]
    Unpacking {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A file cannot be read or written.
    #[error("{0}")]
    File(Problem),
    /// The threads cannot be started.
    #[error(transparent)]
    Threads(#[from] RunError),
}
