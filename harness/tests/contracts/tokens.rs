//! Tokenizers of invented models.

use rolecall_check::tokenizer::Tokenizer;
use rolecall_core::Template;
use serde_json::json;

use crate::scratch;

/// A tokenizer with these control tokens. It stops at the token with this number, counted from 1. A
/// token with a space before it includes spaces.
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
    let folder = scratch::folder();
    let files = [
        ("tokenizer.json", tokenizer),
        ("generation_config.json", json!({"eos_token_id": stops})),
    ];
    let files = files.map(|(name, content)| {
        let path = folder.path().join(name);
        std::fs::write(&path, content.to_string()).unwrap();
        path
    });
    let mut template = template.clone();
    template.vocabulary = files.to_vec();
    rolecall_check::tokens::read(&template).unwrap().unwrap()
}
