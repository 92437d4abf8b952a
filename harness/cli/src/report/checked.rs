//! What `check` finds out, as JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::comparison::ComparisonDocument;
use super::fixes::{FixDocument, TemplateFixes};
use super::json::{self, VERSION};
use rolecall_check::card::Card;
use rolecall_suite::comparison::Comparison;

/// The report cards of `check --format json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Cards"))]
pub struct CheckDocument<'c> {
    /// The version of this format: 1.
    rolecall: u32,
    /// The cards, in the order of the templates.
    cards: &'c [Card],
    /// The templates compared with their bases, each as `diff --format json` prints it: A is the
    /// base.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    bases: Vec<ComparisonDocument<'c>>,
    /// With `--fix`, the fixes of each template, in the order in which they are applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    fixes: Option<Vec<FixDocument<'c>>>,
}

/// Writes report cards, the templates compared with their bases, and the fixes if the user asked
/// for them: `{"rolecall": 1, "cards": […]}`.
pub fn write(
    out: &mut dyn Write,
    cards: &[Card],
    bases: &[&Comparison],
    fixes: Option<&[TemplateFixes]>,
) -> io::Result<()> {
    let document = CheckDocument {
        rolecall: VERSION,
        cards,
        bases: bases
            .iter()
            .map(|base| ComparisonDocument::of(base))
            .collect(),
        fixes: fixes.map(|fixes| {
            let documents = fixes.iter().flat_map(TemplateFixes::documents);
            documents.collect()
        }),
    };
    json::write(out, &document)
}
