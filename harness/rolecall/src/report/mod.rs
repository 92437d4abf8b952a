//! What a person or a program reads: the only place that writes results.
//!
//! Reports write to whatever they are given; colour is always in the text and is taken
//! out by the stream where nobody wants it.

mod numbers;
pub mod screen;
mod style;
mod wrapping;

mod columns;

pub mod syntax_error;

pub mod difference;
pub mod problems;
pub mod progress;
pub mod references;
pub mod tokens;
pub mod transcripts;

pub mod html;

mod excerpt;

pub mod accepting;
pub mod card;
pub mod comparison;
pub mod document;
pub mod explanation;
pub mod export;
pub mod failures;
pub mod grid;
pub mod initial;
pub mod jsonl;
pub mod listing;
pub mod matrix;
pub mod parity;
pub mod probe;
pub mod repetition;
pub mod site;
pub mod summary;
pub mod trial;

mod place;

pub mod annotations;
pub mod cards;
pub mod junit;
pub mod sarif;

pub mod schemas;

pub use numbers::{counted, percent, thousands};
pub use wrapping::wrapped;
