//! Names of models: `hf:ORG/NAME[@REVISION][:FILE]` and `ollama:[[HOST/]USER/]NAME[:TAG]`.

use std::path::Path;

use crate::source::ModelName;
use rolecall_core::problem::Problem;

/// The beginning of a name on the Hugging Face hub.
const HUB: &str = "hf:";
/// The beginning of a name in Ollama.
const OLLAMA: &str = "ollama:";

/// The hosts of the Hugging Face hub and of Ollama's library, as they are in addresses.
const HUB_HOSTS: [&str; 3] = ["huggingface.co", "www.huggingface.co", "hf.co"];
const OLLAMA_HOSTS: [&str; 2] = ["ollama.com", "www.ollama.com"];

/// The name of a model that may not be on this machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RemoteName {
    /// On the Hugging Face hub.
    Hub(HubName),
    /// In a store of Ollama's, or its registry.
    Ollama(ModelName),
}

/// The name of a repository on the Hugging Face hub, with the wanted revision and file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HubName {
    /// `ORG/NAME`.
    pub(super) repository: String,
    /// A branch, a tag or a commit; `main` by default.
    pub(super) revision: String,
    /// One GGUF file of several, by its name or its quantisation.
    pub(super) file: Option<String>,
}

impl RemoteName {
    /// The name of a model that a user wrote instead of a path. None if the text is a
    /// path.
    pub(super) fn parse(path: &Path) -> Option<Result<RemoteName, Problem>> {
        let text = path.to_str()?;
        if let Some(name) = text.strip_prefix(HUB) {
            let refused = || {
                let message = "not the name of a model on the Hugging Face hub";
                Problem::new(path, message).help(
                    "write hf:ORG/NAME, and where needed a revision and one of several GGUF files: hf:ORG/NAME@REVISION:FILE",
                )
            };
            return Some(
                HubName::parse(name)
                    .map(RemoteName::Hub)
                    .ok_or_else(refused),
            );
        }
        let name = text.strip_prefix(OLLAMA)?;
        let refused = || {
            Problem::new(path, "not the name of a model of Ollama's")
                .help("write ollama:NAME, ollama:NAME:TAG or ollama:USER/NAME:TAG")
        };
        Some(
            ModelName::parse(name)
                .map(RemoteName::Ollama)
                .ok_or_else(refused),
        )
    }
}

impl HubName {
    fn parse(text: &str) -> Option<HubName> {
        let (text, file) = match text.split_once(':') {
            Some((text, file)) => (text, Some(file)),
            None => (text, None),
        };
        let (repository, revision) = match text.split_once('@') {
            Some(named) => named,
            None => (text, "main"),
        };
        let is_valid =
            is_repository(repository) && is_plain_path(revision) && file.is_none_or(is_plain_path);
        is_valid.then(|| HubName {
            repository: repository.to_owned(),
            revision: revision.to_owned(),
            file: file.map(str::to_owned),
        })
    }
}

/// Whether a name is valid for a repository (`validate_repo_id` of `huggingface_hub`).
pub(super) fn is_repository(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
            && !part.starts_with(['.', '-'])
            && !part.ends_with(['.', '-'])
    };
    name.len() <= 96
        && name.split('/').count() <= 2
        && name.split('/').all(is_part)
        && !name.contains("--")
        && !name.contains("..")
}

/// Whether a text is a path that stays below its folder.
pub(super) fn is_plain_path(text: &str) -> bool {
    text.len() <= 255
        && text.split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with('.')
                && part
                    .chars()
                    .all(|c| c.is_alphanumeric() || "._-+()[],= ".contains(c))
        })
}

/// How to write a path that is not there, if it looks like the name of a model.
pub(super) fn meant(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    if let Some((scheme, address)) = text.split_once(':')
        && ["http", "https"].contains(&scheme)
    {
        return meant_by_address(address.trim_start_matches('/'));
    }
    let on_hub = format!("if it is a model on the Hugging Face hub, write hf:{text}");
    let of_ollama = format!("if it is a model of Ollama's, write ollama:{text}");
    let has_owner = text.contains('/');
    let is_file = [".jinja", ".gotmpl", ".gguf", ".json", ".modelfile"]
        .iter()
        .any(|end| text.to_lowercase().ends_with(end));
    let is_on_hub = has_owner && !is_file && HubName::parse(text).is_some();
    let is_of_ollama =
        text.contains(':') && !text.contains(".json") && ModelName::parse(text).is_some();
    match (is_on_hub, is_of_ollama) {
        (true, true) => Some(format!("{on_hub}; {of_ollama}")),
        (true, false) => Some(on_hub),
        (false, true) => Some(of_ollama),
        (false, false) => None,
    }
}

