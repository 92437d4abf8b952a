//! Files in the folder of snapshots that the suite does not need.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use rolecall_core::file::is_draft;
use rolecall_core::problem::Problem;

/// Files in the snapshot folder besides the accepted transcripts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Snapshots whose family or template is gone.
    pub orphans: Vec<PathBuf>,
    /// Files that do not belong into the folder: links, pipes, unfinished files.
    pub strange: Vec<Problem>,
    /// `.snap.new` files that wait for `cargo insta review`.
    pub pending: Vec<PathBuf>,
    /// Files that nothing reads: a list with a misspelt name, for example.
    pub strays: Vec<PathBuf>,
}

/// The files in the folder itself that are read.
const LISTS: [&str; 2] = ["divergences.json", "reference.json"];

/// The folder of measured engines.
const ENGINES: &str = "engines";

/// The endings of files for people, who may write what they like.
const FOR_PEOPLE: [&str; 2] = ["md", "txt"];

impl Survey {
    /// Looks through a folder of snapshots, with the files that are expected there. The
    /// results are sorted by path.
    pub fn walk(root: &Path, expected: &BTreeSet<PathBuf>) -> Survey {
        let mut survey = Survey::default();
        for entry in WalkDir::new(root).sort_by_file_name() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(root);
                    let message = format!("cannot be read: {error}");
                    survey.strange.push(Problem::new(path, message));
                    continue;
                }
            };
            let kind = entry.file_type();
            let path = entry.into_path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if kind.is_dir() {
                if expected.contains(&path) {
                    let problem = Problem::new(&path, "a folder, where a file is expected");
                    survey.strange.push(problem);
                }
            } else if !kind.is_file() {
                let message = "neither a file nor a folder: nothing else belongs here";
                let problem = Problem::new(&path, message).help("remove it");
                survey.strange.push(problem);
            } else if is_draft(&name) {
                let message = "left over from a command that was interrupted";
                let problem = Problem::new(&path, message).help("delete it");
                survey.strange.push(problem);
            } else if name.ends_with(".snap.new") {
                if expected.contains(&path.with_extension("")) {
                    survey.pending.push(path);
                } else {
                    let message = "waits for review, but nothing in the suite has it";
                    let problem = Problem::new(&path, message).help("delete it");
                    survey.strange.push(problem);
                }
            } else if name.ends_with(".snap") && !expected.contains(&path) {
                survey.orphans.push(path);
            } else if !expected.contains(&path) && is_stray(root, &path, &name) {
                survey.strays.push(path);
            }
        }
        survey
    }
}

/// Whether nobody reads a file that is not expected.
fn is_stray(root: &Path, path: &Path, name: &str) -> bool {
    let below = path.strip_prefix(root).unwrap_or(path);
    let is_list = LISTS.iter().any(|list| below == Path::new(list));
    let ending = below.extension().unwrap_or_default();
    let is_for_people = FOR_PEOPLE.iter().any(|known| ending == *known);
    let is_hidden = below
        .iter()
        .any(|part| part.as_encoded_bytes().starts_with(b"."));
    // Editors leave copies whose names end with `~`.
    !is_list && !is_for_people && !is_hidden && !below.starts_with(ENGINES) && !name.ends_with('~')
}
