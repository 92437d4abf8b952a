//! The tokenizer of one model.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use rolecall_model::guard;
use serde_json::{Map, Value};

use super::huggingface;
use super::token::{Cutter, Kind, Marker, Stops, Token};
use crate::problem::Problem;
use crate::source::read_vocabulary;

/// The tokenizer of one model.
pub struct Tokenizer {
    cutting: Cutting,
    markers: Vec<Marker>,
    beginning: Option<String>,
    stops: Option<Stops>,
    cutter: Cutter,
    count: usize,
}

/// How text is cut.
enum Cutting {
    /// As the crate does it.
    Whole(Box<tokenizers::Tokenizer>),
    /// Only the markers are cut out.
    Markers,
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokenizer({} tokens)", self.count)
    }
}

impl Tokenizer {
    /// Reads the files of a template's model: [`rolecall_model::Template::vocabulary`], given what
    /// its special tokens are. Nothing where they hold no vocabulary.
    pub fn read(
        files: &[PathBuf],
        special_tokens: &Map<String, Value>,
    ) -> Result<Option<Tokenizer>, Problem> {
        match files {
            [] => Ok(None),
            [first, ..] if first.ends_with("tokenizer.json") => {
                huggingface::read(files, special_tokens).map(|parts| Some(Tokenizer::of(parts)))
            }
            [gguf, ..] => Tokenizer::of_gguf(gguf),
        }
    }

    fn of(parts: huggingface::Parts) -> Tokenizer {
        let tokenizer = parts.tokenizer;
        let decoder = tokenizer.get_added_tokens_decoder();
        let mut markers: Vec<Marker> = decoder
            .iter()
            .map(|(id, token)| Marker {
                id: *id,
                text: token.content.clone(),
                is_special: token.special,
                strips_before: token.lstrip,
                strips_behind: token.rstrip,
            })
            .collect();
        markers.sort_by_key(|marker| marker.id);
        let alone = guard::catch(|| tokenizer.encode_fast("", true));
        let alone = alone.ok().and_then(Result::ok);
        let first = alone.and_then(|alone| alone.get_ids().first().copied());
        Tokenizer {
            markers,
            beginning: first.and_then(|id| tokenizer.id_to_token(id)),
            stops: parts.stops,
            cutter: Cutter::Transformers,
            count: tokenizer.get_vocab_size(true),
            cutting: Cutting::Whole(Box::new(tokenizer)),
        }
    }

    fn of_gguf(path: &std::path::Path) -> Result<Option<Tokenizer>, Problem> {
        let vocabulary = read_vocabulary(path)?;
        if vocabulary.count == 0 {
            return Ok(None);
        }
        let markers = vocabulary.markers.into_iter().map(|marker| Marker {
            id: marker.id,
            text: marker.text,
            is_special: marker.is_special,
            strips_before: false,
            strips_behind: false,
        });
        let mut markers: Vec<Marker> = markers.collect();
        // The longest is looked for first; of two that are as long, the first.
        markers.sort_by_key(|marker| std::cmp::Reverse(marker.text.len()));
        let ids: Vec<u32> = vocabulary.stops.into_iter().collect();
        Ok(Some(Tokenizer {
            cutting: Cutting::Markers,
            markers,
            beginning: vocabulary.bos.filter(|_| vocabulary.adds_bos),
            stops: (!ids.is_empty()).then_some(Stops {
                ids,
                said_by: "the GGUF file",
            }),
            cutter: Cutter::LlamaCpp {
                says_bos: vocabulary.says_bos,
            },
            count: vocabulary.count,
        }))
    }

    /// The tokens of a prompt, or why it has none.
    pub fn encode(&self, text: &str) -> Result<Vec<Token>, String> {
        match &self.cutting {
            Cutting::Whole(tokenizer) => {
                let encoding = guard::catch(|| tokenizer.encode(text, false))?
                    .map_err(|error| error.to_string())?;
                let offsets = encoding.get_offsets().iter();
                let tokens = encoding.get_ids().iter().zip(offsets);
                let tokens = tokens.map(|(id, (start, end))| Token {
                    id: Some(*id),
                    range: *start..*end,
                    kind: self.kind(*id),
                });
                Ok(tokens.collect())
            }
            Cutting::Markers => Ok(self.markers_in(text)),
        }
    }

