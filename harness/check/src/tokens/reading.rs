//! One tokenizer, with the crate `tokenizers`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::files;
use crate::tokenizer::{Marker, Segmenter, Tokenizer, TokenizerParts};
use rolecall_core::problem::Problem;
use rolecall_core::{Template, guard};
use serde_json::{Map, Value};
use tokenizers::{
    Model as _, NormalizedString, Normalizer as _, OffsetReferential, OffsetType,
    PreTokenizedString, PreTokenizer as _,
};

/// Reads the tokenizer of a template's model, from `tokenizer.json` and the files next to it, or
/// from a GGUF file. None if the template comes without its model, or if the files contain no
/// vocabulary.
///
/// # Errors
///
/// A file cannot be read, or holds no tokenizer.
pub fn read(template: &Template) -> Result<Option<Tokenizer>, Problem> {
    match template.vocabulary.as_slice() {
        [] => Ok(None),
        [first, ..] if first.ends_with("tokenizer.json") => {
            let parts = parts(&template.vocabulary, &template.special_tokens)?;
            Ok(Some(parts.into()))
        }
        [gguf, ..] => Tokenizer::of_gguf(gguf),
    }
}

/// The tokenizer in the bytes of a `tokenizer.json`, for a program without files: with the
/// `tokenizer_config.json` next to it, which may be empty, and with the special tokens of a template.
///
/// # Errors
///
/// They hold no tokenizer.
pub fn parse(
    bytes: &[u8],
    config: &Map<String, Value>,
    named: &Map<String, Value>,
) -> Result<Tokenizer, Problem> {
    let tokenizer = files::parsed(Path::new("tokenizer.json"), bytes, config, named)?;
    let stops = None;
    Ok(whole(files::TokenizerFiles { tokenizer, stops }).into())
}

/// The parts of the tokenizer in a folder's files.
pub(crate) fn parts(
    files: &[PathBuf],
    named: &Map<String, Value>,
) -> Result<TokenizerParts, Problem> {
    files::read(files, named).map(whole)
}

fn whole(parts: files::TokenizerFiles) -> TokenizerParts {
    let tokenizer = parts.tokenizer;
    let decoder = tokenizer.get_added_tokens_decoder();
    let markers = decoder.iter().map(|(id, token)| Marker {
        id: *id,
        text: token.content.clone(),
        is_special: token.special,
        strips_before: token.lstrip,
        strips_after: token.rstrip,
    });
    let empty = guard::catch(|| tokenizer.encode_fast("", true));
    let empty = empty.ok().and_then(Result::ok);
    let first = empty.and_then(|empty| empty.get_ids().first().copied());
    TokenizerParts {
        markers: markers.collect(),
        beginning: first.and_then(|id| tokenizer.id_to_token(id)),
        stops: parts.stops,
        count: tokenizer.get_vocab_size(true),
        segmenter: Box::new(CrateSegmenter(tokenizer)),
    }
}

/// Cuts texts with the crate `tokenizers`.
struct CrateSegmenter(tokenizers::Tokenizer);

impl Segmenter for CrateSegmenter {
    fn segments(&self, text: &str) -> Result<Vec<(u32, Range<usize>)>, String> {
        let encoding =
            guard::catch(|| self.0.encode(text, false))?.map_err(|error| error.to_string())?;
        let offsets = encoding.get_offsets().iter();
        let segments = encoding.get_ids().iter().zip(offsets);
        let segments = segments.map(|(id, (start, end))| (*id, *start..*end));
        Ok(segments.collect())
    }

    fn counts(&self, texts: &[&str]) -> Result<Vec<usize>, String> {
        // Places of tokens take most of the time.
        let count = |text: &&str| {
            let encoding = guard::catch(|| self.0.encode_fast(*text, false))?;
            encoding
                .map(|encoding| encoding.len())
                .map_err(|error| error.to_string())
        };
        texts.iter().map(count).collect()
    }

    /// As `_encode_without_added_tokens` of transformers 5.24 does it in
    /// `tokenization_utils_tokenizers.py`.
    fn plain(&self, text: &str) -> Result<Vec<u32>, String> {
        let cut = || -> tokenizers::Result<Vec<u32>> {
            let mut normalized = NormalizedString::from(text);
            if let Some(normalizer) = self.0.get_normalizer() {
                normalizer.normalize(&mut normalized)?;
            }
            let mut splits = PreTokenizedString::from(normalized.get());
            if let Some(pre_tokenizer) = self.0.get_pre_tokenizer() {
                pre_tokenizer.pre_tokenize(&mut splits)?;
            }
            let mut ids = Vec::new();
            for (split, ..) in splits.get_splits(OffsetReferential::Original, OffsetType::Byte) {
                let tokens = self.0.get_model().tokenize(split)?;
                ids.extend(tokens.into_iter().map(|token| token.id));
            }
            Ok(ids)
        };
        guard::catch(cut)?.map_err(|error| error.to_string())
    }

    fn number(&self, text: &str) -> Option<u32> {
        self.0.token_to_id(text)
    }
}
