//! The table of engines.

use std::io::{self, Write};

use super::parts::{cell, deaths};
use crate::matrix::engines::Matrix;
use crate::matrix::measurement::{Measurement, Share};
use crate::report::columns::{Cell, Columns};
use crate::report::numbers::{counted, thousands};
use crate::report::style::{BAD, HEADING, NOTE, PLAIN, QUIET, Styled};
use crate::report::wrapping::paragraph;
use rolecall_core::invocation;

/// Writes the table, one line for each engine, the best of each dialect first.
pub fn write_table(out: &mut dyn Write, matrix: &Matrix) -> io::Result<()> {
    let dialects = matrix.dialects();
    for (at, dialect) in dialects.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let mut engines: Vec<&Measurement> = matrix.of_dialect(*dialect).collect();
        engines.sort_by(|a, b| {
            let share = |one: &Measurement| one.prompts();
            compared(share(b), share(a))
        });
        let mut columns = Columns::right_aligned(1..7);
        let headings = [
            "engine",
            "loads",
            "prompts",
            "of loaded",
            "refusals",
            "constructs",
            "pairs/s",
        ];
        columns.row(headings.map(|heading| Cell::new(HEADING, heading)));
        for engine in &engines {
            columns.row(row(matrix, engine));
        }
        columns.write(out)?;
        writeln!(out)?;
        let asked: Vec<_> = engines
            .iter()
            .map(|engine| {
                (
                    engine.templates.len(),
                    engine.prompts().all,
                    engine.refusals().all,
                )
            })
            .collect();
        if let Some((templates, prompts, refusals)) = asked.first() {
            let text = format!(
                "{dialect}: {}, {} and {}, judged by {}",
                counted(*templates, "template", "templates"),
                counted(*prompts, "prompt", "prompts"),
                counted(*refusals, "refusal", "refusals"),
                engines[0].suite.reference,
            );
            paragraph(out, &Styled(QUIET, text).to_string(), 2)?;
        }
        for engine in engines {
            write_remarks(out, matrix, engine)?;
        }
    }
    Ok(())
}

/// Compares by share, without rounding.
fn compared(a: Share, b: Share) -> std::cmp::Ordering {
    (a.agree * b.all.max(1)).cmp(&(b.agree * a.all.max(1)))
}

fn row(matrix: &Matrix, engine: &Measurement) -> [Cell; 7] {
    let mut name = Cell::new(PLAIN, engine.engine.engine.clone());
    let versions = engine.engine.to_string();
    let versions = versions.strip_prefix(engine.engine.engine.as_str());
    name.push(QUIET, versions.unwrap_or_default());
    if !matrix.staleness(engine).is_none() {
        name.push(NOTE, " *");
    }
    let Share { agree, all } = engine.loaded();
    let constructs = engine.construct_share();
    [
        name,
        Cell::new(PLAIN, format!("{agree}/{all}")),
        cell(engine.prompts()),
        cell(engine.prompts_of_loaded()),
        cell(engine.refusals()),
        constructs.map_or_else(|| Cell::new(QUIET, "–"), cell),
        Cell::new(QUIET, thousands(engine.pairs_per_second)),
    ]
}

/// Writes that an engine died while it was measured, and that the suite has changed since, where it is
/// so.
pub(super) fn write_remarks(
    out: &mut dyn Write,
    matrix: &Matrix,
    engine: &Measurement,
) -> io::Result<()> {
    if let Some(deaths) = deaths(engine) {
        let text = format!("{} {}", engine.name(), Styled(BAD, deaths));
        paragraph(out, &text, 2)?;
    }
    let staleness = matrix.staleness(engine);
    if staleness.is_none() {
        return Ok(());
    }
    // The name that the engine was set up under may differ from its own.
    let update = invocation::command("matrix update ENGINE");
    let text = format!(
        "{} {} {}: measured before the suite changed ({staleness}); `{update}` measures it again",
        Styled(NOTE, "*"),
        engine.engine.engine,
        engine.engine.version,
    );
    paragraph(out, &text, 2)
}
