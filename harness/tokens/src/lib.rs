#![doc = include_str!("../README.md")]
//!
//! transformers uses the crate `tokenizers`, too, and the table that `scripts/record-tokens.py` records holds
//! it to transformers' own tokens.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod vetting;

mod files;

mod reading;

pub mod isolation;

pub use reading::read;
