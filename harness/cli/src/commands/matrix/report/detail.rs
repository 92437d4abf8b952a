//! One engine in detail.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use minijinja::{Value, context};

use crate::commands::matrix::report::parts::{figure, words, write_groups};
use crate::commands::matrix::report::table::write_remarks;
use crate::report::numbers::thousands;
use crate::report::text::{text, written};
use rolecall_suite::construct::Construct;
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::measurement::{Measurement, Share};

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
    let shares = [
        ("templates that load", Some(engine.loaded())),
        ("prompts", Some(engine.prompts())),
        ("of those that load", Some(engine.prompts_of_loaded())),
        ("refusals", Some(engine.refusals())),
        ("constructs", engine.construct_share()),
    ];
    let shares = shares
        .into_iter()
        .filter_map(|(name, share)| Some(vec![name.to_owned(), words(share?)]));
    let templates = engine.templates.iter().map(|(name, template)| {
        let share = engine.of_template(name).unwrap_or_default();
        (name.to_string(), share, template.refused.as_deref())
    });
    let families = engine.families.keys().map(|name| {
        (
            name.clone(),
            engine.of_family(name).unwrap_or_default(),
            None,
        )
    });
    let constructs = by_construct(matrix, engine).into_iter();
    let constructs = constructs.map(|(name, share)| (name, share, None));
    let parts = [
        part("by template", templates.collect(), true),
        part("by family", families.collect(), all),
        part("by construct", constructs.collect(), all),
    ];
    let groups = engine.by_size().into_iter();
    let groups: Vec<_> = groups.map(|group| (group, group.pairs.len())).collect();
    text!(out, include_str!("detail.txt"), {
        name => engine.engine.to_string(),
        shares => shares.collect::<Value>(),
        remarks => written(|out| write_remarks(out, matrix, engine))?,
        parts => parts.into_iter().flatten().collect::<Value>(),
        differences => groups.len(),
        groups => written(|out| write_groups(out, &groups, all))?,
    })
}

/// An engine's results in parts of the suite, the worst first. The parts in which every pair agrees
/// are only counted.
fn part(heading: &str, mut rows: Vec<(String, Share, Option<&str>)>, all: bool) -> Option<Value> {
    let count = rows.len();
    rows.retain(|(_, share, _)| !share.is_whole());
    rows.sort_by(|(_, a, _), (_, b, _)| a.compared(*b));
    let most = if all { usize::MAX } else { MOST };
    let shown = rows.iter().take(most).map(|(name, share, refused)| {
        let agree = format!("{} of {}", thousands(share.agree), thousands(share.all));
        context! { name, figure => figure(*share), agree, refused => *refused }
    });
    (count > 0).then(|| {
        context! {
            heading,
            rows => shown.collect::<Value>(),
            left => rows.len().saturating_sub(most),
            whole => count - rows.len(),
        }
    })
}

/// An engine's results in the constructs that use each feature of the language, by the feature's
/// name.
pub(super) fn by_construct(matrix: &Matrix, engine: &Measurement) -> BTreeMap<String, Share> {
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
