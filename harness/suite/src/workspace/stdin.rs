//! A template on standard input, read like any other file.

// The folder is new, and nobody else knows its name.
#![allow(clippy::disallowed_methods)]

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rolecall_core::file::MOST_TEXT;
use rolecall_io::template_file;
use tempfile::TempDir;

use crate::failure::Failure;
use crate::suite::Suite;

/// The path that means standard input.
pub const NAME: &str = "-";
/// The name that messages use for standard input.
const SHOWN: &str = "<stdin>";

/// Whether a path is the name of standard input in messages.
pub fn is_shown(path: &Path) -> bool {
    path == Path::new(SHOWN)
}

/// A template from standard input. Its file exists as long as this value.
pub(super) struct Stdin {
    _folder: TempDir,
    path: PathBuf,
}

impl Stdin {
    /// Reads standard input to its end.
    pub(super) fn read() -> Result<Stdin, Failure> {
        let failed =
            |error: io::Error| Failure::Request(format!("standard input cannot be read: {error}"));
        let mut bytes = Vec::new();
        // Reads one byte more than a template may have, so that the reader of the file reports the
        // size.
        io::stdin()
            .lock()
            .take(MOST_TEXT + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let extension = if template_file::is_go(&String::from_utf8_lossy(&bytes)) {
            "gotmpl"
        } else {
            "jinja"
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join("stdin").with_extension(extension);
        std::fs::write(&path, bytes).map_err(failed)?;
        Ok(Stdin {
            _folder: folder,
            path,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets messages about the file say standard input instead of its path.
    pub(super) fn rename(&self, suite: &mut Suite) {
        let templates = suite
            .templates
            .iter_mut()
            .map(|template| &mut template.path);
        let problems = suite.problems.iter_mut().map(|problem| &mut problem.path);
        let notes = suite.notes.iter_mut().map(|note| &mut note.path);
        for path in templates.chain(problems).chain(notes) {
            if *path == self.path {
                *path = PathBuf::from(SHOWN);
            }
        }
    }
}
