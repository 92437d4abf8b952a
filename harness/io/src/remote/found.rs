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

#[cfg(feature = "fetch")]
#[derive(Default)]
pub(super) struct FetchCount {
    files: usize,
    bytes: u64,
}

#[cfg(feature = "fetch")]
impl FetchCount {
    pub(super) fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }

    /// A model of which so much was fetched.
    pub(super) fn found(&self, path: impl Into<PathBuf>, model: &str) -> FoundModel {
        let mut found = FoundModel::at(path);
        if self.files > 0 {
            let files = if self.files == 1 { "file" } else { "files" };
            let size = bytesize::ByteSize::b(self.bytes);
            let size = size.display().si();
            found.fetched = Some(format!(
                "fetched {} {files} ({size}) of {model}",
                self.files
            ));
        }
        found
    }
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
