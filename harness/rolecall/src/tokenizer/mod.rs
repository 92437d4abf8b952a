//! Tokenizers: what a model makes of a prompt before it reads it.
//!
//! A model reads tokens, not text. The tokenizer of a Hugging Face folder cuts a prompt as
//! `apply_chat_template(tokenize=True)` of transformers 5.23 does, by the crate that transformers
//! uses, and is held to it by the table that `scripts/record-tokens.py` records. Of a GGUF file the
//! tokens are known that llama.cpp looks for before it cuts the rest; how that is cut depends on a
//! pre-tokenizer that the file only names, so the rest is left whole.

mod token;

mod huggingface;

mod single;

mod several;

pub use several::Tokenizers;
pub use single::Tokenizer;
pub use token::{Cutter, Kind, Marker, Stops, Token};
