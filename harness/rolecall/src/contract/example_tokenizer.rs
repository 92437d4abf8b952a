//! A tokenizer for tests and for the examples of pages.

use rolecall_model::Template;
use serde_json::json;

use crate::tokenizer::Tokenizer;

/// A tokenizer with these control tokens, that stops at the token of a number, counted from 1. A
/// token with a blank before it takes blanks with it.
pub(super) fn tokenizer(template: &Template, tokens: &[&str], stops: &[u32]) -> Tokenizer {
    let markers = (1..).zip(tokens).map(|(id, text): (u32, _)| {
        json!({
            "id": id, "content": text.trim(), "special": true, "single_word": false,
            "lstrip": text.starts_with(' '), "rstrip": false, "normalized": false,
        })
    });
    let model = json!({"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"});
    let tokenizer = json!({
        "version": "1.0", "added_tokens": markers.collect::<Vec<_>>(), "model": model,
    });
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("tokenizer.json", tokenizer),
        ("generation_config.json", json!({"eos_token_id": stops})),
    ];
    let files = files.map(|(name, content)| {
        let path = folder.path().join(name);
        std::fs::write(&path, content.to_string()).unwrap();
        path
    });
    let read = Tokenizer::read(&files, &template.special_tokens);
    read.unwrap().unwrap()
}
