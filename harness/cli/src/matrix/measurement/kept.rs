//! Folders of measurements: those of a suite, and the user's over the built-in suite.

use std::path::{Path, PathBuf};

use rolecall_core::file::{is_draft, read_text};
use rolecall_core::invocation;
use rolecall_core::owner::is_ours;
use rolecall_core::problem::Problem;
use rolecall_suite::layout::Layout;

/// A measurement that is kept in a file.
pub(crate) trait Kept: Sized {
    /// The folder below that of all measurements; empty for none.
    const FOLDER: &'static str;

    fn read(path: &Path) -> Result<Self, Problem>;

    fn text(&self) -> String;

    fn name(&self) -> String;
}

/// The folder of the measurements of a suite.
pub fn folder(layout: &Layout) -> PathBuf {
    layout.snapshots().join("engines")
}

/// The folder below, for the measurements of what comes back of answers.
pub(crate) const ROUNDTRIP: &str = "roundtrip";

/// Whether a path in a folder of measurements is another one's.
fn is_other(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    is_draft(&name) || name == ROUNDTRIP
}

/// The folder of measurements over the built-in suite, which itself is not written to.
const OWN_FOLDER: &str = "rolecall-engines";

/// The folder that holds the user's measurements over the built-in suite: the current one, or the
/// nearest one above it that has such measurements, as a `rolecall.toml` is found from below. A
/// folder of another user above is not the user's.
fn above_own() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let mut up = PathBuf::new();
    for (at, folder) in here.ancestors().enumerate() {
        let own = folder.join(OWN_FOLDER);
        if own.is_dir() && (at == 0 || is_ours(folder) && is_ours(&own)) {
            return up;
        }
        up.push("..");
    }
    PathBuf::new()
}

/// Where a measurement over a suite is written: the folder of the files, and the folder that it must
/// not leave.
pub(crate) fn own_folder(layout: &Layout) -> (PathBuf, PathBuf) {
    if layout.is_read_only() {
        let above = above_own();
        (above.join(OWN_FOLDER), above)
    } else {
        (folder(layout), layout.snapshots())
    }
}

/// All measurements of a kind over a suite, by name, and the problems with the files that cannot be
/// read. Those over the built-in suite are the built-in ones and the user's: of one engine the user's.
pub(crate) fn all<K: Kept>(layout: &Layout) -> (Vec<K>, Vec<Problem>) {
    let (mut kept, mut problems) = read_folder::<K>(&folder(layout));
    if layout.is_read_only() {
        let (own, of_own) = read_folder::<K>(&own_folder(layout).0);
        kept.retain(|one| own.iter().all(|other| other.name() != one.name()));
        kept.extend(own);
        problems.extend(of_own);
    }
    kept.sort_by_key(K::name);
    (kept, problems)
}

/// The problems with the files of a suite's measurements of a kind. A measurement that is out of date
/// is none.
pub(crate) fn problems<K: Kept>(layout: &Layout) -> Vec<Problem> {
    let problem = |path: PathBuf| match K::read(&path) {
        Err(problem) => Some(problem),
        Ok(kept) if read_text(&path).ok() != Some(kept.text()) => {
            let message = "edited after it was written";
            Some(Problem::new(path, message).help(help()))
        }
        Ok(_) => None,
    };
    paths::<K>(&folder(layout))
        .into_iter()
        .filter_map(problem)
        .collect()
}

fn read_folder<K: Kept>(folder: &Path) -> (Vec<K>, Vec<Problem>) {
    let mut kept = Vec::new();
    let mut problems = Vec::new();
    for path in paths::<K>(folder) {
        match K::read(&path) {
            Ok(one) => kept.push(one),
            Err(problem) => problems.push(problem),
        }
    }
    (kept, problems)
}

fn paths<K: Kept>(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join(K::FOLDER));
    let paths = entries.into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = paths.map(|entry| entry.path()).collect();
    paths.retain(|path| !is_other(path));
    paths.sort();
    paths
}

pub(crate) fn help() -> String {
    format!(
        "it is written by `{}`, never by hand",
        invocation::command("matrix update")
    )
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes it so
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}
