//! The reports on what comes back of answers: the table, for people and as Markdown, and the reports
//! of `matrix update` and `matrix verify`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use crate::report::columns::{Cell, Columns};
use crate::report::numbers::counted;
use crate::report::style::{BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use crate::report::wrapping::paragraph;
use rolecall_answers::returned::Kind;
use rolecall_core::TemplateName;
use rolecall_suite::conclusion::Share;

use crate::matrix::roundtrip::{Cause, Counted, RoundtripMeasurement, Subject};

pub(crate) fn templates(all: &[RoundtripMeasurement]) -> BTreeSet<&TemplateName> {
    all.iter().flat_map(|one| one.templates.keys()).collect()
}

/// How many messages of a template come back, as `60/67`.
fn figure(counted: Option<&Counted>) -> String {
    match counted.map(|it| it.share) {
        Some(Share { agree, all }) if all > 0 => format!("{agree}/{all}"),
        _ => "–".to_owned(),
    }
}

/// Writes the table: a line for each template, a column for each reader.
pub fn write_roundtrip(
    out: &mut dyn Write,
    all: &[RoundtripMeasurement],
    now: &[Subject<'_>],
) -> io::Result<()> {
    let mut columns = Columns::right_aligned(1..=all.len());
    let head = all
        .iter()
        .map(|one| Cell::new(HEADING, one.reader.engine.clone()));
    columns.row([Cell::new(HEADING, "template")].into_iter().chain(head));
    for name in templates(all) {
        let cells = all.iter().map(|one| {
            let counted = one.templates.get(name);
            let style = match counted.map(|it| it.share) {
                Some(share) if share.agree == share.all => GOOD,
                Some(_) if counted.is_some_and(|it| it.refusal().is_some()) => BAD,
                _ => PLAIN,
            };
            Cell::new(style, figure(counted))
        });
        columns.row(
            [Cell::new(PLAIN, name.to_string())]
                .into_iter()
                .chain(cells),
        );
    }
    columns.write(out)?;
    writeln!(out)?;
    let text = "Messages that come back as they were meant, but for white space at the ends of their \
                texts, out of those that the template writes whole.";
    paragraph(out, &Styled(QUIET, text).to_string(), 2)?;
    for one in all {
        let share = one.share();
        let stale = one.staleness(now);
        let stale = stale.map_or_else(String::new, |what| {
            format!(" {} measured before {what} changed", Styled(NOTE, "*"))
        });
        let text = format!("{}: {}/{}{stale}", one.reader, share.agree, share.all);
        paragraph(out, &text, 2)?;
    }
    Ok(())
}

pub fn roundtrip_markdown(all: &[RoundtripMeasurement]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let heads: Vec<String> = all.iter().map(|one| one.reader.to_string()).collect();
    let _ = writeln!(text, "| template | {} |", heads.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(all.len()));
    for name in templates(all) {
        let cells = all.iter().map(|one| {
            let counted = one.templates.get(name);
            match counted.and_then(Counted::refusal) {
                Some(_) => "refused".to_owned(),
                None => figure(counted),
            }
        });
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    let sums = all.iter().map(|one| {
        let Share { agree, all } = one.share();
        format!("**{agree}/{all}**")
    });
    let sums: Vec<String> = sums.collect();
    let _ = writeln!(text, "| **all** | {} |", sums.join(" | "));
    text
}

/// Writes a new measurement's result, and the path of its file.
pub fn write_roundtrip_updated(
    out: &mut dyn Write,
    measurement: &RoundtripMeasurement,
    path: &Path,
    is_other: bool,
) -> io::Result<()> {
    let how = if is_other { "written" } else { "as it was" };
    let Share { agree, all } = measurement.share();
    let text = format!(
        "{}: {agree} of {} come back; {} {how}",
        Styled(HEADING, measurement.name()),
        counted(all, "message", "messages"),
        path.display(),
    );
    paragraph(out, &text, 2)
}

/// Compares a new measurement with the kept one and writes what has changed. Returns whether nothing
/// has.
pub fn write_roundtrip_verified(
    out: &mut dyn Write,
    now: &RoundtripMeasurement,
    kept: Option<&RoundtripMeasurement>,
) -> io::Result<bool> {
    let name = Styled(HEADING, now.name());
    let Some(kept) = kept else {
        let text = format!("{name}: {}", Styled(BAD, "no measurement of this version"));
        paragraph(out, &text, 2)?;
        return Ok(false);
    };
    if kept == now {
        let all = now.templates.values().map(|it| it.counts.total()).sum();
        let text = format!(
            "{name}: {} in {}",
            Styled(GOOD, "unchanged"),
            counted(all, "message", "messages")
        );
        paragraph(out, &text, 2)?;
        return Ok(true);
    }
    let text = format!("{name}: {}", Styled(BAD, "changed since its measurement"));
    paragraph(out, &text, 2)?;
    if kept.cases != now.cases {
        paragraph(out, "  the cases have changed", 4)?;
    }
    let names: BTreeSet<&TemplateName> =
        now.templates.keys().chain(kept.templates.keys()).collect();
    for template in names {
        let (before, after) = (kept.templates.get(template), now.templates.get(template));
        if before == after {
            continue;
        }
        let counts = |counted: Option<&Counted>| match counted {
            None => "nothing".to_owned(),
            Some(counted) => {
                let words = counted.counts.words().into_iter();
                let words =
                    words.map(|(kind, count): (Kind, usize)| format!("{count} {}", kind.name()));
                words.collect::<Vec<_>>().join(", ")
            }
        };
        let text = format!("  {template}: was {}; is {}", counts(before), counts(after));
        paragraph(out, &text, 4)?;
        let causes = |counted: Option<&Counted>| {
            let causes = counted.into_iter().flat_map(|counted| &counted.causes);
            causes.cloned().collect::<Vec<Cause>>()
        };
        let (before, after) = (causes(before), causes(after));
        for (sign, causes, others) in [("-", &before, &after), ("+", &after, &before)] {
            for cause in causes.iter().filter(|cause| !others.contains(cause)) {
                let text = format!(
                    "    {sign} {} ({}, {})",
                    cause.words, cause.count, cause.example
                );
                paragraph(out, &text, 8)?;
            }
        }
    }
    Ok(false)
}
