//! The mistakes that engines share, and the mistakes that only one of them makes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::parts::{source, write_groups, write_names};
use crate::matrix::engines::{CommonMistakes, Matrix};
use crate::matrix::measurement::DifferenceGroup;
use crate::report::numbers::{counted, thousands};
use crate::report::style::{HEADING, QUIET, Styled};
use crate::report::wrapping::paragraph;

/// How many constructs to show unless the user wants all.
const MOST: usize = 10;

/// Writes the mistakes that engines of each dialect share, and those of one engine.
pub fn write_common(out: &mut dyn Write, matrix: &Matrix, all: bool) -> io::Result<()> {
    for (at, dialect) in matrix.dialects().into_iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let common = matrix.common(dialect);
        if common.engines.is_empty() {
            paragraph(out, &format!("{dialect}: no engine makes a mistake"), 2)?;
            continue;
        }
        let names: Vec<_> = common.engines.iter().map(|one| one.name()).collect();
        let count = counted(names.len(), "engine", "engines");
        let text = format!("{dialect}: {count} with mistakes");
        writeln!(out, "{}", Styled(HEADING, text))?;
        paragraph(
            out,
            &Styled(QUIET, format!("  {}", names.join(", "))).to_string(),
            2,
        )?;
        for (index, pairs) in common.counts().into_iter().enumerate().rev() {
            let engines = match index + 1 {
                1 => "one alone".to_owned(),
                count if count == names.len() => format!("all {count}"),
                count => format!("{count} of them"),
            };
            writeln!(out, "  {:>10}  {:>7}", engines, thousands(pairs))?;
        }
        let most = common.pairs.values().map(Vec::len).max().unwrap_or(0);
        if most > 1 {
            let text = format!(
                "mistakes that the most engines share: {most} of {}",
                names.len()
            );
            writeln!(out, "\n{}", Styled(HEADING, text))?;
            write_names(out, common.of(most), all)?;
        }
        write_constructs(out, matrix, &common, all)?;
        write_alone(out, &common, all)?;
    }
    Ok(())
}

/// Writes the constructs that the most engines get wrong.
fn write_constructs(
    out: &mut dyn Write,
    matrix: &Matrix,
    common: &CommonMistakes<'_>,
    all: bool,
) -> io::Result<()> {
    let Some(table) = common
        .engines
        .first()
        .and_then(|one| matrix.constructs(one.dialect))
    else {
        return Ok(());
    };
    let mut rows: Vec<_> = table
        .rows
        .iter()
        .filter_map(|row| Some((common.constructs.get(row.id())?.len(), row)))
        .filter(|(count, _)| *count > 1)
        .collect();
    rows.sort_by_key(|(count, row)| (std::cmp::Reverse(*count), row.template.source.len()));
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{}",
        Styled(HEADING, "constructs that the most engines get wrong")
    )?;
    let most = if all { usize::MAX } else { MOST };
    for (count, row) in rows.iter().take(most) {
        let text = format!("  {count} of {}: {}", common.engines.len(), source(row));
        paragraph(out, &text, 4)?;
    }
    Ok(())
}

/// Writes the mistakes that only one engine makes.
fn write_alone(out: &mut dyn Write, common: &CommonMistakes<'_>, all: bool) -> io::Result<()> {
    for (at, engine) in common.engines.iter().enumerate() {
        let count = common.only(at);
        if count == 0 {
            continue;
        }
        let count = counted(count, "pair", "pairs");
        let text = format!("only {} gets {count} wrong", engine.name());
        writeln!(out, "\n{}", Styled(HEADING, text))?;
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for (index, group) in engine.groups.iter().enumerate() {
            let alone = group.pairs.iter().filter(|pair| {
                let name = (pair.template.clone(), pair.case.clone());
                common
                    .pairs
                    .get(&name)
                    .is_some_and(|wrong| wrong.len() == 1)
            });
            counts.insert(index, alone.count());
        }
        let mut groups: Vec<(&DifferenceGroup, usize)> = counts
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(index, count)| (&engine.groups[index], count))
            .collect();
        groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        write_groups(out, &groups, all)?;
    }
    Ok(())
}
