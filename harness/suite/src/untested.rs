//! What is in the folder of a suite of one's own and not tested by it.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::configuration::{self, Configuration};
use crate::layout::Layout;
use crate::suite::Suite;
use rolecall_core::problem::Note;
use rolecall_io::template_file::dialect_of;

/// The files that a suite of one's own uses as templates, or tried to use.
pub fn used_files(own: &Configuration, suite: &Suite) -> HashSet<PathBuf> {
    let local = own.templates.iter().flat_map(|one| &one.local);
    let bases = own.templates.iter().filter_map(|one| one.base.as_ref());
    let read = suite.templates.iter().flat_map(|template| {
        let named = template.named.iter().map(|(_, named)| &named.path);
        named.chain([&template.path])
    });
    let wrong = suite.problems.iter().map(|problem| &problem.path);
    let read = read.chain(wrong).chain(bases.map(|base| &base.source));
    let read = read.chain(local);
    read.filter_map(|path| path.canonicalize().ok()).collect()
}

/// The most files and folders below a suite that are looked at, and the most levels of folders.
const MOST: usize = 10_000;
const MOST_LEVELS: usize = 8;

/// How many templates are named.
const FEW: usize = 5;

/// Folders that other programs fill.
const SKIPPED: [&str; 3] = ["node_modules", "target", "venv"];

/// Templates in the folders below a suite of one's own that it does not name, and suites there: its run
/// tests neither. Templates beside its own are errors, and not among these.
pub fn below(layout: &Layout, suite: &Suite) -> Vec<Note> {
    let Some(own) = layout.configuration() else {
        return Vec::new();
    };
    let used = used_files(own, suite);
    let beside: BTreeSet<&Path> = used.iter().filter_map(|path| path.parent()).collect();
    let root = Path::new(".").join(own.root());
    let snapshots = Path::new(".").join(&own.snapshots);
    let shown = |path: &Path| path.strip_prefix(".").unwrap_or(path).to_path_buf();
    let (mut notes, mut templates) = (Vec::new(), BTreeSet::new());
    let mut walk = WalkDir::new(root)
        .min_depth(1)
        .max_depth(MOST_LEVELS)
        .into_iter();
    for _ in 0..MOST {
        let Some(entry) = walk.next() else { break };
        let Ok(entry) = entry else { continue };
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy());
        if entry.file_type().is_dir() {
            let other = path.join(configuration::FILE);
            let is_suite = other.is_file();
            if is_suite {
                let message = "a suite of its own: only a run in its folder tests it";
                notes.push(Note::new(shown(&other), message));
            }
            let is_hidden = name.starts_with('.') || SKIPPED.contains(&&*name);
            if is_hidden || is_suite || path == snapshots {
                walk.skip_current_dir();
            }
        } else if entry.depth() > 1
            && dialect_of(path).is_some()
            && let Ok(real) = path.canonicalize()
            && !used.contains(&real)
            && real.parent().is_some_and(|folder| !beside.contains(folder))
        {
            templates.insert(shown(path));
        }
    }
    if !templates.is_empty() {
        let named = templates.iter().take(FEW);
        let named: Vec<String> = named.map(|path| path.display().to_string()).collect();
        let more = match templates.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!(
            "does not name these templates, so nothing tests them: {}{more}",
            named.join(", ")
        );
        notes.push(Note::new(&own.path, message));
    }
    notes
}
