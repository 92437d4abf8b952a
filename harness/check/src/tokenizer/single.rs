//! The tokenizer of one model.

use rolecall_core::Cut;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use rolecall_core::problem::Problem;
use rolecall_front::sanitizing::{ControlTokens, Piece};
use rolecall_io::source::read_vocabulary;

use super::token::{Cutter, Marker, Stops, Token, TokenKind};

/// Cuts all of a text into tokens that have numbers.
pub trait Segmenter: Send + Sync {
    /// The number of each token, with the bytes of the text that it represents; or why the text
    /// cannot be cut.
    fn segments(&self, text: &str) -> Result<Vec<(u32, Range<usize>)>, String>;

    /// How many tokens each text has; or why one of them cannot be cut.
    fn counts(&self, texts: &[&str]) -> Result<Vec<usize>, String> {
        let counts = texts.iter().map(|text| Ok(self.segments(text)?.len()));
        counts.collect()
    }

    /// The numbers of a text's tokens as if the vocabulary had no added tokens; or why the text
    /// cannot be cut.
    fn plain(&self, text: &str) -> Result<Vec<u32>, String>;

    /// The number of the token with exactly this text.
    fn number(&self, text: &str) -> Option<u32>;
}

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
    /// Cuts what is between the added tokens.
    pub segmenter: Box<dyn Segmenter>,
    /// The added tokens, in any order.
    pub markers: Vec<Marker>,
    /// The token that it puts before a text by itself.
    pub beginning: Option<String>,
    /// The tokens at which the model stops.
    pub stops: Option<Stops>,
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

/// The tokens after a line break at the beginning, with their places in the text after it.
fn after_newline(found: &[Token], newline: &[Token]) -> Option<Vec<Token>> {
    let is_there = found.len() >= newline.len()
        && found
            .iter()
            .zip(newline)
            .all(|(one, other)| one.id == other.id);
    let rest = found.get(newline.len()..).filter(|_| is_there);
    let before = |at: usize| at.saturating_sub(1);
    rest.map(|rest| {
        let tokens = rest.iter().map(|token| Token {
            range: before(token.range.start)..before(token.range.end),
            ..token.clone()
        });
        tokens.collect()
    })
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
            strips_after: false,
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

    /// How many tokens each of these prompts has.
    ///
    /// # Errors
    ///
    /// Only the markers are cut out, or a text cannot be cut.
    pub fn counts(&self, texts: &[&str]) -> Result<Vec<usize>, String> {
        match &self.segmenter {
            Some(segmenter) => segmenter.counts(texts),
            None => Err("only the control tokens of this vocabulary are known".to_owned()),
        }
    }

    /// The control tokens that transformers looks for in what users write, for a Jinja template of
    /// the model. None if the template cannot be read.
    pub fn control_tokens(&self, source: &str) -> Option<ControlTokens> {
        let texts = rolecall_jinja::read(source)?.texts;
        let added = self.markers.iter();
        let added = added.map(|marker| (marker.text.clone(), marker.is_special));
        Some(ControlTokens::of_template(added, &texts))
    }

    /// The tokens of a prompt in which the control tokens of users are marked: these become ordinary
    /// text. Their places are those in the prompt without its marks; of the tokens that a control
    /// token falls into, the first has its place, and the others have none. Source: transformers
    /// 5.24, `encode_marked_chat` in `utils/chat_template_utils.py`.
    ///
    /// # Errors
    ///
    /// Only the markers are cut out; a text cannot be cut; or plain text becomes a marked token.
    pub fn encode_marked(&self, prompt: &str) -> Result<Vec<Token>, String> {
        let Some(segmenter) = &self.segmenter else {
            return Err("only the control tokens of this vocabulary are known".to_owned());
        };
        let added = ControlTokens::new(self.markers.iter().map(|marker| marker.text.clone()));
        let newline = self.encode("\n")?;
        let mut tokens = Vec::new();
        let mut begin = 0;
        for (number, piece) in added.pieces(prompt).into_iter().enumerate() {
            let (Piece::Prompt(text) | Piece::Text(text)) = piece;
            if number > 0 && text.is_empty() {
                continue;
            }
            // A text that begins inside a prompt gets no blank before it.
            let after = format!("\n{text}");
            let found = match piece {
                Piece::Prompt(_) if number == 0 => self.encode(text)?,
                Piece::Prompt(_) => {
                    let found = self.encode(&after)?;
                    match after_newline(&found, &newline) {
                        Some(rest) => rest,
                        None => self.encode(text)?,
                    }
                }
                Piece::Text(token) => {
                    let plain = segmenter.plain(&after)?;
                    let ids: Vec<u32> = newline.iter().filter_map(|token| token.id).collect();
                    let plain = match plain.strip_prefix(ids.as_slice()) {
                        Some(rest) => rest.to_vec(),
                        None => segmenter.plain(token)?,
                    };
                    let own = self.marker(token).map(|marker| marker.id);
                    if own.is_some_and(|own| plain.contains(&own)) {
                        return Err(format!("`{token}` becomes a token also as plain text"));
                    }
                    let ids = plain.into_iter().enumerate();
                    ids.map(|(number, id)| Token {
                        id: Some(id),
                        range: if number == 0 { 0..token.len() } else { 0..0 },
                        kind: TokenKind::Ordinary,
                    })
                    .collect()
                }
            };
            tokens.extend(found.into_iter().map(|token| Token {
                range: begin + token.range.start..begin + token.range.end,
                ..token
            }));
            begin += text.len();
        }
        Ok(tokens)
    }

    /// Whether a text is one token, wherever it is.
    pub(crate) fn is_token(&self, text: &str) -> bool {
        let is_piece = || {
            let segmenter = self.segmenter.as_ref();
            segmenter.is_some_and(|segmenter| segmenter.number(text).is_some())
                && self.encode(text).is_ok_and(|tokens| tokens.len() == 1)
        };
        self.marker(text).is_some() || is_piece()
    }

    pub fn marker(&self, text: &str) -> Option<&Marker> {
        self.markers.iter().find(|marker| marker.text == text)
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.markers.iter().map(|marker| marker.text.as_str())
    }

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
            Ok(at) if self.markers.get(at).is_some_and(|one| one.is_special) => TokenKind::Special,
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
    for (at, found) in text.cut(range.clone()).match_indices(&marker.text) {
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
