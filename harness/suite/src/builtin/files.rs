//! The files of a checkout that belong to the built-in suite.

use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// The packed folders and files, as a checkout has them.
pub(crate) const PACKED: [&str; 9] = [
    "cases",
    "snapshots",
    "scripts/engines/ollama",
    "scripts/engines/transformers",
    "scripts/installing.sh",
    "scripts/runners/javascript",
    "scripts/runners/python",
    "scripts/runners/rust",
    "scripts/setup-references",
];

/// The files of the suite in a checkout, in an order that does not depend on the machine.
pub(crate) fn files(checkout: &Path) -> walkdir::Result<Vec<PathBuf>> {
    let parts = PACKED.iter().map(|part| checkout.join(part));
    let walks = parts.map(|part| WalkDir::new(part).sort_by_file_name());
    let entries = walks.flat_map(|walk| walk.into_iter().filter_entry(is_kept));
    let files = entries.filter(|entry| {
        let is_folder = entry.as_ref().map(|entry| entry.file_type().is_dir());
        !is_folder.unwrap_or_default()
    });
    files.map(|entry| entry.map(DirEntry::into_path)).collect()
}

/// Whether a file or folder belongs to the suite: not if it waits for review, is hidden, or was
/// made by running something.
fn is_kept(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    let is_made = ["__pycache__", "node_modules", "target", "venv"].contains(&&*name);
    !name.starts_with('.') && !name.ends_with(".snap.new") && !is_made
}
