//! Models of Ollama: from the local store of Ollama, or from its registry.
//!
//! A model in the store is used as it is, without any request. For other models, the manifest
//! and the small layers are fetched into a store in this program's cache: the template, the
//! messages before conversations, the parameters, the configuration. If there is no template
//! among them, the metadata of the weights is fetched: it may hold a Jinja template.
//!
//! A tag may move, so the manifest is requested each time; blobs never change.

use std::path::{Path, PathBuf};

use crate::source::ModelName;
use rolecall_core::file::{MOST_TEXT, is_there, read_bytes, write_whole};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::problem::{Note, Problem};
use serde_json::Value;

use super::download::{Download, DownloadError, Downloader};
use super::found::{FetchCount, FoundModel};
use super::header::{self, Header};
use super::settings;

/// The media type of a manifest.
const MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
/// The beginning of the media types of layers.
const LAYER: &str = "application/vnd.ollama.image.";
/// The layers that are fetched: `prompt` is an old name of `template`.
const SMALL: [&str; 5] = ["template", "prompt", "system", "messages", "params"];
/// More layers than any model has.
const MOST_LAYERS: usize = 256;

/// A model, and what is needed to fetch it.
struct RegistryModel<'m> {
    /// The path as the user wrote it.
    shown: &'m Path,
    name: &'m ModelName,
    registry: String,
    downloader: Downloader,
    /// The store in this program's cache.
    store: PathBuf,
    fetched: FetchCount,
}

struct Layer<'l> {
    /// The end of its type, such as `template`.
    kind: &'l str,
    digest: &'l str,
}

/// Finds a model in a store on this machine. It fetches the model if it is not there.
pub(super) fn find(
    shown: &Path,
    name: &ModelName,
    cache: Option<&Path>,
) -> Result<FoundModel, Problem> {
    let manifest = Path::new("manifests").join(name.path());
    if let Some(store) = settings::ollama_store() {
        let manifest = store.join(&manifest);
        if is_there(&manifest) {
            return Ok(FoundModel::at(&manifest));
        }
    }
    let store = cache.ok_or_else(|| {
        Problem::new(shown, "there is no folder for fetched files")
            .help("set ROLECALL_CACHE to a folder")
    })?;
    let store = store.join("ollama");
    let manifest = store.join(&manifest);
    if settings::is_offline() {
        return if is_there(&manifest) {
            Ok(FoundModel::at(&manifest))
        } else {
            let message = "neither in Ollama's store nor in the cache, and nothing may be fetched: ROLECALL_OFFLINE is set";
            Err(Problem::new(shown, message)
                .help("run this once without that variable, or `ollama pull` the model"))
        };
    }
    let model = RegistryModel {
        shown,
        name,
        registry: if name.has_default_host() {
            settings::registry()
        } else {
            format!("https://{}", name.host())
        },
        // The token is the hub's, and no registry of Ollama may see it.
        downloader: Downloader::new(None),
        store,
        fetched: FetchCount::default(),
    };
    match model.get("manifests", name.tag(), MOST_TEXT) {
        Ok(text) => model.fetch(&text, &manifest),
        Err(error) if is_there(&manifest) && !is_unknown(&error) => {
            let message = format!("{error}; the cached files are used");
            let mut found = FoundModel::at(&manifest);
            found.notes.push(Note::new(shown, message));
            Ok(found)
        }
        Err(error) => Err(model.refused(&error)),
    }
}

