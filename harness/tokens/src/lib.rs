//! The tokenizers of Hugging Face models, for report cards and for `rolecall show --tokens`.
//!
//! A tokenizer cuts a prompt as `apply_chat_template(tokenize=True)` of transformers 5.23 does. It
//! uses the same crate as transformers, and the table that `scripts/record-tokens.py` records holds
//! it to transformers' own tokens.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod vetting;

mod files;

mod reading;

pub mod isolation;

pub use reading::read;
