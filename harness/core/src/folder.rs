//! Folders that are written as a whole: a failure leaves the folder as it was, and so does a kill.
//!
//! The new folder is written under another name, a draft next to the old one. Then the two exchange
//! their names in one step. A system that cannot do so renames both, one after the other; if the
//! program is killed in between, the next one that writes there puts the old folder back.

// The folder that is written into is new, and nobody else knows its name.
#![allow(clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::file::{folder_of, hold_size, is_draft, is_old, is_there, read_text};
use crate::problem::Problem;

/// The file that lists the others in its folder. Rolecall did not write any file that is
/// not listed.
pub(crate) const LIST: &str = "files.json";

/// The file in a draft that its writer has locked.
const LOCK: &str = "lock";

/// The folder in a draft that holds the folder that is replaced, under its own name.
const OLD: &str = "old";

/// Writes files into a folder. `files` maps paths below the folder, with slashes, to texts. An
/// existing folder is replaced only if it is empty, or holds nothing but files of the same kind
/// that this function wrote before.
pub fn replace(path: &Path, files: &BTreeMap<String, String>, kind: &str) -> Result<(), Problem> {
    let failed = |error: io::Error| Problem::new(path, format!("cannot be written: {error}"));
    hold(path, kind)?;
    let parent = folder_of(path);
    std::fs::create_dir_all(parent).map_err(failed)?;
    let draft = draft_in(parent).map_err(failed)?;
    // The lock shows that its writer is at work.
    let lock = File::create(draft.path().join(LOCK)).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let names: Vec<&String> = files.keys().collect();
    let list = serde_json::json!({"kind": kind, "files": names});
    let list = [(LIST.to_owned(), format!("{list:#}\n"))];
    for (name, text) in files
        .iter()
        .chain(list.iter().map(|(name, text)| (name, text)))
    {
        // The new files are in `new` inside the draft. At the end only `new` is moved, so the lock beside
        // it stays in the draft.
        let file = draft.path().join("new").join(name);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        hold_size(text.len()).map_err(failed)?;
        std::fs::write(file, text).map_err(failed)?;
    }
    let new = draft.path().join("new");
    if !is_there(path) {
        return std::fs::rename(&new, path).map_err(failed);
    }
    // The old folder is in the draft now, and is deleted with it.
    if exchange(&new, path).is_ok() {
        return Ok(());
    }
    let name = path.file_name().unwrap_or_default();
    let old = draft.path().join(OLD).join(name);
    std::fs::create_dir(draft.path().join(OLD)).map_err(failed)?;
    std::fs::rename(path, &old).map_err(failed)?;
    let renamed = std::fs::rename(&new, path);
    if renamed.is_err() && std::fs::rename(&old, path).is_err() {
        // Keep the old files: the draft holds them now, and would delete them.
        let kept = draft.keep();
        let message = format!("cannot be written; what was there is in {}", kept.display());
        return Err(Problem::new(path, message));
    }
    renamed.map_err(failed)
}

/// Exchanges the names of two folders in one step, where the system can.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes the drafts in a folder whose writers were killed. If one holds the folder that it was to
/// replace, and nothing took its name, it is put back.
fn collect_drafts(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let draft = entry.path();
        let is_ours = is_draft(&entry.file_name().to_string_lossy());
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        // Without the lock, its writer has just begun, or was killed before it had the lock or while
        // it removed the draft.
        let is_left = match File::open(draft.join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound && is_old(&draft),
        };
        if !is_left {
            continue;
        }
        let olds = std::fs::read_dir(draft.join(OLD)).into_iter().flatten();
        let put_back = |old: std::fs::DirEntry| {
            let path = parent.join(old.file_name());
            is_there(&path) || std::fs::rename(old.path(), path).is_ok()
        };
        if olds.flatten().all(put_back) {
            let _ = std::fs::remove_dir_all(draft);
        }
    }
}

/// A temporary folder next to the target. It is deleted with everything that is left in it.
fn draft_in(parent: &Path) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rolecall-").suffix(".draft").rand_bytes(8);
    builder.tempdir_in(parent)
}

/// Checks that replacing a folder loses nothing.
pub fn hold(path: &Path, kind: &str) -> Result<(), Problem> {
    let refused = |message: String| {
        let help = "name a new folder, or empty this one";
        Err(Problem::new(path, message).help(help))
    };
    // First, because the folder itself may be in the draft of a program that was killed.
    collect_drafts(folder_of(path));
    if !is_there(path) {
        return Ok(());
    }
    if path.is_symlink() || !path.is_dir() {
        return refused("not a folder of its own: nothing is written".to_owned());
    }
    let found = match entries(path) {
        Ok(found) => found,
        Err(error) => return refused(format!("cannot be listed: {error}")),
    };
    let Some(first) = found.first() else {
        return Ok(());
    };
    let listed = read_text(&path.join(LIST)).ok();
    let Some(listed) = listed.and_then(|text| listed_in(&text, kind)) else {
        return refused(format!(
            "the folder is not empty, and was not written by this command: {} is in it",
            first.display()
        ));
    };
    match found.iter().find(|file| !listed.contains(*file)) {
        Some(other) => refused(format!(
            "{} is not one of the files of this command",
            other.display()
        )),
        None => Ok(()),
    }
}

