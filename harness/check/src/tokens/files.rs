//! The tokenizer of a Hugging Face folder, as `AutoTokenizer` of transformers 5.24 builds it from
//! `tokenizer.json` and the files next to it (`TokenizersBackend` in
//! `tokenization_utils_tokenizers.py`, `_from_pretrained` in `tokenization_utils_base.py`):
//!
//! - `tokenizer.json` is used without its truncation and padding, and with its post-processor, so
//!   `add_bos_token` of the configuration has no effect,
//! - tokens of `added_tokens_decoder` replace those of `tokenizer.json` that differ,
//! - special tokens that neither file contains are added.
//!
//! Changes by a tokenizer class of the model's own are not known here.

use std::path::{Path, PathBuf};

use crate::tokenizer::Stops;
use rolecall_core::guard;
use serde_json::{Map, Value};
use tokenizers::{AddedToken, Tokenizer};

use super::vetting::{MOST_BYTES, vet, vet_names};
use rolecall_core::file::{MOST_TEXT, read_bytes};
use rolecall_core::problem::{Location, Problem};

/// The tokenizer of a folder's files, and the tokens at which the model stops.
pub(crate) struct TokenizerFiles {
    pub(crate) tokenizer: Tokenizer,
    pub(crate) stops: Option<Stops>,
}

/// Reads the files of a folder. The first must be `tokenizer.json`.
pub(crate) fn read(
    files: &[PathBuf],
    named: &Map<String, Value>,
) -> Result<TokenizerFiles, Problem> {
    let Some(path) = files.first() else {
        return Err(Problem::new("tokenizer.json", "not there"));
    };
    let bytes = read_bytes(path, MOST_BYTES)?;
    let config = object(files, "tokenizer_config.json")?;
    let tokenizer = parsed(path, &bytes, &config, named)?;
    let stops = stops(files, &tokenizer, &config)?;
    Ok(TokenizerFiles { tokenizer, stops })
}

/// The tokenizer in the bytes of a `tokenizer.json`, with its configuration.
pub(super) fn parsed(
    path: &Path,
    bytes: &[u8],
    config: &Map<String, Value>,
    named: &Map<String, Value>,
) -> Result<Tokenizer, Problem> {
    vet(path, bytes)?;
    let parsed = guard::catch(|| Tokenizer::from_bytes(bytes));
    let mut tokenizer = match parsed {
        Ok(Ok(tokenizer)) => tokenizer,
        Ok(Err(error)) => return Err(unreadable(path, bytes, &error.to_string())),
        Err(panic) => return Err(unreadable(path, bytes, &panic)),
    };
    let decoder = config
        .get("added_tokens_decoder")
        .and_then(Value::as_object);
    let decoder = decoder
        .into_iter()
        .flatten()
        .filter_map(|(_, token)| text_of(token));
    vet_names(
        path,
        named.values().filter_map(Value::as_str).chain(decoder),
    )?;
    let refuse = |error: tokenizers::Error| Problem::new(path, format!("no tokenizer: {error}"));
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(refuse)?;
    let changed = changed(&tokenizer, config);
    let known = |tokenizer: &Tokenizer, text: &str| {
        let added = tokenizer.get_added_vocabulary();
        added.get_vocab().contains_key(text)
    };
    let named = named.values().filter_map(Value::as_str);
    let extra = ["extra_special_tokens", "additional_special_tokens"];
    let extra = extra.iter().filter_map(|key| config.get(*key)?.as_array());
    let extra = extra.flatten().filter_map(text_of);
    vet_names(path, extra.clone())?;
    tokenizer.add_tokens(changed).map_err(refuse)?;
    let missing: Vec<AddedToken> = named
        .chain(extra)
        .filter(|text| !known(&tokenizer, text))
        .map(|text| AddedToken::from(text, true))
        .collect();
    tokenizer.add_tokens(missing).map_err(refuse)?;
    let splits = config.get("split_special_tokens");
    tokenizer.set_encode_special_tokens(splits == Some(&Value::Bool(true)));
    Ok(tokenizer)
}

