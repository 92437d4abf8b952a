//! The folder where this program keeps what it can make again: the unpacked suite, the
//! references, what it has fetched.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

use crate::environment;

/// The folder of the user's caches that is this program's: `ROLECALL_CACHE`, or `rolecall` in the
/// folder that the system has for caches, such as `~/.cache`. None where the user has no home.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    environment::path("ROLECALL_CACHE").or_else(|| {
        let caches = etcetera::choose_base_strategy().ok()?.cache_dir();
        Some(caches.join("rolecall"))
    })
}
