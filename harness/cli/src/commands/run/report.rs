//! The results of a run, for people.

use std::io::{self, Write};

use crate::commands::run::grid::Grid;
use crate::report::difference::Extent;
use crate::report::problems::write_shared;
use crate::report::run_report::RunReport;
use crate::report::{checked_texts, comparison, difference, summary};

/// Writes the pairs in a grid if there is one, then what is not as expected, and the counts. `is_other`
/// says whether another program gave the results.
pub fn write(
    out: &mut dyn Write,
    report: &RunReport<'_, '_>,
    grid: Option<&Grid<'_>>,
    is_whole: bool,
    is_other: bool,
) -> io::Result<()> {
    if let Some(grid) = grid {
        grid.write(out)?;
        writeln!(out)?;
    }
    difference::write(out, report.groups, Extent::of(is_whole))?;
    let conclusion = report.conclusion;
    checked_texts::write(out, &conclusion.cards, is_whole)?;
    for base in &conclusion.bases {
        if base.comparison.deviates() {
            comparison::write_base(out, &base.comparison, is_whole)?;
        }
        write_shared(out, &base.stale)?;
        writeln!(out)?;
    }
    difference::write_gone(out, &conclusion.gone)?;
    if !conclusion.problems.is_empty() {
        write_shared(out, &conclusion.problems)?;
        writeln!(out)?;
    }
    summary::write_table(out, conclusion, is_whole)?;
    writeln!(out)?;
    if is_other {
        summary::write_parts(out, conclusion)?;
    }
    summary::write_close(out, conclusion, report.origin, report.reference_names)?;
    if !report.passes() {
        summary::write_failure(out, report.origin, &report.headline())?;
    }
    Ok(())
}
