//! The built-in suite of Rolecall, packed: conversations, chat templates, and the prompts that
//! Hugging Face transformers and Ollama make of them. The program `rolecall` and the crate
//! [`rolecall-conformance`](https://crates.io/crates/rolecall-conformance) unpack it.
//!
//! With the feature `packed` the program contains the suite, as a tar file that is compressed with
//! gzip: the build script packs it from the checkout around it. Without it the program reads that
//! checkout when it runs, so nobody has to build it again after a change of a case.

// The folder is the user's own, and what is written into it comes from this program.
#![allow(clippy::disallowed_methods)]

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use flate2::Crc;

#[cfg_attr(packed, path = "packed.rs")]
#[cfg_attr(not(packed), path = "checkout.rs")]
mod content;

#[cfg(any(test, not(packed)))]
mod files;

pub use content::{SIZE, fingerprint};

/// The file in an unpacked suite that shows that this program unpacked it, and completely: its
/// fingerprint, and in a second line the [`state`] of its files.
const MARK: &str = ".rolecall-suite";

/// The folders that commands read. Those who use the scripts write them again.
const READ: [&str; 2] = ["cases", "snapshots"];

/// The beginning of the name of a suite that is being unpacked.
const DRAFT: &str = ".suite-";

/// The suite as plain files in a folder below `cache`. Unpacks it unless it is already there. The
/// folder has the suite's [`fingerprint`] in its name, and contains `cases`, `snapshots` and
/// `scripts` as a checkout does.
///
/// Suites of other versions that were unpacked more than a week ago are removed, and what a program
/// left that was killed while it unpacked. A program that still needs such a suite unpacks it again.
/// Nothing is removed that this function did not make.
///
/// Several programs and threads can do this at the same time: one unpacks, and the others wait. The
/// folder appears complete or not at all.
///
/// # Errors
///
/// The folder cannot be made or written.
pub fn unpacked(cache: &Path) -> io::Result<PathBuf> {
    // A command asks several times, and nobody changes the files in between.
    static FOUND: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = cache.join(format!("suite-{}", fingerprint()));
    if found.contains(&folder) && folder.join(MARK).exists() {
        return Ok(folder);
    }
    let folder =
        unpacked_by(|folder| content::write(folder, &|_| true), cache).map_err(first_cause)?;
    found.push(folder.clone());
    Ok(folder)
}

fn unpacked_by(unpack: impl FnOnce(&Path) -> io::Result<()>, cache: &Path) -> io::Result<PathBuf> {
    let folder = cache.join(format!("suite-{}", fingerprint()));
    if is_unpacked(&folder) {
        if entries(cache).any(|(name, _)| name.starts_with(DRAFT))
            // A program that is at work has the lock, and its draft stays.
            && let Some(_lock) = fs::File::open(cache)
                .ok()
                .filter(|lock| lock.try_lock().is_ok())
        {
            forget_drafts(cache);
        }
        return Ok(folder);
    }
    fs::create_dir_all(cache)?;
    let lock = lock(cache);
    // Another program may have unpacked it while this one waited for the lock.
    if is_unpacked(&folder) {
        return Ok(folder);
    }
    if lock.is_some() {
        forget_drafts(cache);
    }
    // Dropping the folder removes what is left in it.
    let draft = tempfile::Builder::new().prefix(DRAFT).tempdir_in(cache)?;
    // First of all: a draft without a mark is removed only if it is empty, in case it is somebody
    // else's.
    fs::write(draft.path().join(MARK), fingerprint())?;
    let unpacked = draft.path().join("suite");
    unpack(&unpacked)?;
    mark(&unpacked)?;
    if folder.symlink_metadata().is_ok() {
        // Something else has the name, or a part of the suite was removed.
        fs::rename(&folder, draft.path().join("before"))?;
    }
    match fs::rename(&unpacked, &folder) {
        // Another program was faster, on a system without the lock.
        Err(_) if is_unpacked(&folder) => {}
        done => done?,
    }
    forget_others(cache, &folder);
    Ok(folder)
}

/// Whether a folder holds a suite that this program, or another one with the same suite, has
/// unpacked, and that is as it was then: none of its files is gone or was written since.
fn is_unpacked(folder: &Path) -> bool {
    let is_as_it_was = |known: &str| state(folder).is_ok_and(|state| state == known);
    mark_of(folder).is_some_and(|mark| {
        let (fingerprint, known) = mark.split_once('\n').unwrap_or_default();
        fingerprint == self::fingerprint() && is_as_it_was(known)
    })
}

/// Marks a folder as a suite that was unpacked as it is now. Tests use it for a suite that they
/// have changed.
///
/// # Errors
///
/// The folder cannot be read, or the mark cannot be written.
#[doc(hidden)]
pub fn mark(folder: &Path) -> io::Result<()> {
    let state = state(folder)?;
    fs::write(folder.join(MARK), format!("{}\n{state}", fingerprint()))
}

