//! A comparison on a terminal.

use std::io::{self, Write};

use minijinja::{Value, context};

use crate::report::comparison::first_place::FirstPlace;
use crate::report::comparison::words;
use crate::report::difference::{diff_line, write_whole_diff};
use crate::report::screen;
use crate::report::style::{QUIET, Styled};
use crate::report::text::{text, written};
use crate::report::wrapping::paragraph;
use rolecall_check::contract::Severity;
use rolecall_core::problem::shown;
use rolecall_suite::comparison::{
    CapabilityChange, CardChange, CaseGroup, CaseTally, Comparison, Degree, FindingChange, Meaning,
    Turn,
};

/// How many groups of cases to show unless the user asks for all.
const MOST_GROUPS: usize = 12;
/// How many groups to show in which both sides fail.
const MOST_FAILURES: usize = 3;
/// How many names to put on a line.
const MOST_NAMES: usize = 8;
/// How many changed lines of a side to show.
const MOST_LINES: usize = 5;
/// How many columns to show on either side of a line's first difference.
const REACH: usize = 60;

/// Writes the differences in their order: all of them whole, or the beginning of
/// the first ones.
pub fn write(out: &mut dyn Write, comparison: &Comparison, all: bool) -> io::Result<()> {
    write_differences(out, comparison, all, false)
}

/// Writes a template compared with its base: what breaks there comes first, then what just differs,
/// then what it fixes.
pub fn write_base(out: &mut dyn Write, comparison: &Comparison, all: bool) -> io::Result<()> {
    write_differences(out, comparison, all, true)
}

/// Writes the counts, what only one side has, and the differences. A base is not compared with the
/// failures and the report card. The last line is good or bad.
fn write_differences(
    out: &mut dyn Write,
    comparison: &Comparison,
    all: bool,
    is_base: bool,
) -> io::Result<()> {
    let (close, is_bad) = if is_base {
        (words::deviations(comparison), comparison.deviates())
    } else {
        (words::sentence(comparison.tally()), comparison.differs())
    };
    let most = |most: usize| if all { usize::MAX } else { most };
    let shown_groups = |groups: &[CaseGroup], count| -> io::Result<Vec<Value>> {
        let groups = groups.iter().take(count);
        groups
            .filter_map(|one| group(comparison, one, all).transpose())
            .collect()
    };
    let groups = comparison.differences();
    let failures = if is_base { &[] } else { comparison.failures() };
    let left = |groups: &[CaseGroup], count| -> usize {
        groups
            .iter()
            .skip(count)
            .map(|group| group.members.len())
            .sum()
    };
    let only = words::only(comparison).into_iter().map(|(what, names)| {
        let shown: Vec<&str> = names
            .iter()
            .take(most(MOST_NAMES))
            .map(String::as_str)
            .collect();
        let more = match names.len() - shown.len() {
            0 => String::new(),
            more => format!(", … and {more} more"),
        };
        format!("{what}: {}{more}", shown.join(", "))
    });
    let pairings = comparison.pairings.iter().filter(|_| !is_base);
    let cards = pairings.filter_map(|pairing| {
        let card = pairing.card.as_ref().filter(|card| !card.is_empty())?;
        let of = (!comparison.is_single()).then(|| format!(" of {}", comparison.name_of(pairing)));
        Some(context! { of => of.unwrap_or_default(), changes => card_changes(card) })
    });
    text!(out, include_str!("human.txt"), {
        is_base,
        sides => comparison.sides.iter().map(|side| shown(side)).collect::<Vec<_>>(),
        counts => written(|out| write_counts(out, comparison))?,
        warning => words::warning(comparison),
        only => only.collect::<Vec<_>>(),
        groups => shown_groups(groups, most(MOST_GROUPS))?,
        more => groups.len().saturating_sub(most(MOST_GROUPS)),
        more_cases => left(groups, most(MOST_GROUPS)),
        failures => shown_groups(failures, most(MOST_FAILURES))?,
        more_failures => left(failures, most(MOST_FAILURES)),
        cards => cards.collect::<Value>(),
        close,
        is_bad,
    })
}