/// The name of the model whose page is at an address.
fn meant_by_address(address: &str) -> Option<String> {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = address.split_once('/')?;
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    if OLLAMA_HOSTS.contains(&host) {
        let (owner, model) = (parts.next()?, parts.next()?);
        let name = if owner == "library" {
            model.to_owned()
        } else {
            format!("{owner}/{model}")
        };
        ModelName::parse(&name)?;
        return Some(format!(
            "an address is not a path; for the model of Ollama's write ollama:{name}"
        ));
    }
    if !HUB_HOSTS.contains(&host) {
        let help = "an address is not a path; models are named as hf:ORG/NAME or ollama:NAME";
        return Some(help.to_owned());
    }
    let mut name = format!("{}/{}", parts.next()?, parts.next()?);
    let page = parts.next();
    if let (Some("tree" | "blob" | "resolve"), Some(revision)) = (page, parts.next())
        && revision != "main"
    {
        name = format!("{name}@{revision}");
    }
    HubName::parse(&name)?;
    Some(format!(
        "an address is not a path; for the model on the Hugging Face hub write hf:{name}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_the_hub_have_a_revision_and_a_file() {
        for (text, repository, revision, file) in [
            ("hf:a/b", "a/b", "main", None),
            ("hf:gpt2", "gpt2", "main", None),
            ("hf:a/b@v1.0", "a/b", "v1.0", None),
            ("hf:a/b@refs/pr/1", "a/b", "refs/pr/1", None),
            ("hf:a/b:Q4_K_M", "a/b", "main", Some("Q4_K_M")),
            ("hf:a/b@main:x/y.gguf", "a/b", "main", Some("x/y.gguf")),
        ] {
            let expected = HubName {
                repository: repository.to_owned(),
                revision: revision.to_owned(),
                file: file.map(str::to_owned),
            };
            let name = RemoteName::parse(Path::new(text)).unwrap().unwrap();
            assert_eq!(name, RemoteName::Hub(expected), "{text}");
        }
        for text in [
            "hf:",
            "hf:a/",
            "hf:/a",
            "hf:a/b/c",
            "hf:../b",
            "hf:a/..",
            "hf:a--b/c",
            "hf:a/b@",
            "hf:a/b@../x",
            "hf:a/b:",
            "hf:a/b:../x",
            "hf:a/b:/x",
            "hf:a b/c",
            "ollama:",
            "ollama:a/b/c/d",
            "ollama:..",
        ] {
            assert!(
                RemoteName::parse(Path::new(text)).unwrap().is_err(),
                "{text}"
            );
        }
        for text in ["a/b", "./hf:a/b", "-", ""] {
            assert_eq!(RemoteName::parse(Path::new(text)), None, "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_model_is_said_how_to_write() {
        for (text, expected) in [
            ("Qwen/Qwen2.5-7B-Instruct", "hf:Qwen/Qwen2.5-7B-Instruct"),
            ("llama3.1:8b", "ollama:llama3.1:8b"),
            ("a/b:Q4_K_M", "hf:a/b:Q4_K_M"),
            ("a/b:Q4_K_M", "ollama:a/b:Q4_K_M"),
            ("https://huggingface.co/a/b", "hf:a/b"),
            ("https://hf.co/a/b/tree/main", "hf:a/b"),
            ("https://huggingface.co/a/b/blob/v2/x.jinja?x", "hf:a/b@v2"),
            ("https://ollama.com/library/qwen3:8b", "ollama:qwen3:8b"),
            ("https://ollama.com/me/mine", "ollama:me/mine"),
            ("https://example.org/a/b", "hf:ORG/NAME or ollama:NAME"),
        ] {
            let help = meant(Path::new(text)).unwrap();
            let ends = help.split("; ").any(|part| part.ends_with(expected));
            assert!(ends, "{text}: {help}");
        }
        for text in [
            "nowhere",
            "a/b.jinja",
            "../a/b",
            "a/b/c",
            "Modelfile",
            "/a/b",
        ] {
            assert_eq!(meant(Path::new(text)), None, "{text}");
        }
    }
}
