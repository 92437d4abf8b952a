//! The report of `lint` on the suite itself.

use std::io::{self, Write};
use std::path::PathBuf;

use super::numbers::{counted, thousands};
use super::problems::write_shared;
use super::screen;
use super::wrapping::wrapped;
use rolecall_base::problem::Problem;
use rolecall_suite::suite::Suite;

/// Writes which files were fixed.
pub fn write_mended(out: &mut dyn Write, paths: &[PathBuf]) -> io::Result<()> {
    let mut paths = paths.iter();
    paths.try_for_each(|path| writeln!(out, "wrote {}", path.display()))
}

/// Writes the findings, or that there are none if the suite could be read.
pub fn write(out: &mut dyn Write, suite: &Suite, findings: &[Problem]) -> io::Result<()> {
    write_shared(out, findings)?;
    if !findings.is_empty() {
        let count = counted(findings.len(), "finding", "findings");
        return writeln!(out, "{count}: see the help above");
    }
    if !suite.problems.is_empty() {
        return Ok(());
    }
    let good = format!(
        "{}, {} cases in {} families, {} snapshots: nothing to fix",
        counted(suite.templates.len(), "template", "templates"),
        suite.written_cases().count(),
        suite.families.len(),
        thousands(suite.pairs().count()),
    );
    writeln!(out, "{}", wrapped(&good, screen::width(), 2))
}
