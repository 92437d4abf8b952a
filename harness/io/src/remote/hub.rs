//! Models on the Hugging Face hub: fetches the small files that define a model's template into
//! the cache that `huggingface_hub` and transformers use.
//!
//! One request returns the commit of the revision and the names of its files. Cached files are
//! not requested again. If the hub cannot be reached, the cache is used with a note, as in
//! `huggingface_hub`.
//!
//! A repository without a template in these files may have one in a GGUF file. Then only its
//! metadata is fetched, into this program's own cache: other programs would take it for the
//! whole file.

use rolecall_core::Cut;
use std::path::{Path, PathBuf};

use crate::http::{HeaderMap, without_password};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rolecall_core::file::MOST_TEXT;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::problem::{Note, Problem};
use serde_json::Value;

use super::download::{Download, DownloadError, DownloadedFile, Downloader};
use super::files::{CARD, MOST_OF_MARK, files_below, has_template, is_mark, is_wanted};
use super::found::{FetchCount, FoundModel};
use super::header::{self, Header};
use super::hub_cache::{Repository, is_commit};
use super::hub_refusal;
use super::name::{HubName, is_plain_path};
use super::settings;
use super::weights::choose;

/// The most files that are fetched of a model.
const MOST_FILES: usize = 80;
/// The most bytes of the hub's answer about a repository.
const MOST_LISTED: u64 = 64 << 20;

/// The characters that are not escaped in an address.
const KEPT: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
const KEPT_IN_PATHS: AsciiSet = KEPT.remove(b'/');

/// A model, and what is needed to fetch it.
struct HubModel<'m> {
    /// The path as the user wrote it.
    shown: &'m Path,
    name: &'m HubName,
    endpoint: String,
    downloader: Downloader,
    /// The repository in the cache of the hub, and in this program's own.
    cached: Repository,
    own: Repository,
}

/// A commit, and the names of its files.
struct Commit {
    hash: String,
    files: Vec<String>,
}

/// Finds the files of a model on this machine. It fetches those that are missing.
pub(super) fn find(
    shown: &Path,
    name: &HubName,
    own_cache: Option<&Path>,
) -> Result<FoundModel, Problem> {
    let model = HubModel::new(shown, name, own_cache)?;
    if settings::is_hub_offline() {
        return model.offline();
    }
    match model.ask() {
        Ok(commit) => model.fetch(&commit),
        Err(error) => model.without_hub(&error),
    }
}

/// Fetches the card of a model, `README.md`, into the folder of its files, unless it is there. A
/// model without a card, or a hub that does not answer, changes nothing.
pub(super) fn fetch_card(
    shown: &Path,
    name: &HubName,
    own_cache: Option<&Path>,
) -> Result<(), Problem> {
    let model = HubModel::new(shown, name, own_cache)?;
    if settings::is_hub_offline() {
        return Ok(());
    }
    let Ok(commit) = model.ask() else {
        return Ok(());
    };
    let is_there = model.cached.snapshot(&commit.hash).join(CARD).exists();
    if is_there || !commit.files.iter().any(|file| file == CARD) {
        return Ok(());
    }
    model.fetch_file(&commit, CARD, &mut FetchCount::default())
}

