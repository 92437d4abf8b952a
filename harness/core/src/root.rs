//! The folder that bounds what is read: nothing outside of it is opened.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::file::{Links, MOST_TEXT, RegularFile, is_there, open, open_file, read_bytes, text_of};
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
pub fn text_if_there(path: &Path) -> Result<Option<String>, Problem> {
    if is_there(path) {
        Root::of_folder_of(path)?.text(path)
    } else {
        Ok(None)
    }
}

/// The content of a file of at most `most` bytes. With a bound, the file lies in that folder.
pub fn bytes_within(bound: Option<&Root>, path: &Path, most: u64) -> Result<Vec<u8>, Problem> {
    match bound {
        Some(root) => root.bytes(path, most)?.ok_or_else(|| missing(path)),
        None => read_bytes(path, most),
    }
}

/// The text of a file, read as [`bytes_within`] reads it.
pub fn text_within(bound: Option<&Root>, path: &Path, most: u64) -> Result<String, Problem> {
    text_of(path, bytes_within(bound, path, most)?)
}

/// A regular file, open for reading. With a bound, the file lies in that folder.
pub fn open_within(bound: Option<&Root>, path: &Path) -> Result<File, Problem> {
    match bound {
        Some(root) => root.open(path)?.ok_or_else(|| missing(path)),
        None => open_file(path),
    }
}

fn missing(path: &Path) -> Problem {
    Problem::new(path, "no such file")
}

impl Root {
    /// The folder at a path, which has to exist.
    pub fn new(path: &Path) -> Result<Root, Problem> {
        let real = path
            .canonicalize()
            .map_err(|error| Problem::new(path, format!("cannot be read: {error}")))?;
        Ok(Root {
            shown: path.to_path_buf(),
            real,
        })
    }

    /// The folder that a file is in.
    pub fn of_folder_of(file: &Path) -> Result<Root, Problem> {
        let folder = file.parent().filter(|folder| *folder != Path::new(""));
        Root::new(folder.unwrap_or(Path::new(".")))
    }

    /// The folder as the user wrote it.
    pub fn path(&self) -> &Path {
        &self.shown
    }

    /// Whether there is a file or folder that may be read. A link that leads outside of
    /// the folder, or nowhere, is a problem.
    pub fn has(&self, path: &Path) -> Result<bool, Problem> {
        self.real(path).map(|real| real.is_some())
    }

    /// The path without links, if there is anything at it and it lies in the folder.
    fn real(&self, path: &Path) -> Result<Option<PathBuf>, Problem> {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(_) if path.is_symlink() => {
                return Err(Problem::new(path, "a link that leads nowhere"));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Problem::new(path, format!("cannot be read: {error}"))),
        };
        if real.starts_with(&self.real) {
            return Ok(Some(real));
        }
        let message = format!("a link that leads outside of {}", self.shown.display());
        Err(Problem::new(path, message)
            .help("nothing outside of the given path is read: give the link's target as the path"))
    }

    /// The text of a file, if it is there.
    pub fn text(&self, path: &Path) -> Result<Option<String>, Problem> {
        let bytes = self.bytes(path, MOST_TEXT)?;
        bytes.map(|bytes| text_of(path, bytes)).transpose()
    }

    /// The content of a file of at most `most` bytes, if it is there.
    pub fn bytes(&self, path: &Path, most: u64) -> Result<Option<Vec<u8>>, Problem> {
        let bytes = self.regular(path)?.map(|file| file.read(most)).transpose();
        bytes.map_err(|refusal| Problem::new(path, refusal.to_string()))
    }

    /// A regular file, open for reading, if it is there.
    pub fn open(&self, path: &Path) -> Result<Option<File>, Problem> {
        Ok(self.regular(path)?.map(RegularFile::into_file))
    }

    /// A regular file, if it is there.
    ///
    /// The file is opened before the folder that it is in is checked, and then compared with the
    /// file that was checked. So it does not matter whether somebody exchanges it meanwhile.
    fn regular(&self, path: &Path) -> Result<Option<RegularFile>, Problem> {
        let file = match open(path, Links::Followed) {
            Ok(file) => file,
            // A link that leads nowhere, or outside, is another problem.
            Err(refusal) => {
                return if self.has(path)? {
                    Err(Problem::new(path, refusal.to_string()))
                } else {
                    Ok(None)
                };
            }
        };
        let Some(real) = self.real(path)? else {
            return Ok(None);
        };
        if file.is_at(&real) {
            return Ok(Some(file));
        }
        let message = "somebody exchanged the file while it was read";
        Err(Problem::new(path, message))
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
        // The order in which systems list a folder differs, and reports follow this one.
        paths.sort();
        Ok(paths)
    }
}
