//! Locks: two programs do not change the same folder at the same time.

// A folder that is locked is opened as a file.
#![allow(clippy::disallowed_methods)]

use std::fs::File;
use std::io;
use std::path::Path;

use crate::problem::Problem;

/// A lock on a folder. It ends when this is dropped, or when the program ends in any way.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Waits until no other program of Rolecall changes a folder, and keeps others waiting from then
    /// on. Calls `on_wait` before it waits. The folder is made if it is missing.
    ///
    /// # Errors
    ///
    /// The folder cannot be made or opened, or the file system has no locks.
    pub fn take(folder: &Path, on_wait: impl FnOnce()) -> Result<FolderLock, Problem> {
        let failed = |error: io::Error| {
            Problem::new(folder, format!("cannot be locked: {error}"))
                .help("another program could write there at the same time, so nothing is written")
        };
        // An empty path is the current folder.
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let file = open(folder).map_err(failed)?;
        // Tried first, so that a user learns why nothing happens before the wait begins.
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                on_wait();
                file.lock().map_err(failed)?;
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        Ok(FolderLock { _file: file })
    }
}

/// The folder itself can be locked, so that nothing else has to be written into it.
#[cfg(unix)]
fn open(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Folders cannot be locked here: a file for each folder represents it.
#[cfg(not(unix))]
fn open(folder: &Path) -> io::Result<File> {
    use crate::fingerprint::Fingerprint;
    let name = Fingerprint::of(folder.canonicalize()?.to_string_lossy().as_bytes());
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(std::env::temp_dir().join(format!("rolecall-{name}.lock")))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let (inside, waited) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let lock = FolderLock::take(&path, || {
                        waited.fetch_add(1, Ordering::SeqCst);
                    });
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(lock.unwrap());
                });
            }
        });
        assert!(waited.into_inner() > 0);
    }
}
