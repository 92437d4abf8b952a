//! The parts that several reports on engines share.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use rolecall_core::{CaseId, TemplateName};

use crate::matrix::measurement::{DifferenceGroup, Example, Measurement, Share};
use crate::report::columns::Cell;
use crate::report::difference;
use crate::report::numbers::{counted, percent, thousands};
use crate::report::screen;
use crate::report::style::{BAD, GOOD, HEADING, PLAIN, QUIET, Styled};
use crate::report::wrapping::paragraph;
use rolecall_core::diff::Diff;
use rolecall_core::transcript;
use rolecall_suite::construct::Construct;

/// How many groups to show unless the user wants all.
pub(super) const MOST_GROUPS: usize = 5;

/// How many templates to name below a group, and how many cases of each.
const MOST_NAMES: usize = 6;

/// Writes the engine with its version and its components.
pub(super) fn heading(out: &mut dyn Write, measurement: &Measurement) -> io::Result<()> {
    let text = Styled(HEADING, measurement.engine.to_string()).to_string();
    paragraph(out, &text, 2)
}

/// A share in per cent.
pub(super) fn cell(share: Share) -> Cell {
    let style = if share.is_whole() { GOOD } else { PLAIN };
    if share.all == 0 {
        return Cell::new(QUIET, "–");
    }
    Cell::new(style, percent(share.agree, share.all))
}

pub(super) fn words(share: Share) -> String {
    let Share { agree, all } = share;
    let (agree_words, all_words) = (thousands(agree), thousands(all));
    format!("{agree_words} of {all_words} ({})", percent(agree, all))
}

/// In how many requests an engine died while it was measured, in words. None if it never did.
pub(super) fn deaths(measurement: &Measurement) -> Option<String> {
    let requests = counted(measurement.deaths, "request", "requests");
    (measurement.deaths > 0)
        .then(|| format!("died in {requests}, and answered only when it was asked again"))
}

/// Writes groups of differences, each with its example, those with the most pairs first.
pub(super) fn write_groups(
    out: &mut dyn Write,
    groups: &[(&DifferenceGroup, usize)],
    all: bool,
) -> io::Result<()> {
    let most = if all { usize::MAX } else { MOST_GROUPS };
    for (group, count) in groups.iter().take(most) {
        let count = counted(*count, "pair", "pairs");
        let text = format!("  {count}: {} {}", Styled(BAD, group.found), group.cause);
        paragraph(out, &text, 4)?;
        write_example(out, &group.example)?;
    }
    if groups.len() > most {
        let rest = &groups[most..];
        let pairs = rest.iter().map(|(_, count)| count).sum();
        let more = counted(rest.len(), "more difference", "more differences");
        let pairs = counted(pairs, "pair", "pairs");
        let text = format!("  … and {more} in {pairs}: --all shows them");
        paragraph(out, &Styled(QUIET, text).to_string(), 4)?;
    }
    Ok(())
}

/// Writes the smallest pair of a group, with the lines that differ.
pub(super) fn write_example(out: &mut dyn Write, example: &Example) -> io::Result<()> {
    let name = format!("    {} {}", example.template, example.case);
    paragraph(out, &Styled(QUIET, name).to_string(), 6)?;
    let diff = Diff::new(&example.expected, &example.found);
    difference::write_hunks(out, &diff, "      ", screen::width())
}

/// The source of a construct, on one line with every byte visible.
pub(super) fn source(construct: &Construct) -> String {
    let mut shown = String::new();
    transcript::encode_text(&construct.template.source, &mut shown);
    shown.replace('\n', "")
}

/// Writes the names of pairs, by template; only the first few unless `all` is set.
pub(super) fn write_names<'n>(
    out: &mut dyn Write,
    pairs: impl Iterator<Item = &'n (TemplateName, CaseId)>,
    all: bool,
) -> io::Result<()> {
    let most = if all { usize::MAX } else { MOST_NAMES };
    let mut by_template: BTreeMap<&TemplateName, Vec<String>> = BTreeMap::new();
    for (template, case) in pairs {
        by_template
            .entry(template)
            .or_default()
            .push(case.to_string());
    }
    let count = by_template.len();
    for (template, cases) in by_template.iter().take(most) {
        let mut names = cases[..cases.len().min(most)].join(", ");
        if cases.len() > most {
            let more = thousands(cases.len() - most);
            // Writing to a string cannot fail.
            let _ = write!(names, ", … and {more} more");
        }
        paragraph(out, &format!("    {template}: {names}"), 6)?;
    }
    if count > most {
        writeln!(out, "    … and {} more templates", count - most)?;
    }
    Ok(())
}
