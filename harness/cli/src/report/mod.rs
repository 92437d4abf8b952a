//! Writes what Rolecall finds out about chat templates: for terminals, as pages, as JSON, JUnit,
//! SARIF and Markdown, and as annotations of GitHub.
//!
//! Only this module and the reports of `commands` write results. Reports write to any stream. Their text always has
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
#[cfg_attr(target_family = "wasm", path = "no_progress.rs")]
pub mod progress;
pub mod transcripts;

pub mod assumed;
pub(crate) mod excerpt;

pub(crate) mod place;

pub mod fixes;

pub mod card;
pub mod case;
pub mod conversations;

pub mod diagnostic;

pub mod explanation;
pub mod jsonl;
pub mod roundtrip_servers;
pub mod summary;

pub mod fingerprint;

pub mod trace;

pub mod run_report;

pub mod markdown;

pub mod reach;

pub mod coverage;

pub mod verdict_counts;

pub mod inspections;
pub mod proof;

pub mod html;

pub mod comparison;

pub mod checked_texts;
pub mod github;
pub mod junit;
pub mod sarif;

pub use numbers::{counted, percent, thousands};
pub use wrapping::{each, wrapped};