fn unreadable(path: &Path, bytes: &[u8], why: &str) -> Problem {
    let problem = Problem::new(path, format!("no tokenizer: {why}"));
    // If the text is not JSON, the parser knows the place.
    match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
        Err(error) if error.line() > 0 => {
            problem.at(Location::Text(rolecall_core::problem::Position {
                line: error.line(),
                column: error.column().max(1),
            }))
        }
        _ => problem,
    }
}

/// The object in a file, or an empty one if the file does not exist.
fn object(files: &[PathBuf], name: &str) -> Result<Map<String, Value>, Problem> {
    let Some(path) = files.iter().find(|path| path.ends_with(name)) else {
        return Ok(Map::new());
    };
    let bytes = read_bytes(path, MOST_TEXT)?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Problem::new(path, "not an object")),
        Err(error) => Err(unreadable(path, &bytes, &error.to_string())),
    }
}

/// The text of a token as it is written: a string, or an object.
fn text_of(token: &Value) -> Option<&str> {
    token.as_str().or_else(|| token.get("content")?.as_str())
}

/// The tokens of the configuration that differ from the tokenizer's.
fn changed(tokenizer: &Tokenizer, config: &Map<String, Value>) -> Vec<AddedToken> {
    let decoder = config.get("added_tokens_decoder");
    let Some(decoder) = decoder.and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut tokens: Vec<(u64, AddedToken)> = decoder
        .iter()
        .filter_map(|(id, token)| {
            let flag = |name: &str| token.get(name).and_then(Value::as_bool);
            let mut made = AddedToken::from(text_of(token)?, flag("special").unwrap_or(false));
            made.lstrip = flag("lstrip").unwrap_or(made.lstrip);
            made.rstrip = flag("rstrip").unwrap_or(made.rstrip);
            made.normalized = flag("normalized").unwrap_or(made.normalized);
            made.single_word = flag("single_word").unwrap_or(made.single_word);
            Some((id.parse().ok()?, made))
        })
        .collect();
    tokens.sort_by_key(|(id, _)| *id);
    let known = tokenizer.get_added_tokens_decoder();
    let is_known = |token: &AddedToken| known.values().any(|known| is_same(known, token));
    let tokens = tokens.into_iter().map(|(_, token)| token);
    tokens.filter(|token| !is_known(token)).collect()
}

/// Whether two tokens are the same in all their properties. The crate compares only their texts.
fn is_same(a: &AddedToken, b: &AddedToken) -> bool {
    a.content == b.content
        && a.special == b.special
        && a.lstrip == b.lstrip
        && a.rstrip == b.rstrip
        && a.normalized == b.normalized
        && a.single_word == b.single_word
}

/// The tokens at which the model stops. `generate` of transformers 5.24 reads
/// `generation_config.json`, and without it derives the settings from `config.json`.
fn stops(
    files: &[PathBuf],
    tokenizer: &Tokenizer,
    config: &Map<String, Value>,
) -> Result<Option<Stops>, Problem> {
    for name in ["generation_config.json", "config.json"] {
        let object = object(files, name)?;
        let inner = object.get("text_config").and_then(Value::as_object);
        let reported = [Some(&object), inner].into_iter().flatten();
        let reported = reported.filter_map(|object| object.get("eos_token_id"));
        for reported in reported {
            let ids: Vec<u32> = match reported {
                Value::Array(ids) => ids.iter().filter_map(number).collect(),
                id => number(id).into_iter().collect(),
            };
            if !ids.is_empty() {
                return Ok(Some(Stops { ids, said_by: name }));
            }
        }
    }
    let eos = config.get("eos_token").and_then(text_of);
    let id = eos.and_then(|eos| tokenizer.token_to_id(eos));
    Ok(id.map(|id| Stops {
        ids: vec![id],
        said_by: "tokenizer_config.json",
    }))
}

fn number(id: &Value) -> Option<u32> {
    id.as_u64()?.try_into().ok()
}
