//! The folder for what the program can make again: the unpacked suite, the references, the fetched
//! models.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;
use rolecall_core::environment;

/// The program's folder in the user's cache: `ROLECALL_CACHE`, or `rolecall` in the system's folder
/// for caches, such as `~/.cache`. None if the user has no home.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    environment::path("ROLECALL_CACHE").or_else(|| {
        let caches = etcetera::choose_base_strategy().ok()?.cache_dir();
        Some(caches.join("rolecall"))
    })
}
