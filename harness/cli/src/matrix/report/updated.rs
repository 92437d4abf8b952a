//! The reports of `matrix update` and `matrix verify`.

use std::io::{self, Write};
use std::path::Path;

use super::parts::{deaths, source, words, write_names};
use crate::matrix::measurement::{Changes, Measurement};
use crate::report::numbers::{counted, thousands};
use crate::report::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use crate::report::wrapping::paragraph;
use rolecall_suite::construct::ConstructTable;

/// How many constructs to name.
const MOST: usize = 6;

/// Writes the new measurement's results, and the path of its file.
pub fn write_updated(
    out: &mut dyn Write,
    measurement: &Measurement,
    path: &Path,
    is_other: bool,
) -> io::Result<()> {
    let how = if is_other { "written" } else { "as it was" };
    let constructs = measurement.construct_share();
    let constructs = constructs.map_or_else(String::new, |share| {
        format!(", constructs {}", words(share))
    });
    let text = format!(
        "{}: prompts {}, refusals {}{constructs}{}; {} {how}",
        Styled(HEADING, measurement.name()),
        words(measurement.prompts()),
        words(measurement.refusals()),
        deaths(measurement).map_or_else(String::new, |deaths| format!(", {deaths}")),
        path.display(),
    );
    paragraph(out, &text, 2)
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
    let name = Styled(HEADING, now.name());
    let Some(kept) = kept else {
        let others: Vec<_> = versions.iter().map(|one| one.name()).collect();
        let others = if others.is_empty() {
            String::new()
        } else {
            format!(", only of {}", others.join(", "))
        };
        let text = format!(
            "{name}: {}{others}",
            Styled(BAD, "no measurement of this version")
        );
        paragraph(out, &text, 2)?;
        return Ok(false);
    };
    if kept.is_same(now) {
        let pairs = now.prompts().all + now.refusals().all;
        let text = format!(
            "{name}: {} in {}",
            Styled(GOOD, "unchanged"),
            counted(pairs, "pair", "pairs")
        );
        paragraph(out, &text, 2)?;
        return Ok(true);
    }
    paragraph(
        out,
        &format!("{name}: {}", Styled(BAD, "changed since its measurement")),
        2,
    )?;
    if now.engine != kept.engine {
        paragraph(
            out,
            &format!("  it was {}, and is {}", kept.engine, now.engine),
            4,
        )?;
    }
    let staleness = now.suite.changes_since(&kept.suite);
    if !staleness.is_none() {
        paragraph(out, &format!("  changed since: {staleness}"), 4)?;
    }
    let changes = Changes::between(kept, now);
    for (list, style, what) in [
        (&changes.worse, BAD, "right before, wrong now"),
        (&changes.better, GOOD, "wrong before, right now"),
        (&changes.otherwise, NOTE, "still wrong, but differently"),
    ] {
        if !list.is_empty() {
            let count = Styled(style, counted(list.len(), "pair", "pairs"));
            paragraph(out, &format!("  {count}: {what}"), 4)?;
            write_names(out, list.iter().map(|(pair, _)| pair), false)?;
        }
    }
    for (names, what) in changes
        .loads
        .iter()
        .zip(["does not load any more", "loads now"])
    {
        for name in names {
            paragraph(out, &format!("  {name} {what}"), 4)?;
        }
    }
    write_constructs(out, &changes, table)?;
    if changes.is_none() && staleness.is_none() && now.engine == kept.engine {
        let text = "  every pair is unchanged: only the messages of errors or their groups differ";
        paragraph(out, &Styled(QUIET, text).to_string(), 4)?;
    }
    Ok(false)
}

/// Writes how many constructs have another result, and the sources of the first ones.
fn write_constructs(
    out: &mut dyn Write,
    changes: &Changes<'_>,
    table: Option<&ConstructTable>,
) -> io::Result<()> {
    let [better, worse] = &changes.constructs;
    let lists = [
        (worse, BAD, "agreed before, and differ now"),
        (better, GOOD, "differed before, and agree now"),
        (&changes.constructs_otherwise, NOTE, "differ otherwise"),
    ];
    for (names, style, what) in lists {
        if names.is_empty() {
            continue;
        }
        let count = Styled(style, counted(names.len(), "construct", "constructs"));
        paragraph(out, &format!("  {count}: {what}"), 4)?;
        for name in names.iter().take(MOST) {
            let mut rows = table.iter().flat_map(|table| &table.rows);
            let row = rows.find(|row| row.id() == name);
            let shown = row.map_or_else(|| name.clone(), source);
            paragraph(out, &format!("    {shown}"), 6)?;
        }
        if names.len() > MOST {
            writeln!(out, "    … and {} more", thousands(names.len() - MOST))?;
        }
    }
    Ok(())
}
