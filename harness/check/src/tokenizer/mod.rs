//! Tokenizers: what a model makes of a prompt before it reads it.
//!
//! A model reads tokens, not text. The tokenizer of a Hugging Face folder cuts a prompt as
//! `apply_chat_template(tokenize=True)` of transformers 5.24 does, by the crate that transformers
//! uses: `rolecall-check` reads it. From a GGUF file this module knows the tokens that llama.cpp
//! looks for before it cuts the rest. The cut of the rest depends on a pre-tokenizer that the file
//! only names, so the rest stays whole.

mod token;

mod single;

mod several;

pub use several::{TokenizerReader, Tokenizers};
pub use single::{Segmenter, Tokenizer, TokenizerParts};
pub use token::{Cutter, Marker, Stops, Token, TokenKind};
