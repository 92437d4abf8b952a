//! The table of engines.

use std::io::{self, Write};

use minijinja::{Value, context};

use crate::commands::matrix::report::parts::{deaths, figure};
use crate::report::style::{QUIET, Styled};
use crate::report::text::{text, written};
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::measurement::{Measurement, Share};

/// Writes the table, one line for each engine, the best of each dialect first.
pub fn write_table(out: &mut dyn Write, matrix: &Matrix) -> io::Result<()> {
    let dialects = matrix
        .dialects()
        .into_iter()
        .map(|dialect| -> io::Result<Value> {
            let engines = matrix.ranked(dialect);
            let first = engines.first();
            Ok(context! {
                name => dialect.name(),
                rows => engines.iter().map(|engine| row(matrix, engine)).collect::<Value>(),
                templates => first.map(|engine| engine.templates.len()),
                prompts => first.map(|engine| engine.prompts().all),
                refusals => first.map(|engine| engine.refusals().all),
                reference => first.map(|engine| engine.reference.to_string()),
                remarks => written(|out| {
                    engines.iter().try_for_each(|engine| write_remarks(out, matrix, engine))
                })?,
            })
        });
    let dialects: io::Result<Vec<Value>> = dialects.collect();
    text!(out, include_str!("table.txt"), { dialects => dialects? })
}

fn row(matrix: &Matrix, engine: &Measurement) -> Value {
    let versions = engine.engine.to_string();
    let versions = versions.strip_prefix(engine.engine.engine.as_str());
    let Share { agree, all } = engine.loaded();
    let constructs = engine.construct_share();
    context! {
        name => &engine.engine.engine,
        versions => versions.unwrap_or_default(),
        is_stale => !matrix.staleness(engine).is_empty(),
        loads => format!("{agree}/{all}"),
        prompts => figure(engine.prompts()),
        of_loaded => figure(engine.prompts_of_loaded()),
        refusals => figure(engine.refusals()),
        constructs => constructs.map_or_else(|| Styled(QUIET, "–").to_string(), figure),
        speed => engine.pairs_per_second,
    }
}

/// Writes that an engine died while it was measured, and that the suite has changed since, where it is
/// so.
pub(crate) fn write_remarks(
    out: &mut dyn Write,
    matrix: &Matrix,
    engine: &Measurement,
) -> io::Result<()> {
    let staleness = matrix.staleness(engine);
    text!(out, include_str!("remarks.txt"), {
        name => engine.name(),
        deaths => deaths(engine),
        engine => &engine.engine.engine,
        version => &engine.engine.version,
        staleness => staleness.join("; "),
    })
}
