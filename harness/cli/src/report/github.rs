//! Diagnostics as annotations, which GitHub shows next to the lines of a change.

use std::io::{self, Write};
use std::path::Path;

use super::diagnostic::Diagnostic;
use super::run_report::{Ending, RunReport};

/// How many lines of a difference an annotation shows.
const MOST_LINES: usize = 12;

/// Writes a line for each diagnostic, as one of GitHub's workflow commands:
/// `::error file=…,line=…,title=…::…`.
pub fn write(out: &mut dyn Write, all: &[Diagnostic<'_>]) -> io::Result<()> {
    all.iter().try_for_each(|one| write_one(out, one))
}

/// Writes the results of a run: an error for each cause, at the template's file, and one for
/// everything else that fails it.
pub fn write_run(out: &mut dyn Write, report: &RunReport<'_, '_>) -> io::Result<()> {
    write(out, &report.diagnostics())?;
    let headline = format!("{}\n{}", report.headline(), report.extent());
    let level = match report.ending() {
        Ending::Passed => "notice",
        Ending::NotCompared => "warning",
        Ending::Failed => "error",
    };
    writeln!(out, "::{level} title=rolecall run::{}", data(&headline))
}

fn write_one(out: &mut dyn Write, one: &Diagnostic<'_>) -> io::Result<()> {
    let level = if one.level == "note" {
        "notice"
    } else {
        one.level
    };
    let mut place = Vec::new();
    if !one.path.as_os_str().is_empty() {
        place.push(format!("file={}", property(&plain_path(&one.path))));
    }
    place.extend(one.lines.first().map(|line| format!("line={line}")));
    place.extend(one.column().map(|column| format!("col={column}")));
    place.push(format!("title={}", property(one.rule)));
    let mut text = match one.meaning {
        // No page explains the rule.
        Some(meaning) => vec![format!("{}: {meaning}", one.subject), one.what.join("\n")],
        None => vec![one.message()],
    };
    text.extend(one.evidence(MOST_LINES));
    text.extend(one.known.iter().map(|why| format!("deliberate: {why}")));
    let (place, text) = (place.join(","), data(&text.join("\n")));
    writeln!(out, "::{level} {place}::{text}")
}

/// A path without `./` before it: GitHub knows files by their paths in the repository.
fn plain_path(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

/// The text of a message, which ends at the end of the line.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property, which also ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