    /// Whether a text is one token, wherever it stands.
    pub fn is_token(&self, text: &str) -> bool {
        let is_piece = || match &self.cutting {
            Cutting::Whole(tokenizer) => {
                tokenizer.token_to_id(text).is_some()
                    && self.encode(text).is_ok_and(|tokens| tokens.len() == 1)
            }
            Cutting::Markers => false,
        };
        self.marker(text).is_some() || is_piece()
    }

    /// The marker of a text.
    pub fn marker(&self, text: &str) -> Option<&Marker> {
        self.markers.iter().find(|marker| marker.text == text)
    }

    /// The marker of a number.
    pub fn marker_of(&self, id: u32) -> Option<&Marker> {
        self.markers.iter().find(|marker| marker.id == id)
    }

    /// The marker that a text was meant to be, where one is close.
    pub fn nearest(&self, text: &str) -> Option<&str> {
        /// Two letters that are wrong, or one that is too much and one too few.
        const MOST_WRONG: usize = 2;
        let texts = self.markers.iter().map(|marker| marker.text.as_str());
        let distances = texts.map(|known| (strsim::damerau_levenshtein(text, known), known));
        let near = distances.filter(|(distance, _)| (1..=MOST_WRONG).contains(distance));
        near.min().map(|(_, known)| known)
    }

    /// What it puts before a text by itself.
    pub fn beginning(&self) -> Option<&str> {
        self.beginning.as_deref()
    }

    /// The tokens at which the model stops.
    pub fn stops(&self) -> Option<&Stops> {
        self.stops.as_ref()
    }

    /// Who cuts a prompt with it.
    pub fn cutter(&self) -> Cutter {
        self.cutter
    }

    /// How many tokens there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether all text has numbers, not only the markers in it.
    pub fn is_whole(&self) -> bool {
        matches!(self.cutting, Cutting::Whole(_))
    }

    /// What a token is, where all markers are in the order of their numbers.
    fn kind(&self, id: u32) -> Kind {
        match self.markers.binary_search_by_key(&id, |marker| marker.id) {
            Ok(at) if self.markers[at].is_special => Kind::Special,
            Ok(_) => Kind::Added,
            Err(_) => Kind::Ordinary,
        }
    }

    /// Cuts the markers out of a text, one after the other, as llama.cpp does.
    fn markers_in(&self, text: &str) -> Vec<Token> {
        let mut tokens = vec![Token {
            id: None,
            range: 0..text.len(),
            kind: Kind::Ordinary,
        }];
        tokens.retain(|token| !token.range.is_empty());
        for marker in &self.markers {
            if !text.contains(&marker.text) {
                continue;
            }
            let cut = |token: Token| match token.id {
                Some(_) => vec![token],
                None => cut_out(marker, text, token.range),
            };
            tokens = tokens.into_iter().flat_map(cut).collect();
        }
        tokens
    }
}

/// A stretch of a text, with a marker cut out of it wherever it is.
fn cut_out(marker: &Marker, text: &str, range: Range<usize>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = range.start;
    let rest_until = |rest: usize, end: usize| {
        (rest < end).then_some(Token {
            id: None,
            range: rest..end,
            kind: Kind::Ordinary,
        })
    };
    for (at, found) in text[range.clone()].match_indices(&marker.text) {
        let start = range.start + at;
        tokens.extend(rest_until(rest, start));
        rest = start + found.len();
        tokens.push(Token {
            id: Some(marker.id),
            range: start..rest,
            kind: if marker.is_special {
                Kind::Special
            } else {
                Kind::Added
            },
        });
    }
    tokens.extend(rest_until(rest, range.end));
    tokens
}
