//! Finds models by their names, `hf:ORG/NAME` on the Hugging Face hub and `ollama:NAME` in Ollama's
//! store or registry, and fetches the small files with their chat templates.
//!
//! A model that was found is a path, as if the user had named it.

mod name;

mod found;

#[cfg(feature = "fetch")]
mod files;
#[cfg(feature = "fetch")]
mod settings;

#[cfg(feature = "fetch")]
mod download;

#[cfg(feature = "fetch")]
mod header;
#[cfg(feature = "fetch")]
mod hub_cache;
#[cfg(feature = "fetch")]
mod hub_refusal;
#[cfg(feature = "fetch")]
mod weights;

#[cfg(feature = "fetch")]
mod hub;
#[cfg(feature = "fetch")]
mod registry;

use std::path::Path;

use rolecall_core::problem::Problem;

pub use found::FoundModel;
use name::RemoteName;

/// Whether a path is the name of a model, and no path of a file.
pub fn is_name(path: &Path) -> bool {
    RemoteName::parse(path).is_some()
}

/// Finds the model that a path names, and fetches it if it is not on this machine. None if the
/// path is not the name of a model. The folder `cache` keeps what has no place in other
/// programs' caches.
pub fn find(path: &Path, cache: Option<&Path>) -> Option<Result<FoundModel, Problem>> {
    let name = RemoteName::parse(path)?;
    Some(name.and_then(|name| find_named(path, &name, cache)))
}

#[cfg(feature = "fetch")]
fn find_named(path: &Path, name: &RemoteName, cache: Option<&Path>) -> Result<FoundModel, Problem> {
    match name {
        RemoteName::Hub(name) => hub::find(path, name, cache),
        RemoteName::Ollama(name) => registry::find(path, name, cache),
    }
}

/// Fetches the card of a model on the Hugging Face hub, `README.md`, besides its other files. For a
/// path that does not name one, and where the hub does not answer, nothing happens.
#[cfg(feature = "fetch")]
pub fn fetch_card(path: &Path, cache: Option<&Path>) -> Result<(), Problem> {
    match RemoteName::parse(path) {
        Some(Ok(RemoteName::Hub(name))) => hub::fetch_card(path, &name, cache),
        _ => Ok(()),
    }
}

/// Fetches the card of a model on the Hugging Face hub, with the feature `fetch`.
#[cfg(not(feature = "fetch"))]
pub fn fetch_card(_: &Path, _: Option<&Path>) -> Result<(), Problem> {
    Ok(())
}

#[cfg(not(feature = "fetch"))]
fn find_named(path: &Path, _: &RemoteName, _: Option<&Path>) -> Result<FoundModel, Problem> {
    Err(unable(path))
}

#[cfg(not(feature = "fetch"))]
fn unable(path: &Path) -> Problem {
    let message = "this program was built without the feature `fetch`, and finds no models by name";
    Problem::new(path, message).help(
        "name a file or folder; in the repository, `cargo run --package rolecall-cli --` finds \
         models by name",
    )
}

/// How to write a path that is not there, if it looks like the name of a model.
pub fn meant(path: &Path) -> Option<String> {
    name::meant(path)
}
