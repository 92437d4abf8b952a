//! The special tokens that a chat template sees, as transformers 5.24 gathers them.
//!
//! A template gets `special_tokens_map`: the seven standard tokens that are set, then the
//! model's own ones (`PreTrainedTokenizerBase` in `tokenization_utils_base.py`). They come
//! from
//!
//! - `tokenizer_config.json`: the standard keys, further keys that end in `_token`, and
//!   `extra_special_tokens` where it is an object; a list of them, like
//!   `additional_special_tokens`, is not shown to templates,
//! - `special_tokens_map.json`, which wins, but is read only where the former has no
//!   `added_tokens_decoder`.
//!
//! A token is a string or an object with its text in `content`. In `tokenizer_config.json`
//! an object has to say `"__type": "AddedToken"`: transformers refuses others, or ignores
//! them under keys that are not standard.
//!
//! Tokens that a tokenizer's class sets by itself are not known here.

use rolecall_core::json::{Field, Node, NodeKind};
use serde_json::{Map, Value};

use crate::settings::STANDARD_TOKENS;
use crate::source::content::SourceContent;
use crate::source::object::{JsonFile, string};
use rolecall_core::problem::{Location, Note, Problem};

/// What the files say about special tokens.
#[derive(Debug, Default)]
pub(super) struct SpecialTokens {
    /// By their own keys. The last value of a key counts.
    keyed: Map<String, Value>,
    /// The model's own tokens, which win.
    own: Option<Map<String, Value>>,
    has_decoder: bool,
    /// The problem of a standard token that is not a token.
    wrong: Option<Problem>,
    /// Whether some token was an object that does not say what it is.
    has_plain: bool,
    notes: Vec<Note>,
}