impl<'m> HubModel<'m> {
    fn new(
        shown: &'m Path,
        name: &'m HubName,
        own_cache: Option<&Path>,
    ) -> Result<HubModel<'m>, Problem> {
        let homeless = || {
            Problem::new(shown, "there is no folder for fetched files")
                .help("set HF_HOME and ROLECALL_CACHE to folders")
        };
        let cache = settings::hub_cache().ok_or_else(homeless)?;
        let own = own_cache.ok_or_else(homeless)?.join("hub");
        let endpoint = settings::endpoint();
        let token = settings::token().map(|token| (endpoint.as_str(), token));
        Ok(HubModel {
            shown,
            name,
            downloader: Downloader::new(token),
            endpoint: endpoint.clone(),
            cached: Repository::new(&cache, &name.repository),
            own: Repository::new(&own, &name.repository),
        })
    }

    fn ask(&self) -> Result<Commit, DownloadError> {
        let url = format!(
            "{}/api/models/{}/revision/{}",
            self.endpoint,
            self.name.repository,
            utf8_percent_encode(&self.name.revision, &KEPT)
        );
        let answer = self.downloader.get(&Download {
            url: &url,
            accept: Some("application/json"),
            range: None,
            most: MOST_LISTED,
            is_known: &|_| false,
        })?;
        let said: Value =
            serde_json::from_slice(&answer.bytes.unwrap_or_default()).unwrap_or_default();
        let hash = said.get("sha").and_then(Value::as_str);
        let hash = hash.unwrap_or_default().to_owned();
        if !is_commit(&hash) {
            return Err(DownloadError::Unexpected {
                host: without_password(&self.endpoint),
                why: "its answer about the model names no commit".to_owned(),
            });
        }
        let siblings = said.get("siblings").and_then(Value::as_array);
        let siblings = siblings.into_iter().flatten();
        let files = siblings.filter_map(|file| Some(file["rfilename"].as_str()?.to_owned()));
        let mut files: Vec<String> = files.filter(|file| is_plain_path(file)).collect();
        files.sort();
        Ok(Commit { hash, files })
    }

    /// The model from the cache, if requests are switched off.
    fn offline(&self) -> Result<FoundModel, Problem> {
        self.kept().ok_or_else(|| {
            self.problem("not in the cache, and nothing may be fetched: HF_HUB_OFFLINE or ROLECALL_OFFLINE is set")
                .help("run this once without that variable, or name a folder with the model's files")
        })
    }

    /// The model from the cache, if the hub does not answer.
    fn without_hub(&self, error: &DownloadError) -> Result<FoundModel, Problem> {
        let refused = hub_refusal::problem(self.shown, self.name, error);
        // The hub has answered. A cached revision of this name is one that somebody has removed.
        if hub_refusal::is_no_revision(error) {
            return Err(refused);
        }
        let Some(mut found) = self.kept() else {
            let is_unknown = hub_refusal::is_no_model(error);
            let similar = if is_unknown {
                self.similar()
            } else {
                Vec::new()
            };
            return Err(match similar.as_slice() {
                [] => refused,
                names => refused.help(format!("did you mean {}?", names.join(" or "))),
            });
        };
        let message = format!("{}; the cached files are used", refused.message);
        found.notes.push(Note::new(self.shown, message));
        Ok(found)
    }

    /// Models on the hub that are named like this one, most used first.
    fn similar(&self) -> Vec<String> {
        let name = self.name.repository.rsplit('/').next().unwrap_or_default();
        let answer = self.downloader.get(&Download {
            url: &format!(
                "{}/api/models?search={}&sort=downloads&limit=3",
                self.endpoint,
                utf8_percent_encode(name, &KEPT)
            ),
            accept: Some("application/json"),
            range: None,
            most: MOST_TEXT,
            is_known: &|_| false,
        });
        let bytes = answer.ok().and_then(|answer| answer.bytes);
        let said: Value = serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or_default();
        let models = said.as_array().into_iter().flatten();
        let names = models.filter_map(|model| model["id"].as_str());
        names.take(3).map(|name| format!("hf:{name}")).collect()
    }

    /// The files of the revision that are already here.
    fn kept(&self) -> Option<FoundModel> {
        let revision = &self.name.revision;
        let cached = self.cached.commit(revision);
        let cached = cached.map(|commit| self.cached.snapshot(&commit));
        if self.name.file.is_none()
            && let Some(snapshot) = cached.as_deref().filter(|snapshot| has_template(snapshot))
        {
            return Some(FoundModel::at(snapshot));
        }
        let own = self.own.commit(revision);
        let own = own.map(|commit| self.own.snapshot(&commit));
        for snapshot in [&cached, &own].into_iter().flatten() {
            let files = files_below(snapshot);
            if let Ok((file, _)) = choose(self.shown, self.name, &files) {
                return Some(FoundModel::at(snapshot.join(file)));
            }
        }
        // Whoever reads the files reports what is wrong with them.
        let snapshot = cached.filter(|_| self.name.file.is_none())?;
        Some(FoundModel::at(&snapshot))
    }

    /// Fetches the missing files of a commit.
    fn fetch(&self, commit: &Commit) -> Result<FoundModel, Problem> {
        let mut fetched = FetchCount::default();
        let snapshot = self.cached.snapshot(&commit.hash);
        if self.name.file.is_none() {
            let files = commit.files.iter().filter(|file| is_wanted(file));
            let files: Vec<&String> = files.take(MOST_FILES).collect();
            for file in &files {
                // The files of a commit never change.
                if !snapshot.join(file).exists() {
                    self.fetch_file(commit, file, &mut fetched)?;
                }
            }
            if !files.is_empty() {
                let revision = &self.name.revision;
                self.cached.keep_commit(revision, &commit.hash)?;
            }
            let has_weights = choose(self.shown, self.name, &commit.files).is_ok();
            // Without weights there is nothing else to look at: whoever reads the folder says what it
            // lacks.
            if !files.is_empty() && (!has_weights || has_template(&snapshot)) {
                return Ok(fetched.found(snapshot, &self.model(commit)));
            }
        }
        let (file, note) = choose(self.shown, self.name, &commit.files)?;
        let path = self.fetch_header(commit, file, &mut fetched)?;
        let mut found = fetched.found(path, &self.model(commit));
        found.notes.extend(note);
        Ok(found)
    }

    fn fetch_file(
        &self,
        commit: &Commit,
        file: &str,
        fetched: &mut FetchCount,
    ) -> Result<(), Problem> {
        let is_mark = is_mark(file);
        let answer = self.downloader.get(&Download {
            url: &self.address(commit, file),
            accept: None,
            range: None,
            most: if is_mark { MOST_OF_MARK } else { MOST_TEXT },
            is_known: &|headers| etag(headers).is_some_and(|etag| self.cached.has_blob(&etag)),
        });
        // Such a file has no template. Nobody needs it to be whole.
        if is_mark && matches!(answer, Err(DownloadError::TooLarge { .. })) {
            return Ok(());
        }
        let DownloadedFile { headers, bytes, .. } =
            answer.map_err(|error| hub_refusal::problem(self.shown, self.name, &error))?;
        let etag = etag(&headers).ok_or_else(|| {
            let message = format!(
                "{} does not name the version of {file}",
                without_password(&self.endpoint)
            );
            self.problem(message)
                .help("is HF_ENDPOINT the address of a Hugging Face hub?")
        })?;
        if let Some(bytes) = &bytes {
            // An answer without a length may end early.
            if let Some(size) = linked_size(&headers).filter(|size| *size != bytes.len() as u64) {
                let message = format!("{file} came damaged: {} of {size} bytes", bytes.len());
                return Err(self.problem(message).help("try again"));
            }
            // The ETag of a large file is its SHA-256.
            if etag.len() == 64 && Fingerprint::of(bytes).to_string() != etag {
                let message = format!("{file} came damaged: its SHA-256 is not {etag}");
                return Err(self.problem(message).help("try again"));
            }
            fetched.add(bytes.len() as u64);
        }
        let may_link = !settings::refuses_links();
        self.cached
            .keep(&commit.hash, file, &etag, bytes.as_deref(), may_link)
    }

    /// Fetches the metadata of a GGUF file, unless the whole file is already here.
    fn fetch_header(
        &self,
        commit: &Commit,
        file: &str,
        fetched: &mut FetchCount,
    ) -> Result<PathBuf, Problem> {
        for repository in [&self.cached, &self.own] {
            let path = repository.snapshot(&commit.hash).join(file);
            if path.is_file() {
                return Ok(path);
            }
        }
        let shown = self.shown.join(file);
        let header = header::fetch(&self.downloader, &self.address(commit, file), &shown);
        match header.map_err(|error| hub_refusal::problem(self.shown, self.name, &error))? {
            Header::Broken(problem) => Err(problem),
            Header::Whole {
                file: bytes,
                fetched: count,
            } => {
                fetched.add(count);
                self.own.keep_alone(&commit.hash, file, &bytes)?;
                self.own.keep_commit(&self.name.revision, &commit.hash)?;
                Ok(self.own.snapshot(&commit.hash).join(file))
            }
        }
    }

    fn address(&self, commit: &Commit, file: &str) -> String {
        format!(
            "{}/{}/resolve/{}/{}",
            self.endpoint,
            self.name.repository,
            commit.hash,
            utf8_percent_encode(file, &KEPT_IN_PATHS)
        )
    }

    /// The model at a commit, in words.
    fn model(&self, commit: &Commit) -> String {
        format!("hf:{} at {}", self.name.repository, commit.hash.cut(..7))
    }

    fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(self.shown, message)
    }
}

/// The version of a file, which is its name in the cache.
fn etag(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    // As in `huggingface_hub` (`get_hf_file_metadata`), which prefers the version of a linked file.
    let etag = text("X-Linked-Etag").or_else(|| text("ETag"))?;
    let etag = etag.trim_start_matches("W/").trim_matches('"');
    // It becomes the name of a file, and a server could send any path.
    let is_name = !etag.is_empty()
        && etag.len() <= 128
        && etag
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    is_name.then(|| etag.to_owned())
}

/// The size of a file, if the hub says it.
fn linked_size(headers: &HeaderMap) -> Option<u64> {
    headers.get("X-Linked-Size")?.to_str().ok()?.parse().ok()
}
