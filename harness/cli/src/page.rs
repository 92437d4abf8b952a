//! HTML pages as files.

use std::io::{self, Write};
use std::path::Path;

use bytesize::ByteSize;
use rolecall_core::file::write_whole;

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
