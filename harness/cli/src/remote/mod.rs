//! Models by name: `hf:ORG/NAME` on the Hugging Face hub, `ollama:NAME` in a store of Ollama's or
//! its registry. Of a model that is not on this machine the few small files are fetched that its
//! templates are read from; what comes of it is a path, as if the user had named that.

mod name;

mod found;

#[cfg(feature = "fetch")]
mod files;
#[cfg(feature = "fetch")]
mod settings;

#[cfg(feature = "fetch")]
mod client;

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

use rolecall::problem::Problem;

pub(crate) use found::Found;
use name::Name;

/// Finds the model that a path names, after fetching what is not on this machine. None of what
/// is a path and no name.
pub(crate) fn find(path: &Path) -> Option<Result<Found, Problem>> {
    let name = Name::parse(path)?;
    Some(name.and_then(|name| find_named(path, &name)))
}

#[cfg(feature = "fetch")]
fn find_named(path: &Path, name: &Name) -> Result<Found, Problem> {
    match name {
        Name::Hub(name) => hub::find(path, name),
        Name::Ollama(name) => registry::find(path, name),
    }
}

#[cfg(not(feature = "fetch"))]
fn find_named(path: &Path, _: &Name) -> Result<Found, Problem> {
    let message = "this program was built without the feature `fetch`, and finds no models by name";
    Err(Problem::new(path, message).help("name a file or folder, or build it with that feature"))
}

/// How a path that is not there would be written if it is the name of a model.
pub(crate) fn meant(path: &Path) -> Option<String> {
    name::meant(path)
}
