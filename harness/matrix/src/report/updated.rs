//! The reports of `matrix update` and `matrix verify`.

use std::io::{self, Write};
use std::path::Path;

use super::parts::{words, write_names};
use crate::measurement::{Changes, Measurement};
use rolecall_report::numbers::counted;
use rolecall_report::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use rolecall_report::wrapping::paragraph;

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
        "{}: prompts {}, refusals {}{constructs}; {} {how}",
        Styled(HEADING, measurement.name()),
        words(measurement.prompts()),
        words(measurement.refusals()),
        path.display(),
    );
    paragraph(out, &text, 2)
}

/// Compares a new measurement with the engine's file and writes the changes. `versions` are all
/// measurements of the engine. Returns whether nothing changed.
pub fn write_verified(
    out: &mut dyn Write,
    now: &Measurement,
    kept: Option<&Measurement>,
    versions: &[&Measurement],
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
        (&changes.otherwise, NOTE, "still wrong, but in another way"),
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
    let [better, worse] = changes.constructs.each_ref().map(Vec::len);
    let otherwise = changes.constructs_otherwise.len();
    if better + worse + otherwise > 0 {
        let text = format!(
            "  constructs: {worse} differ that agreed, {better} agree that differed, {otherwise} \
             differ otherwise"
        );
        paragraph(out, &text, 4)?;
        let names = changes.constructs.iter().flatten();
        let names: Vec<&str> = names
            .chain(&changes.constructs_otherwise)
            .map(String::as_str)
            .collect();
        let mut shown = names[..names.len().min(MOST)].join(", ");
        if names.len() > MOST {
            shown += ", …";
        }
        paragraph(out, &format!("    {shown}"), 6)?;
    }
    if changes.is_none() && staleness.is_none() && now.engine == kept.engine {
        let text = "  every pair is unchanged: only the messages of errors or their groups differ";
        paragraph(out, &Styled(QUIET, text).to_string(), 4)?;
    }
    Ok(false)
}
