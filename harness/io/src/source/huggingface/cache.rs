//! The Hugging Face cache: `models--org--name/{blobs,refs,snapshots}`.
//!
//! A snapshot is a folder of links into `blobs`. `refs/main` names the snapshot of a model, as
//! `huggingface_hub` resolves a model without a revision. A single snapshot needs no such file.

use std::path::{Path, PathBuf};

use crate::source::paths::name_of;
use rolecall_core::problem::Problem;
use rolecall_core::root::Root;

/// A model's folder in the cache.
pub(in crate::source) struct Snapshot {
    /// Its repository. Nothing outside is read.
    pub(in crate::source) root: Root,
    pub(in crate::source) folder: PathBuf,
    /// The name of the model: `org/name`.
    pub model: String,
}

/// The snapshot that a path names: a snapshot itself, or a repository of the cache. None
/// where the path is neither.
pub(in crate::source) fn find(path: &Path) -> Option<Result<Snapshot, Problem>> {
    if let Some(model) = model_name(&name_of(path)) {
        let snapshots = path.join("snapshots");
        return snapshots
            .is_dir()
            .then(|| of_repository(path, &snapshots, model));
    }
    // `.../models--org--name/snapshots/<commit>`
    // A snapshot may be the current folder, whose path as written says nothing.
    let real = path.canonicalize().ok()?;
    let repository = real
        .parent()
        .filter(|parent| name_of(parent) == "snapshots")?;
    let repository = repository.parent()?;
    let model = model_name(&name_of(repository))?;
    let shown = path
        .ancestors()
        .nth(2)
        .filter(|shown| model_name(&name_of(shown)).is_some());
    Some(Root::new(shown.unwrap_or(repository)).map(|root| Snapshot {
        root,
        folder: path.to_path_buf(),
        model,
    }))
}

/// `org/name` of `models--org--name`.
fn model_name(folder: &str) -> Option<String> {
    let name = folder.strip_prefix("models--")?;
    Some(name.replace("--", "/"))
}

fn of_repository(path: &Path, snapshots: &Path, model: String) -> Result<Snapshot, Problem> {
    let root = Root::new(path)?;
    let there: Vec<PathBuf> = root
        .entries(snapshots)?
        .into_iter()
        // A snapshot is a folder of its own: a link could lead out of the cache.
        .filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_dir()))
        .collect();
    let main = path.join("refs/main");
    let snapshot = match root.text(&main)? {
        Some(commit) => {
            let commit = commit.trim();
            there
                .iter()
                .find(|path| name_of(path) == commit)
                .ok_or_else(|| {
                    Problem::new(main, format!("names no snapshot that is here: {commit:?}"))
                })?
        }
        None => match there.as_slice() {
            [only] => only,
            [] => return Err(Problem::new(snapshots, "holds no snapshot")),
            several => {
                let names: Vec<_> = several.iter().map(|path| name_of(path)).collect();
                return Err(
                    Problem::new(path, "several snapshots, and no refs/main to say which")
                        .help(format!("name one of snapshots/{{{}}}", names.join(","))),
                );
            }
        },
    };
    let folder = snapshot.clone();
    Ok(Snapshot {
        root,
        folder,
        model,
    })
}
