//! What was found of a model by its name.

use std::path::PathBuf;

use rolecall::problem::Note;

/// Where a model is on this machine, and what there is to know about that.
#[derive(Debug)]
pub(crate) struct Found {
    /// The file or folder with its templates.
    pub(crate) path: PathBuf,
    /// What was fetched, in a line.
    pub(crate) fetched: Option<String>,
    /// What there is to know about the choice of files.
    pub(crate) notes: Vec<Note>,
}

impl Found {
    /// A file or folder, for which nothing had to be fetched.
    #[cfg(feature = "fetch")]
    pub(super) fn at(path: impl Into<PathBuf>) -> Found {
        Found {
            path: path.into(),
            fetched: None,
            notes: Vec::new(),
        }
    }
}
