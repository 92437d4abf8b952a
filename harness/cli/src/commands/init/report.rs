//! The report of `init`: what it made, and what comes next.

use std::io::{self, Write};

use crate::report::text::text;
use rolecall_core::problem::shown_path;
use rolecall_suite::initial::Initial;

/// Writes which files exist now, and what to do with them.
pub fn write(out: &mut dyn Write, initial: &Initial) -> io::Result<()> {
    let files = initial.files.iter();
    text!(out, include_str!("report.txt"), {
        files => files.map(|file| file.path.display().to_string()).collect::<Vec<_>>(),
        above => initial.above.as_deref().map(shown_path),
        count => initial.count,
    })
}
