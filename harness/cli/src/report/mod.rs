//! Writes what Rolecall finds out about chat templates: for terminals, as pages, as JSON, JUnit,
//! SARIF and Markdown, and as annotations of GitHub.
//!
//! Only this module and `matrix` write results. Reports write to any stream. Their text always has
//! colours, in a form that only [`clean`] knows: it makes real ones of them, and makes visible what
//! a terminal would obey. The stream after it removes colours where the user wants none.

pub mod format;
pub mod json;
pub mod log_line;
pub mod numbers;
pub mod screen;

pub mod clean;

pub mod style;
pub mod wrapping;

pub mod columns;

pub(crate) mod text;

pub mod syntax_error;

pub mod difference;
pub mod problems;
pub mod progress;
pub mod references;
pub mod tokens;
pub mod transcripts;

pub mod assumed;
mod excerpt;

mod place;

pub mod fixes;

pub mod card;
pub mod conversations;

pub mod diagnostic;

pub mod accepting;
pub mod adding;
pub mod explanation;
pub mod export;
pub mod failures;
pub mod grid;
pub mod initial;
pub mod inspections;
pub mod jsonl;
pub mod lint;
pub mod listing;
pub mod probe;
pub mod render_summary;
pub mod reviewing;
pub mod roundtrip;
pub mod roundtrip_servers;
pub mod summary;
pub mod trial;

pub mod coverage;
pub mod fingerprint;
pub mod generation;
pub mod mutation;
pub mod proof;

pub mod trace;

pub mod decisions;
pub mod trace_document;

pub mod mask;

pub mod run_report;

pub mod markdown;

pub mod reach;

pub mod html;

pub mod comparison;

pub mod served;

pub mod cards;
pub mod checked;
pub mod checked_texts;
pub mod github;
pub mod junit;
pub mod sarif;

pub mod run;

pub use numbers::{counted, percent, thousands};
pub use wrapping::{each, wrapped};
