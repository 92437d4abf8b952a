//! The tokenizer of one model.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use rolecall_base::problem::Problem;
use rolecall_source::source::read_vocabulary;

use super::token::{Cutter, Marker, Stops, Token, TokenKind};

/// Cuts all of a text into tokens that have numbers.
pub trait Segmenter: Send + Sync {
    /// The number of each token, with the bytes of the text that it stands for; or why the text
    /// cannot be cut.
    fn segments(&self, text: &str) -> Result<Vec<(u32, Range<usize>)>, String>;

    /// The number of the token with exactly this text.
    fn number(&self, text: &str) -> Option<u32>;
}

/// The tokenizer of one model.
pub struct Tokenizer {
    /// Nothing where only the markers are cut out.
    segmenter: Option<Box<dyn Segmenter>>,
    markers: Vec<Marker>,
    beginning: Option<String>,
    stops: Option<Stops>,
    cutter: Cutter,
    count: usize,
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokenizer({} tokens)", self.count)
    }
}

/// The parts of a tokenizer that cuts all of a text, as transformers does.
pub struct TokenizerParts {
    /// Cuts texts.
    pub segmenter: Box<dyn Segmenter>,
    /// The added tokens, in any order.
    pub markers: Vec<Marker>,
    /// The token that it puts before a text by itself.
    pub beginning: Option<String>,
    /// The tokens at which the model stops.
    pub stops: Option<Stops>,
    /// How many tokens there are.
    pub count: usize,
}

impl From<TokenizerParts> for Tokenizer {
    fn from(mut whole: TokenizerParts) -> Tokenizer {
        whole.markers.sort_by_key(|marker| marker.id);
        Tokenizer {
            segmenter: Some(whole.segmenter),
            markers: whole.markers,
            beginning: whole.beginning,
            stops: whole.stops,
            cutter: Cutter::Transformers,
            count: whole.count,
        }
    }
}

impl Tokenizer {
    /// Reads the markers of a GGUF file. Nothing where the file holds no vocabulary.
    pub fn of_gguf(path: &Path) -> Result<Option<Tokenizer>, Problem> {
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
            segmenter: None,
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
        let Some(segmenter) = &self.segmenter else {
            return Ok(self.markers_in(text));
        };
        let tokens = segmenter.segments(text)?.into_iter();
        let tokens = tokens.map(|(id, range)| Token {
            id: Some(id),
            range,
            kind: self.kind(id),
        });
        Ok(tokens.collect())
    }

    /// Whether a text is one token, wherever it stands.
    pub(crate) fn is_token(&self, text: &str) -> bool {
        let is_piece = || {
            let segmenter = self.segmenter.as_ref();
            segmenter.is_some_and(|segmenter| segmenter.number(text).is_some())
                && self.encode(text).is_ok_and(|tokens| tokens.len() == 1)
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

    /// Whether all text becomes numbered tokens, not only the markers.
    pub fn is_whole(&self) -> bool {
        self.segmenter.is_some()
    }

    /// The kind of a token. The markers must be sorted by their numbers.
    fn kind(&self, id: u32) -> TokenKind {
        match self.markers.binary_search_by_key(&id, |marker| marker.id) {
            Ok(at) if self.markers[at].is_special => TokenKind::Special,
            Ok(_) => TokenKind::Added,
            Err(_) => TokenKind::Ordinary,
        }
    }

    /// Cuts the markers out of a text, one after the other, as llama.cpp does.
    fn markers_in(&self, text: &str) -> Vec<Token> {
        let mut tokens = vec![Token {
            id: None,
            range: 0..text.len(),
            kind: TokenKind::Ordinary,
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
            kind: TokenKind::Ordinary,
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
                TokenKind::Special
            } else {
                TokenKind::Added
            },
        });
    }
    tokens.extend(rest_until(rest, range.end));
    tokens
}