/// Everything below a folder that is not a folder itself.
fn entries(path: &Path) -> Result<Vec<PathBuf>, walkdir::Error> {
    let mut found = Vec::new();
    for entry in WalkDir::new(path).min_depth(1).sort_by_file_name() {
        let entry = entry?;
        if !entry.file_type().is_dir() {
            let below = entry.path().strip_prefix(path).unwrap_or(entry.path());
            found.push(below.to_path_buf());
        }
    }
    Ok(found)
}

/// The files that a list names, and the list itself; none if the list is of another kind.
fn listed_in(text: &str, kind: &str) -> Option<BTreeSet<PathBuf>> {
    let list: serde_json::Value = serde_json::from_str(text).ok()?;
    if list["kind"] != kind {
        return None;
    }
    let names = list["files"].as_array()?.iter();
    let names = names.filter_map(serde_json::Value::as_str).chain([LIST]);
    Some(names.map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> BTreeMap<String, String> {
        let files = names
            .iter()
            .map(|name| ((*name).to_owned(), format!("{name}!")));
        files.collect()
    }

    #[test]
    fn a_folder_is_written_and_written_anew() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/site");
        replace(&path, &files(&["index.html", "pages/one.html"]), "t").unwrap();
        let text = std::fs::read_to_string(path.join("pages/one.html")).unwrap();
        assert_eq!(text, "pages/one.html!");
        replace(&path, &files(&["index.html"]), "t").unwrap();
        assert!(!path.join("pages").exists());
        let left = std::fs::read_dir(root.path().join("a")).unwrap().count();
        assert_eq!(left, 1, "a draft is left behind");
    }

    #[test]
    fn what_a_killed_program_took_away_is_put_back() {
        let root = tempfile::tempdir().unwrap();
        let draft = root.path().join(".rolecall-dead.draft");
        let live = root.path().join(".rolecall-live.draft");
        for (draft, name) in [(&draft, "site"), (&live, "other")] {
            let old = draft.join("old").join(name);
            std::fs::create_dir_all(&old).unwrap();
            std::fs::write(old.join("index.html"), "old").unwrap();
            File::create(draft.join("lock")).unwrap();
        }
        let lock = File::open(live.join("lock")).unwrap();
        lock.lock().unwrap();
        hold(&root.path().join("third"), "t").unwrap();
        let site = root.path().join("site");
        assert_eq!(
            std::fs::read_to_string(site.join("index.html")).unwrap(),
            "old"
        );
        assert!(!draft.exists());
        assert!(live.exists(), "its writer is at work");
        assert!(!root.path().join("other").exists());
    }

    #[test]
    fn a_draft_without_a_lock_is_collected_when_it_is_old() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let drafts = [".rolecall-old.draft", ".rolecall-young.draft"].map(path);
        for draft in &drafts {
            std::fs::create_dir_all(draft.join("new")).unwrap();
            std::fs::write(draft.join("new/index.html"), "new").unwrap();
        }
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(10);
        let old = File::open(&drafts[0]).unwrap();
        old.set_modified(long_ago).unwrap();
        replace(&path("site"), &files(&["index.html"]), "t").unwrap();
        assert_eq!(drafts.map(|draft| draft.exists()), [false, true]);
    }

    #[test]
    fn what_is_somebody_elses_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("site");
        let refused = |words: &str| {
            let problem = replace(&path, &files(&["index.html"]), "t")
                .unwrap_err()
                .to_string();
            assert!(problem.contains(words), "{problem}");
        };
        std::fs::create_dir(&path).unwrap();
        replace(&path, &files(&["index.html"]), "t").unwrap();
        std::fs::write(path.join("CNAME"), "mine").unwrap();
        refused("CNAME is not one of the files of this command");
        std::fs::remove_file(path.join(LIST)).unwrap();
        refused("was not written by this command: CNAME is in it");
        assert_eq!(std::fs::read_to_string(path.join("CNAME")).unwrap(), "mine");
        std::fs::remove_file(path.join("CNAME")).unwrap();
        replace(&path.join("x"), &files(&["index.html"]), "other").unwrap();
        refused("was not written by this command");
        std::fs::remove_dir_all(&path).unwrap();
        std::fs::write(&path, "").unwrap();
        refused("not a folder of its own");
    }
}
