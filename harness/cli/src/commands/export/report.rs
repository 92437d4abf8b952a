//! The contents of an export, and what it leaves out.

use std::io::{self, Write};
use std::path::Path;

use crate::report::numbers::counted;
use crate::report::text::text;
use rolecall_suite::export::Export;

/// How many of the left-out pairs to name.
const MOST_NAMED: usize = 5;

/// Writes which files were written, and which pairs are missing.
pub fn write(out: &mut dyn Write, export: &Export, folder: &Path) -> io::Result<()> {
    let counts = export
        .counts()
        .map(|(count, [one, several])| counted(count, one, several));
    let (files, bytes) = export
        .files()
        .fold((0_usize, 0), |(files, bytes), (_, text)| {
            (files + 1, bytes + text.len())
        });
    let left_out = export.left_out.iter().take(MOST_NAMED);
    text!(out, include_str!("report.txt"), {
        left_out => left_out.map(ToString::to_string).collect::<Vec<_>>(),
        more => export.left_out.len().saturating_sub(MOST_NAMED),
        folder => folder.display().to_string(),
        counts => counts.to_vec(),
        // With the list of the files.
        files => files + 1,
        megabytes => format!("{:.1}", megabytes(bytes)),
    })
}

#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
