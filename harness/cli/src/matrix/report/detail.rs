//! One engine in detail.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::parts::{cell, heading, words, write_groups};
use super::table::write_remarks;
use crate::matrix::engines::Matrix;
use crate::matrix::measurement::{DifferenceGroup, Measurement, Share};
use crate::report::columns::{Cell, Columns};
use crate::report::numbers::{counted, thousands};
use crate::report::screen;
use crate::report::style::{BAD, HEADING, PLAIN, QUIET, Styled};
use crate::report::wrapping::wrapped;
use rolecall_suite::construct::Construct;

/// How many families and constructs to show unless the user wants all.
const MOST: usize = 12;

/// Writes an engine's results by template, by family and by construct, and its most common
/// differences.
pub fn write_detail(
    out: &mut dyn Write,
    matrix: &Matrix,
    engine: &Measurement,
    all: bool,
) -> io::Result<()> {
    heading(out, engine)?;
    let lines = [
        ("templates that load", Some(engine.loaded())),
        ("prompts", Some(engine.prompts())),
        ("of those that load", Some(engine.prompts_of_loaded())),
        ("refusals", Some(engine.refusals())),
        ("constructs", engine.construct_share()),
    ];
    for (name, share) in lines {
        if let Some(share) = share {
            writeln!(out, "  {name:<20}{}", words(share))?;
        }
    }
    write_remarks(out, matrix, engine)?;
    let templates = engine.templates.keys();
    let templates = templates.map(|name| {
        let refused = engine
            .templates
            .get(name)
            .and_then(|one| one.refused.as_ref());
        let share = engine.of_template(name).unwrap_or_default();
        (
            name.to_string(),
            share,
            refused.map(|refused| refused.message.as_str()),
        )
    });
    write_rows(out, "by template", templates.collect(), true)?;
    let families = engine.families.keys();
    let families = families.map(|name| {
        let share = engine.of_family(name).unwrap_or_default();
        (name.clone(), share, None)
    });
    write_rows(out, "by family", families.collect(), all)?;
    let constructs = by_construct(matrix, engine);
    let constructs = constructs
        .into_iter()
        .map(|(name, share)| (name, share, None));
    write_rows(out, "by construct", constructs.collect(), all)?;
    let groups: Vec<(&DifferenceGroup, usize)> = engine
        .by_size()
        .into_iter()
        .map(|group| (group, group.pairs.len()))
        .collect();
    if !groups.is_empty() {
        let count = counted(groups.len(), "difference", "differences");
        writeln!(
            out,
            "\n{}",
            Styled(HEADING, format!("{count}, the most frequent first"))
        )?;
        write_groups(out, &groups, all)?;
    }
    writeln!(out)
}

/// Writes an engine's results in parts of the suite, the worst first. It only counts the parts in
/// which every pair agrees.
fn write_rows(
    out: &mut dyn Write,
    heading: &str,
    mut rows: Vec<(String, Share, Option<&str>)>,
    all: bool,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", Styled(HEADING, heading))?;
    let count = rows.len();
    rows.retain(|(_, share, _)| !share.is_whole());
    let whole = count - rows.len();
    rows.sort_by(|(_, a, _), (_, b, _)| (a.agree * b.all.max(1)).cmp(&(b.agree * a.all.max(1))));
    let most = if all { usize::MAX } else { MOST };
    let mut columns = Columns::right_aligned([1, 2]);
    for (name, share, refused) in rows.iter().take(most) {
        let agree = format!("{} of {}", thousands(share.agree), thousands(share.all));
        let mut cells = vec![
            Cell::new(PLAIN, format!("  {name}")),
            cell(*share),
            Cell::new(QUIET, agree),
        ];
        if let Some(refused) = refused {
            cells.push(Cell::new(BAD, format!("does not load: {refused}")));
        }
        columns.row(cells);
    }
    columns.write(out)?;
    let left = rows.len().saturating_sub(most);
    let mut rest = Vec::new();
    if left > 0 {
        rest.push(format!("{left} more that differ: --all shows them"));
    }
    if whole > 0 {
        rest.push(format!("{whole} in which everything agrees"));
    }
    if !rest.is_empty() {
        let text = Styled(QUIET, format!("  {}", rest.join("; "))).to_string();
        writeln!(out, "{}", wrapped(&text, screen::width(), 4))?;
    }
    Ok(())
}

/// An engine's results in the constructs that use each feature of the language, by the feature's
/// name.
pub(crate) fn by_construct(matrix: &Matrix, engine: &Measurement) -> BTreeMap<String, Share> {
    let mut shares: BTreeMap<String, Share> = BTreeMap::new();
    let (Some(table), Some(known)) = (matrix.constructs(engine.dialect), &engine.constructs) else {
        return shares;
    };
    let mut add = |row: &Construct, uses: &BTreeSet<String>| {
        for name in uses {
            let share = shares.entry(name.clone()).or_default();
            share.all += 1;
            share.agree += usize::from(!known.differ.contains_key(row.id()));
        }
    };
    for row in &table.rows {
        add(row, &row.uses);
    }
    shares
}
