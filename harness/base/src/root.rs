//! The folder that bounds what is read: nothing outside of it is opened.

use std::path::{Path, PathBuf};

use crate::file::{is_there, read_text};
use crate::problem::Problem;

/// A folder that the user named, or that holds what the user named.
#[derive(Debug, Clone)]
pub struct Root {
    shown: PathBuf,
    real: PathBuf,
}

/// The text of a file below a folder, if it is there. A link may lead elsewhere in the
/// folder, but not outside.
pub fn text_below(folder: &Path, path: &Path) -> Result<Option<String>, Problem> {
    if is_there(path) {
        Root::new(folder)?.text(path)
    } else {
        Ok(None)
    }
}

/// The text of a file, read as [`text_below`] its own folder.
pub fn text_beside(path: &Path) -> Result<Option<String>, Problem> {
    text_below(path.parent().unwrap_or(Path::new("")), path)
}

impl Root {
    /// The folder at a path.
    pub fn new(path: &Path) -> Result<Root, Problem> {
        let real = path
            .canonicalize()
            .map_err(|error| Problem::new(path, format!("cannot be read: {error}")))?;
        Ok(Root {
            shown: path.to_path_buf(),
            real,
        })
    }

    /// The folder as the user wrote it.
    pub fn path(&self) -> &Path {
        &self.shown
    }

    /// Whether there is a file or folder that may be read. A link that leads outside of
    /// the folder, or nowhere, is a problem.
    pub fn has(&self, path: &Path) -> Result<bool, Problem> {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(_) if path.is_symlink() => {
                return Err(Problem::new(path, "a link that leads nowhere"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Problem::new(path, format!("cannot be read: {error}"))),
        };
        if real.starts_with(&self.real) {
            return Ok(true);
        }
        let message = format!("a link that leads outside of {}", self.shown.display());
        Err(Problem::new(path, message)
            .help("nothing outside of the given path is read: give the link's target as the path"))
    }

    /// The text of a file, if it is there.
    pub fn text(&self, path: &Path) -> Result<Option<String>, Problem> {
        if self.has(path)? {
            read_text(path).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The entries of a folder, sorted by name. A missing folder counts as empty.
    pub fn entries(&self, folder: &Path) -> Result<Vec<PathBuf>, Problem> {
        if !self.has(folder)? || !folder.is_dir() {
            return Ok(Vec::new());
        }
        let unreadable =
            |error: std::io::Error| Problem::new(folder, format!("cannot be read: {error}"));
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            paths.push(entry.map_err(unreadable)?.path());
        }
        paths.sort();
        Ok(paths)
    }
}
