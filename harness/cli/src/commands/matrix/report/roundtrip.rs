//! The reports on what comes back of answers: the table, and the reports of `matrix update` and
//! `matrix verify`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

use minijinja::{Value, context};

use crate::report::numbers::counted;
use crate::report::style::{HEADING, Styled};
use crate::report::text::text;
use crate::report::wrapping::paragraph;
use rolecall_core::TemplateName;
use rolecall_core::rows::Row;
use rolecall_suite::conclusion::Share;
use rolecall_suite::measurement::kept::Kept;

use rolecall_suite::measurement::roundtrip::{Counted, RoundtripMeasurement, Subject};

fn templates(all: &[RoundtripMeasurement]) -> BTreeSet<&TemplateName> {
    all.iter().flat_map(|one| one.templates.keys()).collect()
}

/// How many messages of a template come back, as `60/67`.
fn figure(counted: Option<&Counted>) -> String {
    match counted.map(Counted::share) {
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
    let rows = templates(all).into_iter().map(|name| {
        let figures = all.iter().map(|one| {
            let counted = one.templates.get(name);
            let style = match counted.map(Counted::share) {
                Some(share) if share.agree == share.all => "good",
                Some(_) if counted.is_some_and(|it| it.refusal().is_some()) => "bad",
                _ => "plain",
            };
            vec![style.to_owned(), figure(counted)]
        });
        context! { name => name.as_str(), figures => figures.collect::<Vec<_>>() }
    });
    let sums = all.iter().map(|one| {
        let share = one.share();
        let sum = format!("{}: {}/{}", one.reader, share.agree, share.all);
        context! { sum, stale => one.staleness(now) }
    });
    text!(out, include_str!("roundtrip.txt"), {
        readers => all.iter().map(|one| one.reader.engine.clone()).collect::<Vec<_>>(),
        columns => (1..=all.len()).collect::<Vec<_>>(),
        rows => rows.collect::<Value>(),
        sums => sums.collect::<Value>(),
    })
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
    let all = counted(all, "message", "messages");
    let (name, path) = (Styled(HEADING, measurement.name()), path.display());
    paragraph(
        out,
        &format!("{name}: {agree} of {all} come back; {path} {how}"),
        2,
    )
}

/// Compares a new measurement with the kept one and writes what has changed. Returns whether nothing
/// has.
pub fn write_roundtrip_verified(
    out: &mut dyn Write,
    now: &RoundtripMeasurement,
    kept: Option<&RoundtripMeasurement>,
) -> io::Result<bool> {
    let is_same = kept == Some(now);
    let before = kept.map(|kept| &kept.templates);
    let names: BTreeSet<&TemplateName> = now
        .templates
        .keys()
        .chain(before.into_iter().flat_map(BTreeMap::keys))
        .collect();
    let templates = names.into_iter().filter_map(|name| {
        let (before, after) = (before?.get(name), now.templates.get(name));
        let causes = |counted: Option<&Counted>| {
            counted.map_or_else(Vec::new, |counted| counted.causes.clone())
        };
        let (was, is) = (causes(before), causes(after));
        let gone = was
            .iter()
            .filter(|cause| !is.contains(cause))
            .map(|cause| ("-", cause));
        let came = is
            .iter()
            .filter(|cause| !was.contains(cause))
            .map(|cause| ("+", cause));
        let causes = gone.chain(came).map(|(sign, cause)| {
            let Row((count, example, words)) = cause;
            format!("{sign} {words} ({count}, {example})")
        });
        (before != after).then(|| {
            context! {
                name => name.as_str(),
                was => counts(before),
                is => counts(after),
                causes => causes.collect::<Vec<_>>(),
            }
        })
    });
    text!(out, include_str!("roundtrip_verified.txt"), {
        name => now.name(),
        is_known => kept.is_some(),
        is_same,
        messages => now.templates.values().map(Counted::total).sum::<usize>(),
        other_cases => kept.is_some_and(|kept| kept.cases != now.cases),
        templates => templates.collect::<Value>(),
    })?;
    Ok(is_same)
}

/// What becomes of a template's messages, in words.
fn counts(counted: Option<&Counted>) -> String {
    let Some(counted) = counted else {
        return "nothing".to_owned();
    };
    let words = counted.verdicts();
    let words = words.map(|(verdict, count)| format!("{count} {verdict}"));
    words.collect::<Vec<_>>().join(", ")
}
