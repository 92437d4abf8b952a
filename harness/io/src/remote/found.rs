//! A model that was found by its name.

use std::path::PathBuf;

use rolecall_core::problem::Note;

/// Where a model is on this machine, with notes.
#[derive(Debug)]
pub struct FoundModel {
    /// The file or folder with its templates.
    pub path: PathBuf,
    /// What was fetched, in a line.
    pub fetched: Option<String>,
    /// Notes about the choice of files.
    pub notes: Vec<Note>,
}

impl FoundModel {
    /// A file or folder, for which nothing had to be fetched.
    #[cfg(feature = "fetch")]
    pub(super) fn at(path: impl Into<PathBuf>) -> FoundModel {
        FoundModel {
            path: path.into(),
            fetched: None,
            notes: Vec::new(),
        }
    }
}
