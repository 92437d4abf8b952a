//! The files of a model that define its template.

use std::path::Path;

use crate::source;

pub(super) const CARD: &str = "README.md";
/// The files with a model's template.
const TEMPLATES: [&str; 2] = ["chat_template.jinja", "chat_template.json"];
/// Other files that may have a template, or its special tokens.
const FILES: [&str; 6] = [
    "config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "processor_config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
];
const FOLDER: &str = "additional_chat_templates/";
/// Files that only show that a folder is a model; they are skipped if they are large.
const MARKS: [&str; 2] = ["config.json", "generation_config.json"];
/// The most bytes of such a file.
pub(super) const MOST_OF_MARK: u64 = 1 << 20;
/// Whether a file may define the template.
pub(super) fn is_wanted(file: &str) -> bool {
    is_template(file) || FILES.contains(&file)
}

/// Whether a file has a template and nothing else.
pub(super) fn is_template(file: &str) -> bool {
    let is_named = file
        .strip_prefix(FOLDER)
        .and_then(|name| name.strip_suffix(".jinja"))
        .is_some_and(|name| !name.contains('/'));
    is_named || TEMPLATES.contains(&file)
}

/// Whether a file only shows that a folder is a model.
pub(super) fn is_mark(file: &str) -> bool {
    MARKS.contains(&file)
}

/// Whether the files of a snapshot hold a template. Broken files count too: they are
/// reported elsewhere.
pub(super) fn has_template(snapshot: &Path) -> bool {
    let files = files_below(snapshot);
    let mut small = files.iter().filter(|file| is_wanted(file));
    if small.next().is_none() {
        return false;
    }
    let found = source::read(snapshot);
    !found.templates.is_empty()
        || found
            .problems
            .iter()
            .any(|problem| problem.path != *snapshot)
}

/// The names of all files below a folder.
pub(super) fn files_below(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).into_iter().flatten().flatten() {
            let path = entry.path();
            // The hub's cache has links to files, and no links to folders.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                folders.push(path);
            } else if path.is_dir() {
            } else if let Some(below) = path.strip_prefix(folder).ok().and_then(Path::to_str) {
                files.push(below.replace('\\', "/"));
            }
        }
    }
    files.sort();
    files
}