/// Writes the counts of cases: one template's in lines, several templates' in a table.
fn write_counts(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    let counts = |name: &str, tally: CaseTally| {
        let CaseTally {
            differ,
            same,
            refuse,
            fail,
        } = tally;
        context! { name => shown(name), differ, same, refuse, fail }
    };
    let pairings = comparison.pairings.iter();
    let rows = pairings.map(|one| counts(&comparison.name_of(one), one.tally));
    let lines = words::counts(comparison.tally()).into_iter();
    text!(out, include_str!("counts.txt"), {
        lines => lines.map(|(count, what)| vec![Value::from(count), what.into()]).collect::<Vec<_>>(),
        cases => comparison.tally().count(),
        rows => rows.chain([counts("all", comparison.tally())]).collect::<Vec<_>>(),
    })
}

/// Cases with the same difference. None if there are none.
fn group(comparison: &Comparison, group: &CaseGroup, all: bool) -> io::Result<Option<Value>> {
    let Some(first) = group.members.first() else {
        return Ok(None);
    };
    let style = match group.meaning {
        Some(Meaning::Breaks(_)) => "bad",
        Some(Meaning::Fixes(_)) => "good",
        Some(Meaning::Differs) | None => "plain",
    };
    let names = if all { usize::MAX } else { MOST_NAMES };
    Ok(Some(context! {
        count => group.members.len(),
        title => words::title(group),
        source => Vec::from(words::source(group)),
        meaning => group.meaning.as_ref().map(words::meaning),
        style,
        known => group.known.as_deref().map(shown),
        member => words::member(comparison, first),
        about => group.about.as_deref().map(shown),
        edits => words::edits(group),
        shared => group.is_shared,
        consequences => words::consequences(comparison, group),
        shown => written(|out| write_shown(out, group, all))?,
        others => words::others(comparison, group, names),
    }))
}

/// Writes the first difference, or the whole diff if the user asks for all. Without a diff, writes
/// what the sides did.
fn write_shown(out: &mut dyn Write, group: &CaseGroup, all: bool) -> io::Result<()> {
    if !words::has_diff(group) {
        let [a, b] = [&group.outcomes[0], &group.outcomes[1]].map(words::outcome);
        return text!(out, include_str!("outcomes.txt"), { a, b });
    }
    if all {
        return write_whole_diff(out, &group.diff, "  ");
    }
    // As many columns on either side that a line of the diff fits.
    let reach = REACH.min(screen::width().saturating_sub(6) / 2).max(10);
    let window = FirstPlace::of(&group.diff, reach, MOST_LINES);
    if let Some(first) = &group.diff.first {
        paragraph(out, &format!("  {first}"), 4)?;
    }
    for line in &window.lines {
        writeln!(out, "  {}", diff_line(line))?;
    }
    if let Some(more) = words::more(&window) {
        writeln!(out, "  {}", Styled(QUIET, more))?;
    }
    Ok(())
}

/// How report cards differ, each change with its style and with what comes before it.
fn card_changes(card: &CardChange) -> Vec<Value> {
    let finding = |change: &FindingChange, first: &str, style| {
        let style = match (change.severity, style) {
            (Severity::Limitation | Severity::Note, _) => "plain",
            (Severity::Warning, "bad") => "note",
            _ => style,
        };
        let alone = words::alone(change);
        let (severity, id) = (change.severity.name(), change.contract.id);
        let text = format!("{severity} {id}{alone}: {}", shown(&change.what));
        context! { text, style, first }
    };
    let fixed = card.fixed.iter().map(|one| finding(one, "  - ", "good"));
    let broken = card.broken.iter().map(|one| finding(one, "  + ", "bad"));
    let capabilities = card.capabilities.iter().map(|change| {
        let style = match change.turn {
            Turn::Gained => "good",
            Turn::Lost => "bad",
            Turn::Other => "plain",
        };
        let CapabilityChange { a, b, .. } = change;
        context! { text => format!("{}: {a} → {b}", change.name), style, first => "    " }
    });
    let changed = card.changed.iter().map(|change| {
        let (style, first) = match change.degree {
            Degree::Worse => ("bad", "  + "),
            Degree::Better => ("good", "  - "),
            Degree::Otherwise => ("plain", "    "),
        };
        let alone = words::alone(&change.finding);
        let (degree, id) = (change.degree.name(), change.finding.contract.id);
        let severity = words::degree(change);
        let what = shown(&change.finding.what);
        context! { text => format!("{degree}: {severity} {id}{alone}: {what}"), style, first }
    });
    let findings = fixed.chain(broken).chain(changed);
    findings.chain(capabilities).collect()
}