/// A token as it is written.
enum TokenValue<'a> {
    Text(&'a str),
    /// An object that says that it is a token.
    Typed(&'a str),
    /// An object that only looks like one.
    Plain(&'a str),
    Null,
    Other,
}

impl<'a> TokenValue<'a> {
    fn of(written: &'a Node<'_>) -> TokenValue<'a> {
        let is_typed = string(written, "__type") == Some("AddedToken");
        match (&written.kind, string(written, "content")) {
            (NodeKind::Null, _) => TokenValue::Null,
            (NodeKind::Text(text), _) => TokenValue::Text(text),
            (_, Some(text)) if is_typed => TokenValue::Typed(text),
            (_, Some(text)) => TokenValue::Plain(text),
            _ => TokenValue::Other,
        }
    }
}

impl SpecialTokens {
    /// What `tokenizer_config.json` says.
    pub(super) fn of_config(document: &JsonFile<'_>, config: &Node<'_>) -> SpecialTokens {
        let mut tokens = SpecialTokens {
            has_decoder: config.entry("added_tokens_decoder").is_some(),
            ..SpecialTokens::default()
        };
        let mut own = Map::new();
        for property in config.fields() {
            let key = &*property.name;
            if !key.ends_with("_token") {
                continue;
            }
            let is_standard = STANDARD_TOKENS.contains(&key);
            match TokenValue::of(&property.value) {
                TokenValue::Text(text) if !is_standard => {
                    own.insert(key.to_owned(), text.into());
                }
                TokenValue::Text(text) | TokenValue::Typed(text) => tokens.set(key, text),
                TokenValue::Plain(text) if is_standard => {
                    tokens.set(key, text);
                    tokens.note_plain(document, property);
                }
                TokenValue::Null => tokens.unset(key),
                // Booleans such as `add_bos_token`, and what transformers ignores.
                TokenValue::Plain(_) | TokenValue::Other if !is_standard => {}
                TokenValue::Plain(_) | TokenValue::Other => tokens.refuse(document, property),
            }
        }
        let is_set = |value: &&Node<'_>| !value.fields().is_empty() || !value.items().is_empty();
        let extra = config.entry("extra_special_tokens").filter(is_set);
        let extra = extra.or_else(|| config.entry("additional_special_tokens"));
        if let Some(extra) = extra {
            tokens.read_own(document, extra, &mut own);
        }
        if own.is_empty()
            && let Some(saved) = config.entry("model_specific_special_tokens")
        {
            tokens.read_own(document, saved, &mut own);
        }
        tokens.own = (!own.is_empty()).then_some(own);
        tokens
    }

    /// Whether transformers reads `special_tokens_map.json` at all.
    pub(super) fn reads_map(&self) -> bool {
        !self.has_decoder
    }

    /// Reads `special_tokens_map.json`, and notes where it disagrees.
    pub(super) fn meet_map(&mut self, document: &JsonFile<'_>, map: &Node<'_>) {
        let mut other = SpecialTokens::default();
        other.add_map(document, map);
        for key in STANDARD_TOKENS {
            let (Some(own), Some(theirs)) = (self.keyed.get(key), other.keyed.get(key)) else {
                continue;
            };
            if own == theirs {
                continue;
            }
            let used = if self.reads_map() {
                "transformers 5.24 uses the former"
            } else {
                "transformers 5.24 uses the latter: it does not read this file next to an \
                 `added_tokens_decoder`"
            };
            let message =
                format!("`{key}` is {theirs} here and {own} in tokenizer_config.json; {used}");
            self.notes.push(Note::new(document.path, message));
        }
        if self.reads_map() {
            self.add_map(document, map);
        }
    }

    /// Adds what `special_tokens_map.json` says.
    fn add_map(&mut self, document: &JsonFile<'_>, map: &Node<'_>) {
        for property in map.fields() {
            let key = &*property.name;
            if key == "extra_special_tokens" {
                if let NodeKind::Object(_) = &property.value.kind {
                    let mut own = self.own.take().unwrap_or_default();
                    self.read_own(document, &property.value, &mut own);
                    self.own = Some(own);
                }
                continue;
            }
            if !key.ends_with("_token") {
                continue;
            }
            match TokenValue::of(&property.value) {
                TokenValue::Text(text) | TokenValue::Typed(text) | TokenValue::Plain(text) => {
                    self.set(key, text);
                }
                TokenValue::Null => self.unset(key),
                TokenValue::Other => self.refuse(document, property),
            }
        }
    }

    /// The tokens as a template sees them.
    pub(super) fn settle(self, found: &mut SourceContent) -> Result<Map<String, Value>, Problem> {
        if let Some(problem) = self.wrong {
            return Err(problem);
        }
        found.notes.extend(self.notes);
        let mut tokens = self.keyed;
        tokens.retain(|_, token| !token.is_null());
        tokens.extend(self.own.unwrap_or_default());
        let mut settled = Map::new();
        for key in STANDARD_TOKENS {
            if let Some(token) = tokens.shift_remove(key) {
                settled.insert(key.to_owned(), token);
            }
        }
        settled.extend(tokens);
        Ok(settled)
    }

    fn read_own(
        &mut self,
        document: &JsonFile<'_>,
        object: &Node<'_>,
        own: &mut Map<String, Value>,
    ) {
        for property in object.fields() {
            match TokenValue::of(&property.value) {
                TokenValue::Text(text) | TokenValue::Typed(text) => {
                    own.insert(property.name.to_string(), text.into());
                }
                TokenValue::Plain(text) => {
                    own.insert(property.name.to_string(), text.into());
                    self.note_plain(document, property);
                }
                TokenValue::Null | TokenValue::Other => self.refuse(document, property),
            }
        }
    }

    fn set(&mut self, key: &str, text: &str) {
        self.keyed.insert(key.to_owned(), text.into());
    }

    fn unset(&mut self, key: &str) {
        self.keyed.insert(key.to_owned(), Value::Null);
    }

    fn refuse(&mut self, document: &JsonFile<'_>, property: &Field<'_>) {
        if self.wrong.is_none() {
            let message = format!(
                "the token {:?} must be a string, or an object with a string `content`",
                &*property.name
            );
            self.wrong = Some(document.problem(&property.value, message));
        }
    }

    fn note_plain(&mut self, document: &JsonFile<'_>, property: &Field<'_>) {
        if std::mem::replace(&mut self.has_plain, true) {
            return;
        }
        let Location::Text(position) = document.place(property.range.start) else {
            return;
        };
        let message = format!(
            "line {}: the token {:?} is an object without \"__type\": \"AddedToken\"; transformers 5.24 refuses it, its `content` is taken here",
            position.line, &*property.name
        );
        self.notes.push(Note::new(document.path, message));
    }
}
