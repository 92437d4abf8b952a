//! The report of `lint` on the suite itself.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::report::numbers::counted;
use crate::report::problems::write_shared;
use crate::report::wrapping::paragraph;
use rolecall_core::problem::Problem;
use rolecall_suite::layout::Layout;
use rolecall_suite::suite::Suite;

pub fn write_fixed(out: &mut dyn Write, paths: &[PathBuf]) -> io::Result<()> {
    let mut paths = paths.iter();
    paths.try_for_each(|path| writeln!(out, "wrote {}", path.display()))
}

/// Writes the findings on the suite of a layout, or that there are none if the suite could be read.
pub fn write(
    out: &mut dyn Write,
    layout: &Layout,
    suite: &Suite,
    findings: &[Problem],
) -> io::Result<()> {
    write_shared(out, findings)?;
    if !findings.is_empty() {
        let count = counted(findings.len(), "finding", "findings");
        return writeln!(out, "{layout}: {count}, see the help above");
    }
    if !suite.problems.is_empty() {
        return Ok(());
    }
    let good = format!(
        "{layout}: {}, {} in {}, {}: nothing to fix",
        counted(suite.templates.len(), "template", "templates"),
        counted(suite.written_cases().count(), "case", "cases"),
        counted(suite.families.len(), "family", "families"),
        counted(suite.pairs().count(), "snapshot", "snapshots"),
    );
    paragraph(out, &good, 2)
}
