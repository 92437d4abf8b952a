//! The tokenizers of Hugging Face models for the report cards of Rolecall and for `rolecall show
//! --tokens`. A tokenizer cuts a prompt as `apply_chat_template(tokenize=True)` of transformers
//! does.
//!
//! transformers uses the crate `tokenizers`, too, and the table that `scripts/record-tokens.py` records holds
//! it to transformers' own tokens.

pub mod vetting;

mod files;

mod reading;

pub mod isolation;

pub use reading::{parse, read};
