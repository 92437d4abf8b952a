//! How many tokens a model takes, as its files say.

use std::path::Path;

use rolecall_core::file::{MOST_TEXT, read_text_of};
use serde_json::Value;

/// More than this is how transformers writes that a tokenizer knows no length.
const MOST: u64 = 1 << 40;

/// The most tokens that a template's model takes: the largest number that its files name. `path` is the
/// file with the template.
pub fn context_length(path: &Path) -> Option<usize> {
    let places = [
        "/max_position_embeddings",
        "/text_config/max_position_embeddings",
        "/model_max_length",
    ];
    let files = ["config.json", "tokenizer_config.json"].map(|name| path.with_file_name(name));
    let files = files.iter().filter(|file| file.is_file());
    let texts = files.filter_map(|file| read_text_of(file, MOST_TEXT).ok());
    let numbers = texts.flat_map(|text| {
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        places.map(|place| value.pointer(place).and_then(Value::as_u64))
    });
    let known = numbers
        .flatten()
        .filter(|number| (1..MOST).contains(number));
    usize::try_from(known.max()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_model_say_how_many_tokens_it_takes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat_template.jinja");
        assert_eq!(context_length(&path), None);
        for (name, text, expected) in [
            ("config.json", "{\"max_position_embeddings\": \"x\"}", None),
            ("config.json", "{", None),
            (
                "config.json",
                "{\"text_config\": {\"max_position_embeddings\": 8192}}",
                Some(8192),
            ),
            (
                "tokenizer_config.json",
                "{\"model_max_length\": 1000000000000000019884624838656}",
                Some(8192),
            ),
            (
                "tokenizer_config.json",
                "{\"model_max_length\": 32768}",
                Some(32768),
            ),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
            assert_eq!(context_length(&path), expected, "{text}");
        }
    }
}
