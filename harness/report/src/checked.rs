//! What `check` finds out, as JSON.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::comparison::ComparisonDocument;
use super::json::{self, VERSION};
use rolecall_card::card::Card;
use rolecall_suite::comparison::Comparison;

/// The report cards of `check --format json`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Cards")]
pub struct CheckDocument<'c> {
    /// The version of this format: 1.
    rolecall: u32,
    /// The cards, in the order of the templates.
    cards: &'c [Card],
    /// The templates beside their bases, each as `diff --format json` prints it: A is the base.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    bases: Vec<ComparisonDocument<'c>>,
}

/// Writes report cards, and the templates beside their bases: `{"rolecall": 1, "cards": […]}`.
pub fn write(out: &mut dyn Write, cards: &[Card], bases: &[&Comparison]) -> io::Result<()> {
    let document = CheckDocument {
        rolecall: VERSION,
        cards,
        bases: bases
            .iter()
            .map(|base| ComparisonDocument::of(base))
            .collect(),
    };
    json::write(out, &document)
}
