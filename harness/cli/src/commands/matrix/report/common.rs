//! The mistakes that engines share, and the mistakes that only one of them makes.

use std::cmp::Reverse;
use std::io::{self, Write};

use minijinja::{Value, context};
use rolecall_core::Dialect;

use crate::commands::matrix::report::parts::{source, write_groups, write_names};
use crate::report::text::{text, written};
use rolecall_suite::measurement::DifferenceGroup;
use rolecall_suite::measurement::kept::Kept;
use rolecall_suite::measurement::matrix::{CommonMistakes, Matrix};

/// How many constructs to show unless the user wants all.
const MOST: usize = 10;

/// Writes the mistakes that engines of each dialect share, and those of one engine.
pub fn write_common(out: &mut dyn Write, matrix: &Matrix, all: bool) -> io::Result<()> {
    let dialects = matrix.dialects().into_iter();
    let dialects: io::Result<Vec<_>> = dialects.map(|one| of_dialect(matrix, one, all)).collect();
    text!(out, include_str!("common.txt"), { dialects => dialects? })
}

fn of_dialect(matrix: &Matrix, dialect: Dialect, all: bool) -> io::Result<Value> {
    let common = matrix.common(dialect);
    let most = common.pairs.values().map(Vec::len).max().unwrap_or(0);
    let engines = 0..common.engines.len();
    let alone = engines.filter(|at| common.only(*at) > 0);
    let alone: io::Result<Vec<_>> = alone.map(|at| of_engine(&common, at, all)).collect();
    Ok(context! {
        name => dialect.name(),
        engines => common.engines.iter().map(|one| one.name()).collect::<Vec<_>>(),
        counts => common.counts().into_iter().rev().collect::<Vec<_>>(),
        most,
        shared => written(|out| write_names(out, common.of(most), all))?,
        constructs => constructs(matrix, &common, if all { usize::MAX } else { MOST }),
        alone => alone?,
    })
}

/// The constructs that the most engines get wrong, each with their number.
fn constructs(matrix: &Matrix, common: &CommonMistakes<'_>, most: usize) -> Vec<Vec<Value>> {
    let dialect = common.engines.first().map(|one| one.dialect);
    let table = dialect.and_then(|dialect| matrix.constructs(dialect));
    let rows = table.into_iter().flat_map(|table| &table.rows);
    let counted = rows.filter_map(|row| Some((common.constructs.get(row.id())?.len(), row)));
    let mut rows: Vec<_> = counted.filter(|(count, _)| *count > 1).collect();
    rows.sort_by_key(|(count, row)| (Reverse(*count), row.template.source.len()));
    let rows = rows.into_iter().take(most);
    rows.map(|(count, row)| vec![count.into(), source(row).into()])
        .collect()
}

/// The mistakes that only one engine makes.
fn of_engine(common: &CommonMistakes<'_>, at: usize, all: bool) -> io::Result<Value> {
    let engine = &common.engines[at];
    let groups = engine.groups.iter().map(|group| {
        let alone = group.pairs.iter().filter(|pair| {
            let wrong = common
                .pairs
                .get(&(pair.template.clone(), pair.case.clone()));
            wrong.is_some_and(|wrong| wrong.len() == 1)
        });
        (group, alone.count())
    });
    let mut groups: Vec<(&DifferenceGroup, usize)> =
        groups.filter(|(_, count)| *count > 0).collect();
    groups.sort_by_key(|(_, count)| Reverse(*count));
    Ok(context! {
        name => engine.name(),
        count => common.only(at),
        groups => written(|out| write_groups(out, &groups, all))?,
    })
}