/// The text in the mark of a folder. None if it has no mark.
fn mark_of(folder: &Path) -> Option<String> {
    let mark = folder.join(MARK);
    let metadata = mark.symlink_metadata();
    // A mark has two short lines. A larger file of this name is none of ours, and is not read.
    let is_small_file = metadata.is_ok_and(|file| file.is_file() && file.len() < 100);
    is_small_file.then(|| fs::read_to_string(&mark).ok())?
}

/// The state of a suite's files, in a word: which there are, how large, and when each was written.
/// Cleaners of caches and broken backups change it. To compare every byte would take longer than to
/// render the suite.
fn state(folder: &Path) -> io::Result<String> {
    let mut sum = Crc::new();
    for part in READ {
        let part = folder.join(part);
        if part.symlink_metadata().is_ok() {
            add_state(&mut sum, &part)?;
        }
    }
    Ok(format!("{} bytes, {:08x}", sum.amount(), sum.sum()))
}

fn add_state(sum: &mut Crc, folder: &Path) -> io::Result<()> {
    let entries = fs::read_dir(folder)?;
    let mut entries: Vec<fs::DirEntry> = entries.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let metadata = entry.metadata()?;
        sum.update(entry.file_name().as_encoded_bytes());
        if metadata.is_dir() {
            sum.update(b"/");
            add_state(sum, &entry.path())?;
            continue;
        }
        add_file(sum, &metadata)?;
    }
    Ok(())
}

fn add_file(sum: &mut Crc, metadata: &fs::Metadata) -> io::Result<()> {
    let written = metadata.modified()?;
    let written = written.duration_since(SystemTime::UNIX_EPOCH);
    let written = written.unwrap_or_default().as_nanos();
    sum.update(format!("\n{} {written}\n", metadata.len()).as_bytes());
    Ok(())
}

/// Keeps other programs from unpacking. None if the system cannot.
fn lock(cache: &Path) -> Option<fs::File> {
    let folder = fs::File::open(cache).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// Removes suites that are no longer used. A suite that cannot be removed does no harm.
fn forget_others(cache: &Path, kept: &Path) {
    const WEEK: Duration = Duration::from_hours(7 * 24);
    for (name, path) in entries(cache) {
        let Some(fingerprint) = name.strip_prefix("suite-") else {
            continue;
        };
        // Nothing is removed through a link.
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        let changed = metadata.modified();
        let is_old = changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > WEEK));
        if metadata.is_dir()
            && is_old
            && path != kept
            && mark_of(&path).is_some_and(|mark| mark.lines().next() == Some(fingerprint))
        {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Removes what killed programs left. The caller holds the lock, so no other program unpacks.
fn forget_drafts(cache: &Path) {
    for (name, path) in entries(cache) {
        if !name.starts_with(DRAFT) {
            continue;
        }
        // A program may be killed before it writes the mark. Then the folder is empty.
        if mark_of(&path).is_some() {
            // The mark goes last, so that the next program can go on if this one is killed.
            for (_, inside) in entries(&path).filter(|(name, _)| name != MARK) {
                let _ = fs::remove_dir_all(inside);
            }
            let _ = fs::remove_file(path.join(MARK));
        }
        let _ = fs::remove_dir(path);
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, entry.path())
    })
}

/// Writes the scripts of an unpacked suite again, as they are in this program: they are about to run.
///
/// # Errors
///
/// A file cannot be written.
pub fn restore_scripts(suite: &Path) -> io::Result<()> {
    content::write(suite, &|path| path.starts_with("scripts")).map_err(first_cause)
}

