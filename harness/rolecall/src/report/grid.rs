//! Every case against a few templates, one line a case.

use std::collections::HashMap;
use std::io::{self, Write};

use rolecall_model::CaseId;

use super::columns::{Cell, Columns};
use super::style::{self, BAD, HEADING, NOTE, PLAIN, QUIET};
use crate::record::Unverified;
use crate::run::Compared;
use crate::snapshot::Comparison;
use crate::verdict::Verdict;

/// As many templates as stand side by side on an ordinary terminal.
pub const MOST_TEMPLATES: usize = 4;

/// Writes the outcomes of each case for each template, family by family. Templates that
/// do not fit beside each other stand in further grids.
pub fn write(out: &mut dyn Write, results: &[Compared<'_>]) -> io::Result<()> {
    let mut names: Vec<&str> = results.iter().map(template).collect();
    names.dedup();
    for (index, names) in names.chunks(MOST_TEMPLATES).enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        grid(results, names).write(out)?;
    }
    Ok(())
}

fn grid(results: &[Compared<'_>], names: &[&str]) -> Columns {
    let mut cells: HashMap<(&str, &CaseId), &Compared<'_>> = HashMap::new();
    let mut ids: Vec<&CaseId> = Vec::new();
    for result in results {
        let name = template(result);
        if names.contains(&name) {
            let id = &result.rendered.pair.case.id;
            if !names.iter().any(|name| cells.contains_key(&(*name, id))) {
                ids.push(id);
            }
            cells.insert((name, id), result);
        }
    }
    // Cases that the first template does not have came last.
    ids.sort_by(|a, b| a.family().cmp(b.family()));
    let mut columns = Columns::default();
    let mut family = "";
    for id in ids {
        if id.family() != family {
            family = id.family();
            columns.row(
                std::iter::once(Cell::new(HEADING, family))
                    .chain(names.iter().map(|name| Cell::new(QUIET, *name))),
            );
        }
        columns.row(
            std::iter::once(Cell::new(PLAIN, format!("  {}", id.name()))).chain(names.iter().map(
                |name| {
                    cells
                        .get(&(*name, id))
                        .map_or_else(Cell::default, |result| cell(result))
                },
            )),
        );
    }
    columns
}

fn cell(result: &Compared<'_>) -> Cell {
    let kind = result.rendered.outcome.kind();
    let mut cell = Cell::new(style::of_outcome(kind), kind.name());
    match result.comparison {
        None | Some(Comparison::Same) => {}
        Some(Comparison::New) => cell.push(NOTE, " new"),
        Some(Comparison::Changed(_) | Comparison::Unreadable(_)) => cell.push(BAD, " changed"),
    }
    match &result.verdict {
        Verdict::Agrees | Verdict::Unverified(Unverified::Outside) => {}
        Verdict::Unverified(_) => cell.push(BAD, " unverified"),
        Verdict::Differs(_) if result.verdict.is_unexplained() => cell.push(BAD, " differs"),
        Verdict::Differs(_) => cell.push(NOTE, " diverges"),
    }
    cell
}

fn template<'r>(result: &'r Compared<'_>) -> &'r str {
    result.rendered.pair.template.name.as_str()
}
