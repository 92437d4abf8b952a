//! A comparison on a terminal.

use std::io::{self, Write};

use super::super::columns::{Cell, Columns};
use super::super::difference::{diff_line, write_whole_diff};
use super::super::numbers::{counted, thousands};
use super::super::screen;
use super::super::style::{BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use super::super::wrapping;
use super::first_place::FirstPlace;
use super::words;
use rolecall_check::contract::Severity;
use rolecall_core::problem::shown;
use rolecall_suite::comparison::{CardChange, CaseGroup, CaseTally, Comparison, Meaning, Turn};

/// How much of a comparison to write.
#[derive(Debug, Clone, Copy)]
struct Amount {
    /// Whether to write every difference, and whole.
    all: bool,
}

/// How many groups of cases to show unless the user asks for all.
const MOST_GROUPS: usize = 12;
/// How many names to put on a line.
const MOST_NAMES: usize = 8;
/// How many changed lines of a side to show.
const MOST_LINES: usize = 5;
/// How many columns to show on either side of a line's first difference.
const REACH: usize = 60;

impl Amount {
    fn groups(self) -> usize {
        if self.all { usize::MAX } else { MOST_GROUPS }
    }

    fn names(self) -> usize {
        if self.all { usize::MAX } else { MOST_NAMES }
    }
}

/// A text in lines, each after an indent. Names of cases are not broken.
fn wrapped(text: &str, first: &str, rest: &str) -> Vec<String> {
    let text = wrapping::wrapped(&format!("{first}{text}"), screen::width(), rest.len());
    text.lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// How many columns to show on either side so that a line of a diff fits.
fn reach() -> usize {
    REACH.min(screen::width().saturating_sub(6) / 2).max(10)
}

/// Writes the differences, those with the most cases first: all of them whole, or the beginning of
/// the first ones.
pub fn write(out: &mut dyn Write, comparison: &Comparison, all: bool) -> io::Result<()> {
    let amount = Amount { all };
    write_sides(out, comparison)?;
    write_differences(out, comparison, amount)?;
    write_failures(out, comparison, amount)?;
    for pairing in &comparison.pairings {
        if let Some(card) = &pairing.card
            && !card.is_empty()
        {
            let name = if comparison.is_single() {
                String::new()
            } else {
                format!(" of {}", comparison.name_of(pairing))
            };
            writeln!(out, "\n{}", Styled(HEADING, format!("report card{name}")))?;
            write_card(out, card)?;
        }
    }
    writeln!(out)?;
    let close = words::sentence(comparison.tally());
    let style = if comparison.differs() { BAD } else { GOOD };
    for line in wrapped(&close, "", "") {
        writeln!(out, "{}", Styled(style, line))?;
    }
    Ok(())
}

/// Writes what A and B are.
fn write_sides(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    for (style, sign, side) in [
        (BAD, "- A", &comparison.sides[0]),
        (GOOD, "+ B", &comparison.sides[1]),
    ] {
        writeln!(
            out,
            "{}  {}",
            Styled(style, sign),
            Styled(HEADING, shown(side))
        )?;
    }
    writeln!(out)
}

/// Writes the counts, what only one side has, and the differences.
fn write_differences(
    out: &mut dyn Write,
    comparison: &Comparison,
    amount: Amount,
) -> io::Result<()> {
    write_counts(out, comparison)?;
    if let Some(sentence) = words::warning(comparison) {
        writeln!(out)?;
        for line in wrapped(&sentence, "", "") {
            writeln!(out, "{}", Styled(BAD, line))?;
        }
    }
    write_only(out, comparison, amount)?;
    let groups = comparison.differences();
    for group in groups.iter().take(amount.groups()) {
        writeln!(out)?;
        write_group(out, comparison, group, amount)?;
    }
    if let Some(rest @ [_, ..]) = groups.get(amount.groups()..) {
        let cases = rest.iter().map(|group| group.members.len()).sum();
        let text = format!(
            "… and {} in {}: --all shows them",
            counted(rest.len(), "more difference", "more differences"),
            counted(cases, "case", "cases"),
        );
        writeln!(out, "\n{}", Styled(QUIET, text))?;
    }
    Ok(())
}

/// Writes a template compared with its base: what breaks there comes first, then what just differs,
/// then what it fixes.
pub fn write_base(out: &mut dyn Write, comparison: &Comparison, all: bool) -> io::Result<()> {
    let [_, own] = &comparison.sides;
    writeln!(
        out,
        "{}",
        Styled(HEADING, format!("{} compared with its base", shown(own)))
    )?;
    writeln!(out)?;
    write_sides(out, comparison)?;
    write_differences(out, comparison, Amount { all })?;
    writeln!(out)?;
    let text = words::deviations(comparison);
    let style = if comparison.deviates() { BAD } else { GOOD };
    for line in wrapped(&text, "", "") {
        writeln!(out, "{}", Styled(style, line))?;
    }
    Ok(())
}

/// Writes the counts of cases: one template's in lines, several templates' in a table.
fn write_counts(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    if let [pairing] = comparison.pairings.as_slice() {
        let mut columns = Columns::right_aligned([0]);
        let tally = pairing.tally;
        for (index, (count, what)) in words::counts(tally).into_iter().enumerate() {
            let style = if index == 0 && count > 0 { BAD } else { PLAIN };
            columns.row([Cell::new(style, thousands(count)), Cell::new(style, what)]);
        }
        columns.row([
            Cell::new(QUIET, thousands(tally.count())),
            Cell::new(QUIET, "cases"),
        ]);
        return columns.write(out);
    }
    let mut columns = Columns::right_aligned([1, 2, 3, 4]);
    let heads = ["template", "differ", "same", "refused", "both fail"];
    columns.row(heads.map(|head| Cell::new(HEADING, head)));
    let row = |name: &str, tally: CaseTally| {
        let count = |count: usize, style| {
            let text = if count == 0 {
                "·".to_owned()
            } else {
                thousands(count)
            };
            Cell::new(if count == 0 { QUIET } else { style }, text)
        };
        [
            Cell::new(PLAIN, shown(name)),
            count(tally.differ, BAD),
            count(tally.same, PLAIN),
            count(tally.refuse, PLAIN),
            count(tally.fail, NOTE),
        ]
    };
    for pairing in &comparison.pairings {
        columns.row(row(&comparison.name_of(pairing), pairing.tally));
    }
    columns.row(row("all", comparison.tally()));
    columns.write(out)
}

fn write_only(out: &mut dyn Write, comparison: &Comparison, amount: Amount) -> io::Result<()> {
    for (what, names) in words::only(comparison) {
        let mut shown: Vec<&str> = names
            .iter()
            .take(amount.names())
            .map(String::as_str)
            .collect();
        let more = format!("… and {} more", names.len().saturating_sub(shown.len()));
        if names.len() > shown.len() {
            shown.push(&more);
        }
        writeln!(out)?;
        for line in wrapped(&format!("{what}: {}", shown.join(", ")), "", "  ") {
            writeln!(out, "{}", Styled(NOTE, line))?;
        }
    }
    Ok(())
}

fn write_group(
    out: &mut dyn Write,
    comparison: &Comparison,
    group: &CaseGroup,
    amount: Amount,
) -> io::Result<()> {
    let Some(first) = group.members.first() else {
        return Ok(());
    };
    writeln!(
        out,
        "{} {}",
        Styled(BAD, counted(group.members.len(), "case:", "cases:")),
        Styled(HEADING, words::change(&group.outcomes)),
    )?;
    if let Some(meaning) = &group.meaning {
        let style = match meaning {
            Meaning::Breaks(_) => BAD,
            Meaning::Fixes(_) => GOOD,
            Meaning::Differs => PLAIN,
        };
        for line in wrapped(&words::meaning(meaning), "  ", "    ") {
            writeln!(out, "{}", Styled(style, line))?;
        }
    }
    if let Some(why) = &group.known {
        for line in wrapped(&format!("known: {}", shown(why)), "  ", "    ") {
            writeln!(out, "{}", Styled(GOOD, line))?;
        }
    }
    for line in wrapped(&words::member(comparison, first), "  ", "  ") {
        writeln!(out, "{line}")?;
    }
    if let Some(about) = &group.about {
        for line in wrapped(&shown(about), "  ", "  ") {
            writeln!(out, "{}", Styled(QUIET, line))?;
        }
    }
    if let Some(edits) = words::edits(group) {
        for line in wrapped(&format!("edits: {edits}"), "  ", "    ") {
            writeln!(out, "{}", Styled(NOTE, line))?;
        }
    }
    if words::has_diff(group) {
        write_window(out, group, amount)?;
    } else {
        write_outcomes(out, group)?;
    }
    for line in words::others(comparison, group, amount.names()) {
        for line in wrapped(&line, "  ", "    ") {
            writeln!(out, "{}", Styled(QUIET, line))?;
        }
    }
    Ok(())
}

/// Writes the first difference, or the whole diff if the user asks for all.
fn write_window(out: &mut dyn Write, group: &CaseGroup, amount: Amount) -> io::Result<()> {
    if amount.all {
        return write_whole_diff(out, &group.diff, "  ");
    }
    if let Some(first) = &group.diff.first {
        for line in wrapped(first, "  ", "    ") {
            writeln!(out, "{line}")?;
        }
    }
    let window = FirstPlace::of(&group.diff, reach(), MOST_LINES);
    for line in &window.lines {
        writeln!(out, "  {}", diff_line(line))?;
    }
    if let Some(more) = words::more(&window) {
        writeln!(out, "  {}", Styled(QUIET, more))?;
    }
    Ok(())
}

fn write_outcomes(out: &mut dyn Write, group: &CaseGroup) -> io::Result<()> {
    let [a, b] = [&group.outcomes[0], &group.outcomes[1]].map(words::outcome);
    if a == b {
        for line in wrapped(&format!("each {a}"), "  ", "    ") {
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    for (style, sign, outcome) in [(BAD, "  - ", a), (GOOD, "  + ", b)] {
        for line in wrapped(&outcome, sign, "    ") {
            writeln!(out, "{}", Styled(style, line))?;
        }
    }
    Ok(())
}

fn write_failures(out: &mut dyn Write, comparison: &Comparison, amount: Amount) -> io::Result<()> {
    let groups = comparison.failures();
    let most = if amount.all { usize::MAX } else { 3 };
    for group in groups.iter().take(most) {
        let Some(first) = group.members.first() else {
            continue;
        };
        writeln!(
            out,
            "\n{} {}",
            Styled(NOTE, counted(group.members.len(), "case:", "cases:")),
            Styled(HEADING, "both sides fail"),
        )?;
        for line in wrapped(&words::member(comparison, first), "  ", "  ") {
            writeln!(out, "{line}")?;
        }
        write_outcomes(out, group)?;
        for line in words::others(comparison, group, amount.names()) {
            for line in wrapped(&line, "  ", "    ") {
                writeln!(out, "{}", Styled(QUIET, line))?;
            }
        }
    }
    if let Some(rest @ [_, ..]) = groups.get(most..) {
        let cases = rest.iter().map(|group| group.members.len()).sum();
        let text = format!(
            "… and both fail in {} with other messages: --all shows them",
            counted(cases, "more case", "more cases")
        );
        writeln!(out, "\n{}", Styled(QUIET, text))?;
    }
    Ok(())
}

fn write_card(out: &mut dyn Write, card: &CardChange) -> io::Result<()> {
    for (style, sign, changes) in [(GOOD, "- ", &card.fixed), (BAD, "+ ", &card.broken)] {
        for change in changes {
            let severity = change.severity;
            let style = match (severity, style == BAD) {
                (Severity::Limitation | Severity::Note, _) => PLAIN,
                (Severity::Warning, true) => NOTE,
                _ => style,
            };
            let alone = if change.is_raw_only {
                ", on servers that pass conversations to the template unchanged"
            } else {
                ""
            };
            let text = format!(
                "{} {}{alone}: {}",
                severity.name(),
                change.contract.id,
                shown(&change.what)
            );
            for line in wrapped(&text, &format!("  {sign}"), "      ") {
                writeln!(out, "{}", Styled(style, line))?;
            }
        }
    }
    for change in &card.capabilities {
        let style = match change.turn {
            Turn::Gained => GOOD,
            Turn::Lost => BAD,
            Turn::Other => PLAIN,
        };
        let [a, b] = &change.sides;
        let text = format!("{}: {a} → {b}", change.name);
        for line in wrapped(&text, "    ", "      ") {
            writeln!(out, "{}", Styled(style, line))?;
        }
    }
    Ok(())
}