/// The error that another one was made of: a full disk, not that something could not be unpacked.
#[allow(clippy::needless_pass_by_value)] // It is passed to `map_err`.
fn first_cause(error: io::Error) -> io::Error {
    let mut cause: &dyn Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    io::Error::new(error.kind(), cause.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_suite_is_that_of_the_checkout() {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = tempfile::tempdir().unwrap();
        let suite = unpacked(folder.path()).unwrap();
        let files = files::files(&checkout).unwrap();
        assert!(files.len() > 200, "{}", files.len());
        for file in &files {
            let written = suite.join(file.strip_prefix(&checkout).unwrap());
            assert_eq!(fs::read(written).unwrap(), fs::read(file).unwrap());
        }
        // The folder contains nothing else.
        let written = walkdir::WalkDir::new(&suite).into_iter().flatten();
        let written = written.filter(|entry| entry.file_type().is_file());
        assert_eq!(written.count(), files.len() + 1, "the suite and its mark");
    }

    #[test]
    fn the_suite_is_unpacked_once() {
        let cache = tempfile::tempdir().unwrap();
        let small = |folder: &Path| {
            fs::create_dir(folder)?;
            fs::write(folder.join("file"), "of a suite")
        };
        let folder = unpacked_by(small, cache.path()).unwrap();
        assert!(folder.ends_with(format!("suite-{}", fingerprint())));
        let again = unpacked_by(|_| unreachable!("it is there"), cache.path());
        assert_eq!(again.unwrap(), folder);
        assert_eq!(fs::read(folder.join("file")).unwrap(), b"of a suite");
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_suite_that_somebody_changed_is_unpacked_again() {
        let cache = tempfile::tempdir().unwrap();
        let small = |folder: &Path| {
            fs::create_dir_all(folder.join("cases/templates"))?;
            fs::create_dir_all(folder.join("snapshots"))?;
            fs::create_dir_all(folder.join("scripts"))?;
            fs::write(folder.join("cases/templates/a.jinja"), "a")?;
            fs::write(folder.join("snapshots/a.snap"), "a")
        };
        let folder = unpacked_by(small, cache.path()).unwrap();
        let file = folder.join("cases/templates/a.jinja");
        let changes: [&dyn Fn(); 5] = [
            &|| fs::remove_file(&file).unwrap(),
            &|| fs::remove_dir_all(folder.join("snapshots")).unwrap(),
            &|| fs::write(&file, "more").unwrap(),
            &|| {
                fs::write(&file, "b").unwrap();
                // A test is faster than the clocks of some file systems.
                let later = SystemTime::now() + Duration::from_secs(10);
                let file = fs::File::options().write(true).open(&file).unwrap();
                file.set_modified(later).unwrap();
            },
            &|| fs::write(folder.join("snapshots/b.snap"), "b").unwrap(),
        ];
        for change in changes {
            change();
            assert_eq!(unpacked_by(small, cache.path()).unwrap(), folder);
            assert_eq!(fs::read(&file).unwrap(), b"a");
            assert!(!folder.join("snapshots/b.snap").exists());
        }
        // The programs that run the references write files of their own into the folder.
        fs::write(folder.join("scripts/made"), "").unwrap();
        let again = unpacked_by(|_| unreachable!("it is there"), cache.path());
        assert_eq!(again.unwrap(), folder);
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }

    #[test]
    fn threads_that_unpack_at_once_do_not_disturb_each_other() {
        let cache = tempfile::tempdir().unwrap();
        let all_begun = std::sync::Barrier::new(8);
        let unpacked = std::sync::atomic::AtomicUsize::new(0);
        let small = |folder: &Path| {
            unpacked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            fs::create_dir(folder)?;
            fs::write(folder.join("file"), "of a suite")
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    all_begun.wait();
                    let folder = unpacked_by(small, cache.path()).unwrap();
                    assert_eq!(fs::read(folder.join("file")).unwrap(), b"of a suite");
                });
            }
        });
        // Only the suite, without files of the other folders.
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
        if cfg!(unix) {
            assert_eq!(unpacked.into_inner(), 1);
        }
    }

    #[test]
    fn what_killed_programs_left_goes_and_nothing_else() {
        let cache = tempfile::tempdir().unwrap();
        let path = |name: &str| cache.path().join(name);
        for name in [".suite-marked", ".suite-empty", ".suite-strange", "other"] {
            fs::create_dir(path(name)).unwrap();
        }
        fs::write(path(".suite-marked").join(MARK), "an older one").unwrap();
        fs::write(path(".suite-strange/file"), "of the user").unwrap();
        // A part of the suite was removed, and with it the mark.
        fs::create_dir(path(&format!("suite-{}", fingerprint()))).unwrap();
        let folder = unpacked_by(|folder: &Path| fs::create_dir(folder), cache.path()).unwrap();
        assert!(is_unpacked(&folder));
        let mut left: Vec<_> = entries(cache.path()).map(|(name, _)| name).collect();
        left.sort();
        let suite = format!("suite-{}", fingerprint());
        assert_eq!(left, [".suite-strange", "other", &suite]);
    }

    #[test]
    fn suites_of_other_versions_go_when_they_are_old() {
        let cache = tempfile::tempdir().unwrap();
        let old = cache.path().join("suite-000000000000");
        let new = cache.path().join("suite-111111111111");
        let other = cache.path().join("references");
        let strange = cache.path().join("suite-of-the-user");
        for folder in [&old, &new, &other, &strange] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("file"), "").unwrap();
        }
        fs::write(old.join(MARK), "000000000000").unwrap();
        fs::write(new.join(MARK), "111111111111").unwrap();
        let long_ago = std::time::SystemTime::now() - Duration::from_hours(8 * 24);
        for folder in [&old, &other, &strange] {
            fs::File::open(folder)
                .unwrap()
                .set_modified(long_ago)
                .unwrap();
        }
        forget_others(cache.path(), Path::new("suite-222222222222"));
        assert!(!old.is_dir() && new.is_dir() && other.is_dir() && strange.is_dir());
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        let cache = tempfile::tempdir().unwrap();
        let file = cache.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(unpacked(&file).is_err());
    }
}
