//! Tokens: what a prompt is cut into, and those that a vocabulary adds.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A piece of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its number in the vocabulary. None for ordinary text of a GGUF file, which names its
    /// pre-tokenizer but does not contain it.
    pub id: Option<u32>,
    /// The bytes of the prompt that it represents. A character of several bytes may be cut into
    /// several tokens, each of which represents all of it.
    pub range: Range<usize>,
    pub kind: TokenKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A control token that is marked as special: a server can keep users from writing it.
    Special,
    /// A token that was added to the vocabulary and is not special: whoever writes its text
    /// writes the token.
    Added,
    /// A piece of ordinary text.
    Ordinary,
}

impl TokenKind {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            TokenKind::Special => "special",
            TokenKind::Added => "added",
            TokenKind::Ordinary => "ordinary",
        }
    }
}

/// A token whose text is looked for before anything else is cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    pub id: u32,
    pub text: String,
    pub is_special: bool,
    /// Whether it takes the white space before it with it.
    pub strips_before: bool,
    /// Whether it takes the white space after it with it.
    pub strips_after: bool,
}

/// The tokens at which a model stops, and the file or key that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stops {
    pub ids: Vec<u32>,
    /// Who says so: the name of a file, or of a key.
    pub said_by: &'static str,
}

/// What cuts the prompt and may put a token before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cutter {
    /// `apply_chat_template(tokenize=True)` of transformers 5.24 asks the tokenizer to add
    /// nothing.
    Transformers,
    /// llama.cpp adds BOS where the file says so, and its server drops the one that a Jinja
    /// template wrote before that. Ollama 0.33 drops `<bos>` only, and only where the file says
    /// in words that BOS is added.
    LlamaCpp {
        /// Whether the file says so in words.
        says_bos: bool,
    },
}