impl RegistryModel<'_> {
    /// Fetches the layers of a manifest, and keeps the manifest once all of them are
    /// there.
    fn fetch(mut self, text: &[u8], path: &Path) -> Result<FoundModel, Problem> {
        let manifest: Value = serde_json::from_slice(text).unwrap_or_default();
        let Some(layers) = manifest.get("layers").and_then(Value::as_array) else {
            let message = format!(
                "{} does not answer with the manifest of a model",
                self.registry
            );
            return Err(self
                .problem(message)
                .help("is the address of the registry right?"));
        };
        let layers: Vec<Layer<'_>> = layers
            .iter()
            .take(MOST_LAYERS)
            .filter_map(|layer| {
                Some(Layer {
                    kind: layer["mediaType"].as_str()?.strip_prefix(LAYER)?,
                    digest: layer["digest"].as_str()?,
                })
            })
            .collect();
        let config = manifest.pointer("/config/digest").and_then(Value::as_str);
        let small = layers.iter().filter(|layer| SMALL.contains(&layer.kind));
        for digest in small.map(|layer| layer.digest).chain(config) {
            self.fetch_blob(digest)?;
        }
        let has_template = layers
            .iter()
            .any(|layer| matches!(layer.kind, "template" | "prompt"));
        // As in Ollama, where of several layers of a kind the last one counts.
        let weights = layers.iter().rfind(|layer| layer.kind == "model");
        if let Some(weights) = weights.filter(|_| !has_template) {
            self.fetch_header(weights.digest)?;
        }
        // Last, so that a manifest in the cache names only layers that are there; and only if the tag
        // has moved.
        if read_bytes(path, MOST_TEXT).ok().as_deref() != Some(text) {
            write_whole(path, text)?;
        }
        Ok(self.fetched.found(path, &format!("ollama:{}", self.name)))
    }

    fn fetch_blob(&mut self, digest: &str) -> Result<(), Problem> {
        let (path, hash) = self.blob(digest)?;
        if path.is_file() {
            return Ok(());
        }
        let bytes = self
            .get("blobs", digest, MOST_TEXT)
            .map_err(|error| self.refused(&error))?;
        if !Fingerprint::of(&bytes)
            .to_string()
            .eq_ignore_ascii_case(hash)
        {
            let message = format!("a layer came damaged: its SHA-256 is not {digest}");
            return Err(self.problem(message).help("try again"));
        }
        self.fetched.add(bytes.len() as u64);
        write_whole(&path, bytes)
    }

    /// Fetches the metadata of the weights, which have to be a GGUF file.
    fn fetch_header(&mut self, digest: &str) -> Result<(), Problem> {
        let (path, _) = self.blob(digest)?;
        if path.is_file() {
            return Ok(());
        }
        let url = self.address("blobs", digest);
        let header = header::fetch(&self.downloader, &url, self.shown);
        match header.map_err(|error| self.refused(&error))? {
            Header::Broken(problem) => Err(problem),
            Header::Whole { file, fetched } => {
                self.fetched.add(fetched);
                write_whole(&path, file)
            }
        }
    }

    /// The path of a blob in the store, and its SHA-256.
    fn blob<'d>(&self, digest: &'d str) -> Result<(PathBuf, &'d str), Problem> {
        let is_hash = |hex: &&str| hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit());
        match digest.strip_prefix("sha256:").filter(is_hash) {
            Some(hex) => Ok((self.store.join("blobs").join(format!("sha256-{hex}")), hex)),
            None => Err(self.problem(format!("the manifest has an invalid digest: {digest:?}"))),
        }
    }

    fn address(&self, what: &str, which: &str) -> String {
        format!(
            "{}/v2/{}/{}/{what}/{which}",
            self.registry,
            self.name.namespace(),
            self.name.model()
        )
    }

    fn get(&self, what: &str, which: &str, most: u64) -> Result<Vec<u8>, DownloadError> {
        let answer = self.downloader.get(&Download {
            url: &self.address(what, which),
            accept: (what == "manifests").then_some(MANIFEST),
            range: None,
            most,
            is_known: &|_| false,
        })?;
        Ok(answer.bytes.unwrap_or_default())
    }

    fn refused(&self, error: &DownloadError) -> Problem {
        let model = format!("{}/{}", self.name.namespace(), self.name.model());
        let page = match model.strip_prefix("library/") {
            Some(model) => format!("https://ollama.com/library/{model}"),
            None => format!("https://ollama.com/{model}"),
        };
        match error {
            error if is_unknown(error) => {
                let help = if self.name.has_default_host() {
                    format!("is the name right, and does {page}/tags list the tag?")
                } else {
                    "are the name and the tag right?".to_owned()
                };
                let message = format!("{} has no such model or tag", self.registry);
                self.problem(message).help(help)
            }
            DownloadError::Status {
                status: 401 | 403, ..
            } => self.problem(error.to_string()).help(
                "only public models are fetched: `ollama pull` the model, then it is read from Ollama's store",
            ),
            error => self.problem(error.to_string()).help(error.help()),
        }
    }

    fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(self.shown, message)
    }
}

fn is_unknown(error: &DownloadError) -> bool {
    matches!(error, DownloadError::Status { status: 404, .. })
}
