//! Environment variables for the Hugging Face hub and Ollama: those that `huggingface_hub`
//! and Ollama read, and two of this program.

use std::path::PathBuf;
use std::time::Duration;

use rolecall_core::environment::{home, is_yes, path, text};
use rolecall_core::file::read_bytes;

const ENDPOINT: &str = "https://huggingface.co";
const REGISTRY: &str = "https://registry.ollama.ai";
/// The seconds that `huggingface_hub` waits for the next bytes.
const WAITS: u64 = 10;
/// The most bytes of a file with a token.
const MOST_OF_TOKEN: u64 = 64 << 10;

/// The address of the hub, without a slash at its end: `HF_ENDPOINT`.
pub(super) fn endpoint() -> String {
    server("HF_ENDPOINT", ENDPOINT)
}

/// The address of the registry for models of Ollama without a host:
/// `ROLECALL_OLLAMA_REGISTRY`.
pub(super) fn registry() -> String {
    server("ROLECALL_OLLAMA_REGISTRY", REGISTRY)
}

fn server(name: &str, usual: &str) -> String {
    let address = text(name).unwrap_or_else(|| usual.to_owned());
    address.trim_end_matches('/').to_owned()
}

/// How long to wait for the next bytes: `HF_HUB_DOWNLOAD_TIMEOUT`.
pub(super) fn waits() -> Duration {
    let seconds = text("HF_HUB_DOWNLOAD_TIMEOUT").and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(WAITS).clamp(1, 600))
}

/// Whether requests are switched off: `ROLECALL_OFFLINE`.
pub(super) fn is_offline() -> bool {
    is_yes("ROLECALL_OFFLINE")
}

/// Whether requests to the hub are switched off: `HF_HUB_OFFLINE`, and its old name.
pub(super) fn is_hub_offline() -> bool {
    is_offline() || is_yes("HF_HUB_OFFLINE") || is_yes("TRANSFORMERS_OFFLINE")
}

/// The cache of the hub: `HF_HUB_CACHE`, or `hub` in `HF_HOME`.
pub(super) fn hub_cache() -> Option<PathBuf> {
    path("HF_HUB_CACHE")
        .or_else(|| path("HUGGINGFACE_HUB_CACHE"))
        .or_else(|| Some(hub_home()?.join("hub")))
}

fn hub_home() -> Option<PathBuf> {
    path("HF_HOME").or_else(|| {
        let caches = path("XDG_CACHE_HOME").or_else(|| Some(home()?.join(".cache")))?;
        Some(caches.join("huggingface"))
    })
}

/// Whether links may not be made in the cache of the hub: `HF_HUB_DISABLE_SYMLINKS`.
pub(super) fn refuses_links() -> bool {
    is_yes("HF_HUB_DISABLE_SYMLINKS")
}

/// The token of the user on the hub: `HF_TOKEN`, or what `hf auth login` has left in a file. None
/// if `HF_HUB_DISABLE_IMPLICIT_TOKEN` says not to send it.
pub(super) fn token() -> Option<String> {
    if is_yes("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
        return None;
    }
    let in_file = || {
        let file = path("HF_TOKEN_PATH").or_else(|| Some(hub_home()?.join("token")))?;
        let bytes = read_bytes(&file, MOST_OF_TOKEN).ok()?;
        String::from_utf8(bytes).ok()
    };
    text("HF_TOKEN")
        .or_else(|| text("HUGGING_FACE_HUB_TOKEN"))
        .or_else(in_file)
        .map(|token| token.trim().to_owned())
        // A header allows no other characters.
        .filter(|token| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()))
}

/// The store of the Ollama that runs here: `OLLAMA_MODELS`, or the one in the user's home.
pub(super) fn ollama_store() -> Option<PathBuf> {
    path("OLLAMA_MODELS").or_else(|| Some(home()?.join(".ollama/models")))
}
