//! Results as JSON documents: objects that say which version of this format they have.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::card::Card;

/// The version of all JSON results. Keys may be added to a version; what is there keeps its
/// meaning.
pub(super) const VERSION: u32 = 1;

/// The report cards of `check --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Cards<'c> {
    /// The version of this format: 1.
    rolecall: u32,
    /// The cards, in the order of the templates.
    cards: &'c [Card],
}

/// Writes report cards: `{"rolecall": 1, "cards": […]}`.
pub fn write_cards(out: &mut dyn Write, cards: &[Card]) -> io::Result<()> {
    let rolecall = VERSION;
    write(out, &Cards { rolecall, cards })
}

/// Writes a document, for people to look into as well.
pub(super) fn write(out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}
