//! The parts that several reports on engines share.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use minijinja::{Value, context};
use rolecall_core::{CaseId, TemplateName};

use crate::report::difference::write_hunks;
use crate::report::numbers::{counted, percent, thousands};
use crate::report::screen;
use crate::report::style::{GOOD, PLAIN, QUIET, Styled};
use crate::report::text::{text, written};
use crate::report::wrapping::paragraph;
use rolecall_core::diff::Diff;
use rolecall_core::transcript;
use rolecall_suite::construct::Construct;
use rolecall_suite::measurement::{DifferenceGroup, Measurement, Share};

/// How many groups to show unless the user wants all.
pub(crate) const MOST_GROUPS: usize = 5;

/// How many templates to name below a group, and how many cases of each.
const MOST_NAMES: usize = 6;

/// A share in per cent, in its style.
pub(crate) fn figure(share: Share) -> String {
    if share.all == 0 {
        return Styled(QUIET, "–").to_string();
    }
    let style = if share.is_whole() { GOOD } else { PLAIN };
    Styled(style, percent(share.agree, share.all)).to_string()
}

pub(crate) fn words(share: Share) -> String {
    let Share { agree, all } = share;
    let (agree_words, all_words) = (thousands(agree), thousands(all));
    format!("{agree_words} of {all_words} ({})", percent(agree, all))
}

/// In how many requests an engine died while it was measured, in words. None if it never did.
pub(crate) fn deaths(measurement: &Measurement) -> Option<String> {
    let requests = counted(measurement.deaths, "request", "requests");
    (measurement.deaths > 0)
        .then(|| format!("died in {requests}, and answered only when it was asked again"))
}

/// Writes groups of differences, those with the most pairs first, each with its smallest pair and
/// the lines that differ in it.
pub(crate) fn write_groups(
    out: &mut dyn Write,
    groups: &[(&DifferenceGroup, usize)],
    all: bool,
) -> io::Result<()> {
    let most = if all { usize::MAX } else { MOST_GROUPS };
    let group = |(group, count): &(&DifferenceGroup, usize)| -> io::Result<Value> {
        let example = &group.example;
        let diff = Diff::new(&example.expected, &example.found);
        Ok(context! {
            count => *count,
            found => group.found.name(),
            cause => &group.cause,
            name => format!("{} {}", example.template, example.case),
            diff => written(|out| write_hunks(out, &diff, "      ", screen::width()))?,
        })
    };
    let shown: io::Result<Vec<Value>> = groups.iter().take(most).map(group).collect();
    text!(out, include_str!("groups.txt"), {
        groups => shown?,
        more => groups.len().saturating_sub(most),
        pairs => groups.iter().skip(most).map(|(_, count)| count).sum::<usize>(),
    })
}

/// The source of a construct, on one line with every byte visible.
pub(crate) fn source(construct: &Construct) -> String {
    let mut shown = String::new();
    transcript::encode_text(&construct.template.source, &mut shown);
    shown.replace('\n', "")
}

/// Writes the names of the first few pairs, by template.
pub(crate) fn write_names(out: &mut dyn Write, pairs: &[(TemplateName, CaseId)]) -> io::Result<()> {
    let most = MOST_NAMES;
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
