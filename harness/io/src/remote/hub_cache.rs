//! A repository in the cache of `huggingface_hub`: `models--org--name/{blobs,refs,snapshots}`.
//!
//! A file is in `blobs` by its `ETag`; the snapshot of a commit has a link to it, or the file
//! itself where there can be no links. `refs/<revision>` has the commit of a branch or a tag. It
//! is written once all files of the snapshot are there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rolecall_core::file::{MOST_TEXT, read_bytes, write_whole};
use rolecall_core::problem::Problem;

/// The most bytes of a file in `refs`.
const MOST_OF_REF: u64 = 4 << 10;

pub(super) struct Repository {
    folder: PathBuf,
}

impl Repository {
    /// The repository of a name. It need not exist.
    pub(super) fn new(cache: &Path, name: &str) -> Repository {
        Repository {
            folder: cache.join(format!("models--{}", name.replace('/', "--"))),
        }
    }

    /// The folder of a commit's files.
    pub(super) fn snapshot(&self, commit: &str) -> PathBuf {
        self.folder.join("snapshots").join(commit)
    }

    /// The commit that a revision had at the last request, if its snapshot is there. The
    /// revision may itself be a commit.
    pub(super) fn commit(&self, revision: &str) -> Option<String> {
        // A snapshot is a folder of its own: a link could lead out of the cache.
        let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let is_there = |commit: &String| is_commit(commit) && is_folder(&self.snapshot(commit));
        let kept = read_bytes(&self.folder.join("refs").join(revision), MOST_OF_REF).ok();
        let kept = kept.and_then(|bytes| String::from_utf8(bytes).ok());
        let kept = kept.map(|commit| commit.trim().to_owned());
        kept.into_iter().chain([revision.to_owned()]).find(is_there)
    }

    /// Records the commit of a revision.
    pub(super) fn keep_commit(&self, revision: &str, commit: &str) -> Result<(), Problem> {
        let path = self.folder.join("refs").join(revision);
        // A cache that is up to date may be read-only, and other programs may be reading it.
        let is_kept = read_bytes(&path, MOST_OF_REF).is_ok_and(|kept| kept == commit.as_bytes());
        if revision == commit || is_kept {
            return Ok(());
        }
        write_whole(&path, commit)
    }

    /// Whether the file of an `ETag` is there.
    pub(super) fn has_blob(&self, etag: &str) -> bool {
        self.blob(etag).is_file()
    }

    fn blob(&self, etag: &str) -> PathBuf {
        self.folder.join("blobs").join(etag)
    }

    /// Keeps a file of a commit. Without bytes, the blob of the `ETag` is already there.
    pub(super) fn keep(
        &self,
        commit: &str,
        file: &str,
        etag: &str,
        bytes: Option<&[u8]>,
        may_link: bool,
    ) -> Result<(), Problem> {
        let path = self.snapshot(commit).join(file);
        let blob = self.blob(etag);
        if may_link {
            if let Some(bytes) = bytes {
                write_whole(&blob, bytes)?;
            }
            if link(&path, etag, file).is_ok() {
                return Ok(());
            }
        }
        match bytes {
            Some(bytes) => write_whole(&path, bytes)?,
            None => write_whole(&path, read_bytes(&blob, MOST_TEXT)?)?,
        }
        // The file itself is in the snapshot now, as `huggingface_hub` has it without links.
        if may_link && bytes.is_some() {
            let _ = fs::remove_file(&blob);
        }
        Ok(())
    }

    /// Keeps a file of a commit in the snapshot, without a blob.
    pub(super) fn keep_alone(&self, commit: &str, file: &str, bytes: &[u8]) -> Result<(), Problem> {
        write_whole(&self.snapshot(commit).join(file), bytes)
    }
}

/// Whether a text is the hash of a commit.
pub(super) fn is_commit(text: &str) -> bool {
    text.len() == 40
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Makes a link in a snapshot to the blob of an `ETag`.
fn link(path: &Path, etag: &str, file: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // A link that leads nowhere is in the way.
    if path.is_symlink() {
        fs::remove_file(path)?;
    }
    // Up to the file's folder in `snapshots`, then out of the commit and out of `snapshots`.
    let up = "../".repeat(file.split('/').count() + 1);
    let target = format!("{up}blobs/{etag}");
    #[cfg(unix)]
    return std::os::unix::fs::symlink(target, path);
    #[cfg(windows)]
    return std::os::windows::fs::symlink_file(target.replace('/', "\\"), path);
    #[cfg(not(any(unix, windows)))]
    return Err(io::Error::other(format!("no links here: {target}")));
}
