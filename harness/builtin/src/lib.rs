//! The built-in suite: the cases, templates, snapshots and records of this version of Rolecall, and
//! the programs that run the references, packed into the binary.
//!
//! The archive is a tar file, compressed with gzip. The build script packs it from the checkout
//! around it, so a program that is built in a checkout has that checkout's files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::GzDecoder;

/// The archive.
const ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/suite.tar.gz"));

/// The first 12 hexadecimal digits of the SHA-256 of the uncompressed archive. Two programs with
/// the same fingerprint have the same suite.
pub const FINGERPRINT: &str = env!("ROLECALL_SUITE");

/// The bytes that the suite adds to a program.
pub const SIZE: usize = ARCHIVE.len();

/// The suite as plain files in a folder below `cache`. Unpacks it unless it is already there. The
/// folder has the suite's [`FINGERPRINT`] in its name, and contains `cases`, `snapshots` and
/// `scripts` as a checkout does.
///
/// Suites of other versions that were unpacked more than a week ago are removed. A program that
/// still needs one unpacks it again.
///
/// Several programs and threads can do this at the same time: the folder appears complete or not at
/// all.
///
/// # Errors
///
/// The folder cannot be made or written.
pub fn unpacked(cache: &Path) -> io::Result<PathBuf> {
    unpacked_by(unpack, cache)
}

fn unpacked_by(unpack: impl FnOnce(&Path) -> io::Result<()>, cache: &Path) -> io::Result<PathBuf> {
    let folder = cache.join(format!("suite-{FINGERPRINT}"));
    if folder.is_dir() {
        return Ok(folder);
    }
    fs::create_dir_all(cache)?;
    // Dropping the folder removes what is left in it.
    let draft = tempfile::Builder::new()
        .prefix(".suite-")
        .tempdir_in(cache)?;
    let unpacked = draft.path().join("suite");
    unpack(&unpacked)?;
    match fs::rename(&unpacked, &folder) {
        // Another program was faster.
        Err(_) if folder.is_dir() => {}
        done => done?,
    }
    forget_others(cache, &folder);
    Ok(folder)
}

/// Removes suites that are no longer used. A suite that cannot be removed does no harm.
fn forget_others(cache: &Path, kept: &Path) {
    const WEEK: Duration = Duration::from_hours(7 * 24);
    let Ok(entries) = fs::read_dir(cache) else {
        return;
    };
    for entry in entries.flatten() {
        let is_suite = entry.file_name().to_string_lossy().starts_with("suite-");
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        let is_old = changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > WEEK));
        if is_suite && is_old && entry.path() != kept {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn unpack(folder: &Path) -> io::Result<()> {
    tar::Archive::new(GzDecoder::new(ARCHIVE)).unpack(folder)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use super::*;

    #[test]
    fn the_archive_has_the_suite_as_it_is_on_disk() {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut archive = tar::Archive::new(GzDecoder::new(ARCHIVE));
        let mut packed = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            if entry.header().entry_type().is_file() {
                let path = entry.path().unwrap().into_owned();
                let mut content = Vec::new();
                entry.read_to_end(&mut content).unwrap();
                assert!(packed.insert(path, content).is_none());
            }
        }
        let references = ["scripts/engines/ollama", "scripts/engines/transformers"];
        let parts = ["cases", "snapshots"].into_iter().chain(references);
        let mut files: Vec<PathBuf> = parts.flat_map(|part| walk(&checkout.join(part))).collect();
        assert!(files.len() > 1000, "{}", files.len());
        for script in ["scripts/installing.sh", "scripts/setup-references"] {
            files.push(checkout.join(script));
        }
        for file in files {
            let content = packed.remove(file.strip_prefix(&checkout).unwrap());
            assert_eq!(content.unwrap(), fs::read(&file).unwrap(), "{file:?}");
        }
        // The folder contains nothing else.
        assert_eq!(
            packed.into_keys().collect::<Vec<_>>(),
            Vec::<PathBuf>::new()
        );
    }

    #[test]
    fn the_archive_is_unpacked_once() {
        let cache = tempfile::tempdir().unwrap();
        let small = |folder: &Path| {
            fs::create_dir(folder)?;
            fs::write(folder.join("file"), "of a suite")
        };
        let folder = unpacked_by(small, cache.path()).unwrap();
        assert!(folder.ends_with(format!("suite-{FINGERPRINT}")));
        let again = unpacked_by(|_| unreachable!("it is there"), cache.path());
        assert_eq!(again.unwrap(), folder);
        assert_eq!(fs::read(folder.join("file")).unwrap(), b"of a suite");
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }

    #[test]
    fn threads_that_unpack_at_once_do_not_disturb_each_other() {
        let cache = tempfile::tempdir().unwrap();
        let all_begun = std::sync::Barrier::new(8);
        let small = |folder: &Path| {
            fs::create_dir(folder)?;
            // No thread finishes before all have begun.
            all_begun.wait();
            fs::write(folder.join("file"), "of a suite")
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let folder = unpacked_by(small, cache.path()).unwrap();
                    assert_eq!(fs::read(folder.join("file")).unwrap(), b"of a suite");
                });
            }
        });
        // Only the suite, without files of the other folders.
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }

    #[test]
    fn suites_of_other_versions_go_when_they_are_old() {
        let cache = tempfile::tempdir().unwrap();
        let old = cache.path().join("suite-000000000000");
        let new = cache.path().join("suite-111111111111");
        let other = cache.path().join("references");
        for folder in [&old, &new, &other] {
            fs::create_dir(folder).unwrap();
        }
        let long_ago = std::time::SystemTime::now() - Duration::from_hours(8 * 24);
        for folder in [&old, &other] {
            fs::File::open(folder)
                .unwrap()
                .set_modified(long_ago)
                .unwrap();
        }
        forget_others(cache.path(), Path::new("suite-222222222222"));
        assert!(!old.is_dir() && new.is_dir() && other.is_dir());
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        let cache = tempfile::tempdir().unwrap();
        let file = cache.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(unpacked(&file).is_err());
    }

    /// The files below a folder, in the form that the build script packs.
    fn walk(folder: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with('.') || name.ends_with(".snap.new") || name == "__pycache__" {
                continue;
            }
            if path.is_dir() {
                files.extend(walk(&path));
            } else {
                files.push(path);
            }
        }
        files
    }
}
