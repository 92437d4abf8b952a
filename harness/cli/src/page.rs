//! HTML pages as files.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use crate::report::html;
use bytesize::ByteSize;
use rolecall_check::card::Card;
use rolecall_core::Template;
use rolecall_core::file::write_whole;
use serde_json::Value;

use crate::failure::{Failure, tell};

/// How many bytes of a text a page shows.
pub(crate) const MOST_SHOWN: usize = 64 << 10;

/// How many templates a page shows. It is held in memory while it grows, and nobody reads more.
const MOST_TEMPLATES: usize = 1_000;

/// Fails if there are more templates than a page shows.
pub(crate) fn hold(templates: usize) -> Result<(), Failure> {
    if templates <= MOST_TEMPLATES {
        return Ok(());
    }
    Err(Failure::Request(format!(
        "a page shows at most {MOST_TEMPLATES} templates, and there are {templates}\n  name fewer, or \
         leave out `--html`"
    )))
}

/// The cards of templates, by the templates' names, as a page shows them.
pub(crate) fn cards(cards: &[Card], templates: &[Template]) -> BTreeMap<String, Value> {
    let shown = cards.iter().map(|card| {
        let mut templates = templates.iter();
        let template = templates.find(|one| one.name.as_str() == card.template);
        (card.template.clone(), html::card(card, template))
    });
    shown.collect()
}

/// Writes a page, whole or not at all.
pub(crate) fn write(
    path: &Path,
    page: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut text = Vec::new();
    page(&mut text)?;
    write_whole(path, &text)?;
    tell(&format!(
        "wrote {} ({})",
        path.display(),
        ByteSize::b(text.len() as u64).display().si()
    ));
    Ok(())
}
