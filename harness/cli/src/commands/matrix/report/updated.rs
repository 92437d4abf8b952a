//! The reports of `matrix update` and `matrix verify`.

use std::io::{self, Write};
use std::path::Path;

use minijinja::{Value, context};

use crate::commands::matrix::report::parts::{deaths, source, words, write_names};
use crate::report::text::{text, written};
use rolecall_suite::construct::ConstructTable;
use rolecall_suite::measurement::{Changes, Measurement};

/// How many constructs to name.
const MOST: usize = 6;

/// Writes the new measurement's results, and the path of its file.
pub fn write_updated(
    out: &mut dyn Write,
    measurement: &Measurement,
    path: &Path,
    is_other: bool,
) -> io::Result<()> {
    text!(out, include_str!("updated.txt"), {
        name => measurement.name(),
        prompts => words(measurement.prompts()),
        refusals => words(measurement.refusals()),
        constructs => measurement.construct_share().map(words),
        deaths => deaths(measurement),
        path => path.display().to_string(),
        is_other,
    })
}

/// Compares a new measurement with the engine's file and writes the changes. `versions` are all
/// measurements of the engine, `table` has the constructs. Returns whether nothing changed.
pub fn write_verified(
    out: &mut dyn Write,
    now: &Measurement,
    kept: Option<&Measurement>,
    versions: &[&Measurement],
    table: Option<&ConstructTable>,
) -> io::Result<bool> {
    let is_same = kept.is_some_and(|kept| kept.is_same(now));
    let changed = kept.filter(|_| !is_same);
    let others = versions.iter().map(|one| one.name());
    text!(out, include_str!("verified.txt"), {
        name => now.name(),
        is_known => kept.is_some(),
        is_same,
        others => others.collect::<Vec<_>>(),
        pairs => now.prompts().all + now.refusals().all,
        changes => changed.map(|kept| changes(now, kept, table)).transpose()?,
    })?;
    Ok(is_same)
}

/// What has changed since a measurement.
fn changes(
    now: &Measurement,
    kept: &Measurement,
    table: Option<&ConstructTable>,
) -> io::Result<Value> {
    let staleness = now.suite().changes_since(&kept.suite()).join("; ");
    let changes = Changes::between(kept, now);
    let lists = [
        (&changes.worse, "bad", "right before, wrong now"),
        (&changes.better, "good", "wrong before, right now"),
        (&changes.otherwise, "note", "still wrong, but differently"),
    ];
    let lists: io::Result<Vec<Value>> = lists
        .into_iter()
        .map(|(list, style, what)| {
            let names = written(|out| write_names(out, list))?;
            Ok(context! { count => list.len(), style, what, names })
        })
        .collect();
    let loads = changes
        .loads
        .iter()
        .zip(["does not load any more", "loads now"]);
    let loads =
        loads.flat_map(|(names, what)| names.iter().map(move |name| format!("{name} {what}")));
    let [better, worse] = &changes.constructs;
    let constructs = [
        (worse, "bad", "agreed before, and differ now"),
        (better, "good", "differed before, and agree now"),
        (&changes.constructs_otherwise, "note", "differ otherwise"),
    ];
    let shown = |name: &String| {
        let mut rows = table.iter().flat_map(|table| &table.rows);
        rows.find(|row| row.id() == name)
            .map_or_else(|| name.clone(), source)
    };
    let constructs = constructs.into_iter().map(|(names, style, what)| {
        context! {
            count => names.len(),
            style,
            what,
            shown => names.iter().take(MOST).map(shown).collect::<Vec<_>>(),
            more => names.len().saturating_sub(MOST),
        }
    });
    Ok(context! {
        engine => (now.engine != kept.engine).then(|| format!("was {}, and is {}", kept.engine, now.engine)),
        is_none => changes.is_none() && staleness.is_empty() && now.engine == kept.engine,
        staleness,
        lists => lists?,
        loads => loads.collect::<Vec<_>>(),
        constructs => constructs.collect::<Value>(),
    })
}
