//! Results as JSON documents. Each one says which version of this format it has.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use rolecall_card::card::Card;

/// The version of all JSON results. A version may get new keys; existing keys keep their meaning.
pub const VERSION: u32 = 1;

/// The report cards of `check --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cards<'c> {
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

/// Writes a document, indented so that people can read it too.
pub fn write(out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}
