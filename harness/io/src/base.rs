//! The model that another one was made from, as its files name it.
//!
//! A model card, `README.md`, begins with metadata in YAML, and `base_model` in it names one or
//! several models of the Hugging Face hub. In the metadata of a GGUF file it is
//! `general.base_model.0.repo_url`; llama.cpp's converter writes it from the model card.

use std::path::Path;

use rolecall_core::file::{MOST_TEXT, read_text_of};

use crate::source;

/// The folder of a model with further templates.
const FURTHER: &str = "additional_chat_templates";

/// The name on the Hugging Face hub of the model that a template's model was made from:
/// `ORG/NAME`. `path` is the file with the template.
pub fn base_model(path: &Path) -> Option<String> {
    if source::is_gguf(path) {
        return source::base_of_gguf(path).and_then(|url| of_url(&url));
    }
    let folder = path.parent()?;
    let folder = match folder.file_name() {
        Some(name) if name == FURTHER => folder.parent()?,
        _ => folder,
    };
    let card = folder.join("README.md");
    let text = card
        .is_file()
        .then(|| read_text_of(&card, MOST_TEXT).ok())??;
    of_card(&text)
}

/// The name at the end of an address: `https://huggingface.co/ORG/NAME`.
fn of_url(url: &str) -> Option<String> {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest);
    let mut parts = path.trim_end_matches('/').rsplit('/');
    let (name, org) = (parts.next()?, parts.next()?);
    is_name(org, name).then(|| format!("{org}/{name}"))
}

/// The first `base_model` in the metadata of a model card: a text after the key, or the first item
/// of the list below it or in brackets.
fn of_card(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    let metadata = text.strip_prefix("---")?;
    let mut lines = metadata.lines().skip(1);
    let lines = lines.by_ref().take_while(|line| line.trim_end() != "---");
    let mut lines = lines.skip_while(|line| !line.starts_with("base_model:"));
    let value = lines.next()?.strip_prefix("base_model:")?;
    let plain = |text: &str| {
        // In YAML only a `#` after a blank begins a comment.
        let text = text.split(" #").next().unwrap_or(text).trim();
        let first = text
            .trim_start_matches('[')
            .split(',')
            .next()
            .unwrap_or(text);
        first
            .trim_matches(|c: char| c.is_whitespace() || "'\"[]".contains(c))
            .to_owned()
    };
    let value = match plain(value) {
        empty if empty.is_empty() => plain(lines.next()?.trim_start().strip_prefix('-')?),
        value => value,
    };
    let (org, name) = value.split_once('/')?;
    is_name(org, name).then_some(value)
}

/// Whether two words can be an owner and a model on the hub.
fn is_name(org: &str, name: &str) -> bool {
    let is_plain = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_alphanumeric() || "._-".contains(c))
    };
    is_plain(org) && is_plain(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_card_names_the_base() {
        let of = |metadata: &str| {
            of_card(&format!(
                "---\n{metadata}\n---\n# Model\nbase_model: no/no\n"
            ))
        };
        for metadata in [
            "license: mit\nbase_model: Qwen/Qwen3-8B",
            "base_model: \"Qwen/Qwen3-8B\" # the first",
            "base_model:\n- Qwen/Qwen3-8B\n- other/one",
            "base_model:\n  - 'Qwen/Qwen3-8B'\ntags:\n- x",
            "base_model: [Qwen/Qwen3-8B, other/one]",
        ] {
            assert_eq!(of(metadata).as_deref(), Some("Qwen/Qwen3-8B"), "{metadata}");
        }
        for metadata in [
            "license: mit",
            "base_model:",
            "base_model: qwen",
            "base_model: ../../x/y",
        ] {
            assert_eq!(of(metadata), None, "{metadata}");
        }
        assert_eq!(of_card("# Model\nbase_model: a/b"), None);
    }

    #[test]
    fn an_address_names_the_base() {
        assert_eq!(
            of_url("https://huggingface.co/Qwen/Qwen3-8B").as_deref(),
            Some("Qwen/Qwen3-8B")
        );
        assert_eq!(of_url("https://huggingface.co"), None);
    }
}
