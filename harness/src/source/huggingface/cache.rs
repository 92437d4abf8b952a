//! The Hugging Face cache: `models--org--name/{blobs,refs,snapshots}`.
//!
//! A snapshot is a folder of links into `blobs`. Which snapshot a model has is said by
//! `refs/main`, as `huggingface_hub` resolves a model without a revision; the only snapshot
//! there is needs no such file.

use std::path::{Path, PathBuf};

use super::super::{Found, folder, name_of};
use crate::problem::Problem;
use crate::root::Root;

/// Reads a repository of the cache or one of its snapshots, if the path is one of them.
pub(in crate::source) fn read(path: &Path) -> Option<Found> {
    if let Some(model) = model_name(&name_of(path)) {
        let snapshots = path.join("snapshots");
        return snapshots
            .is_dir()
            .then(|| read_repository(path, &snapshots, &model).unwrap_or_else(Found::problem));
    }
    // `.../models--org--name/snapshots/<commit>`
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
    Some(
        Root::new(shown.unwrap_or(repository)).map_or_else(Found::problem, |root| {
            folder::gather(&root, path, &model, 0)
        }),
    )
}

/// `org/name` of `models--org--name`.
fn model_name(folder: &str) -> Option<String> {
    let name = folder.strip_prefix("models--")?;
    Some(name.replace("--", "/"))
}

fn read_repository(path: &Path, snapshots: &Path, model: &str) -> Result<Found, Problem> {
    let root = Root::new(path)?;
    let there: Vec<PathBuf> = root
        .entries(snapshots)?
        .into_iter()
        .filter(|path| path.is_dir())
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
    Ok(folder::gather(&root, snapshot, model, 0))
}
