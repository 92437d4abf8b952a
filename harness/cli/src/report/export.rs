//! The contents of an export, and what it leaves out.

use std::io::{self, Write};
use std::path::Path;

use super::numbers::{counted, thousands};
use rolecall_core::invocation;
use rolecall_suite::export::Export;

/// How many of the left-out pairs to name.
const MOST_NAMED: usize = 5;

/// Writes which files were written, and which pairs are missing.
pub fn write(out: &mut dyn Write, export: &Export, folder: &Path) -> io::Result<()> {
    let left_out = &export.left_out;
    if !left_out.is_empty() {
        for words in left_out.iter().take(MOST_NAMED) {
            writeln!(out, "left out: {words}")?;
        }
        let more = left_out.len().saturating_sub(MOST_NAMED);
        if more > 0 {
            writeln!(out, "left out: {} more", thousands(more))?;
        }
        let command = invocation::command("reference update");
        writeln!(out, "  ask the references: {command}\n")?;
    }
    let counts = export
        .counts()
        .map(|(count, [one, several])| counted(count, one, several));
    let (files, bytes) = export.files().fold((0, 0), |(files, bytes), (_, text)| {
        (files + 1, bytes + text.len())
    });
    writeln!(
        out,
        "wrote {}: {} in {}, {:.1} MB",
        folder.display(),
        counts.join(", "),
        counted(files, "file", "files"),
        megabytes(bytes),
    )
}

#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
