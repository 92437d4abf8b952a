//! Differences between a transcript and the expected one.

use std::fmt::Write as _;
use std::io::{self, Write};

use minijinja::{Value, context};

use super::numbers::counted;
use super::screen::{self, ENDLESS};
use super::style::{BAD, CAME, GONE, GOOD, QUIET, Styled};
use super::text::{text, written};
use super::wrapping::{advice, paragraph, wrapped};
use rolecall_core::diff::{Diff, DiffLine, Side};
use rolecall_core::invocation;
use rolecall_core::window::windows;
use rolecall_suite::conclusion::{Fault, FaultGroup, GroupedPair, NewResult};
use rolecall_suite::divergence::draft;
use rolecall_suite::divergence::pair_name;
use rolecall_suite::suite::Pair;

/// How much of the differences to write.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    pub groups: usize,
    /// How many templates are named below each.
    pub templates: usize,
    /// Whether lines that are wider than the screen are shown whole.
    pub whole_lines: bool,
}

impl Extent {
    /// As much as somebody reads at once.
    pub const SHORT: Extent = Extent {
        groups: 20,
        templates: 8,
        whole_lines: false,
    };

    pub const WHOLE: Extent = Extent {
        groups: usize::MAX,
        templates: usize::MAX,
        whole_lines: true,
    };

    /// Everything, or as much as somebody reads at once.
    pub fn of(is_whole: bool) -> Extent {
        if is_whole {
            Extent::WHOLE
        } else {
            Extent::SHORT
        }
    }

    /// How many lines of a result are shown that nobody accepted yet.
    fn most_lines(self) -> usize {
        if self.whole_lines { usize::MAX } else { 60 }
    }

    fn width(self) -> usize {
        if self.whole_lines {
            ENDLESS
        } else {
            screen::width()
        }
    }
}

/// How many of a group's pairs a person does not see whole in this extent.
pub fn unread(group: &FaultGroup<'_>, extent: Extent) -> usize {
    let is_cut = |result: &&NewResult<'_>| {
        let mut lines = result.transcript.lines();
        // Before each line are an indent of four, a sign and a space.
        let is_wide = |line: &str| line.chars().count() + 6 > extent.width();
        lines.by_ref().take(extent.most_lines()).any(is_wide) || lines.next().is_some()
    };
    let cut = group.results.iter().filter(is_cut);
    cut.map(|result| result.pairs.len()).sum()
}

/// Writes the groups, each with its pairs sorted by template.
pub fn write(out: &mut dyn Write, groups: &[FaultGroup<'_>], extent: Extent) -> io::Result<()> {
    let (shown, rest) = groups.split_at(groups.len().min(extent.groups));
    let shown = shown.iter().filter_map(|group| {
        let first = group.pairs.first()?;
        let style = if group.fault == Fault::New {
            "note"
        } else {
            "bad"
        };
        let data = if group.results.is_empty() {
            shown_group(group, first, extent)
        } else {
            results(group, first, extent)
        };
        let word = group.word.as_deref();
        let place = group.place().map(|place| format!(", by {place}"));
        Some(data.map(|data| context! { label => group.fault.name(), style, word, place, ..data }))
    });
    let shown: io::Result<Vec<Value>> = shown.collect();
    text!(out, include_str!("difference.txt"), {
        groups => shown?,
        more => rest.len(),
        pairs => rest.iter().map(|group| group.pairs.len()).sum::<usize>(),
    })
}

/// The first pair of a group with its difference, the names of the others, and what to do.
fn shown_group(
    group: &FaultGroup<'_>,
    example: &GroupedPair<'_>,
    extent: Extent,
) -> io::Result<Value> {
    let pair = &example.pair;
    let common = match group.fault {
        Fault::Changed | Fault::Differs => "the same difference",
        Fault::New => "no snapshot yet",
        Fault::Unreadable => "the same problem",
        Fault::OtherDivergence | Fault::Unverified | Fault::Crashed | Fault::NotAsked => "the same",
    };
    let others = group.pairs.get(1..).unwrap_or_default();
    let templates = by_template(others);
    let named = templates.iter().take(extent.templates);
    let named =
        named.map(|(name, cases)| format!("{name}: {}", shortened(cases, extent.templates)));
    let is_listed =
        matches!(group.fault, Fault::Differs | Fault::OtherDivergence) && group.is_of_suite;
    let how = match group.fault {
        Fault::Changed => Some(" --diff"),
        Fault::New | Fault::Unreadable => Some(""),
        _ => is_listed.then_some(" --reference --diff"),
    };
    let name = invocation::words([pair.template.name.as_str(), &pair.case.id.to_string()]);
    let listed = if extent.templates == usize::MAX {
        usize::MAX
    } else {
        1
    };
    let entries = group.pairs.iter().take(listed);
    let entries =
        entries.filter_map(|member| Some(draft(member.engine, &member.pair, member.observed?)));
    let entries = is_listed.then(|| entries.collect::<Vec<_>>());
    Ok(context! {
        name => format!("{} {}", pair.template.name, pair.case.id),
        about => pair.case.about.as_deref(),
        results => Vec::<Value>::new(),
        shown => written(|out| write_shown(out, group, extent.width()))?,
        common,
        others => others.len(),
        templates => named.collect::<Vec<_>>(),
        more => templates.len().saturating_sub(extent.templates),
        look => how.map(|how| invocation::command(&format!("show {name}{how}"))),
        entries,
        record => group.can_be_recorded.then(|| recording(group, pair)),
    })
}

/// Writes the difference in the first pair of a group, or its transcript.
fn write_shown(out: &mut dyn Write, group: &FaultGroup<'_>, width: usize) -> io::Result<()> {
    match (group.fault, &group.diff, &group.shown) {
        (Fault::Differs, Some(diff), _) if group.has_other_kind => {
            write_beginnings(out, diff, "  ", width)
        }
        (_, Some(diff), _) => write_within(out, diff, "  ", width),
        (Fault::Unreadable, _, Some(why)) => {
            let text = format!("  the snapshot cannot be read: {why}");
            writeln!(out, "{}", wrapped(&text, screen::of_messages(), 4))
        }
        (_, _, Some(shown)) => {
            let lines: Vec<DiffLine> = shown.lines().map(DiffLine::found).collect();
            write_lines(out, &lines, "  ", width)
        }
        (_, None, None) => Ok(()),
    }
}

/// The command that records what the reference gives for a group.
fn recording(group: &FaultGroup<'_>, pair: &Pair<'_>) -> String {
    let is_alike = |other: &GroupedPair<'_>| other.pair.template.name == pair.template.name;
    let filter = match group.pairs.as_slice() {
        [_] => Some(pair_name(pair)),
        many if many.iter().all(is_alike) => Some(pair.template.name.to_string()),
        _ => None,
    };
    let filter = filter.map(|filter| format!(" {}", invocation::word(&filter)));
    invocation::with_references(&format!("reference update{}", filter.unwrap_or_default()))
}

/// Every result of a new case, or of a family of a new template: each once, with the pairs that have
/// it.
fn results(
    group: &FaultGroup<'_>,
    GroupedPair { pair, .. }: &GroupedPair<'_>,
    extent: Extent,
) -> io::Result<Value> {
    let mut pairs = group.pairs.iter();
    let is_of_case = pairs.all(|one| one.pair.case.id == pair.case.id);
    let result = |result: &NewResult<'_>| -> io::Result<Value> {
        let names = result.pairs.iter().map(|pair| {
            if is_of_case {
                pair.template.name.as_str()
            } else {
                pair.case.id.name()
            }
        });
        let lines: Vec<DiffLine> = result.transcript.lines().map(DiffLine::found).collect();
        let shown = &lines[..lines.len().min(extent.most_lines())];
        Ok(context! {
            names => names.collect::<Vec<_>>().join(", "),
            shown => written(|out| {
                write_lines(out, shown, "    ", extent.width())?;
                write_more(out, lines.len() - shown.len(), "    ")
            })?,
        })
    };
    let results: io::Result<Vec<Value>> = group.results.iter().map(result).collect();
    let none = None::<&str>;
    Ok(context! {
        name => if is_of_case { pair.case.id.to_string() } else { format!("{} {}", pair.template.name, pair.case.id.family()) },
        about => pair.case.about.as_deref().filter(|_| is_of_case),
        results => results?,
        shown => "",
        look => none,
        entries => none,
        record => none,
    })
}

/// Writes how each side of a diff begins.
fn write_beginnings(
    out: &mut dyn Write,
    diff: &Diff,
    indent: &str,
    width: usize,
) -> io::Result<()> {
    const MOST: usize = 4;
    for side in [Side::Expected, Side::Found] {
        let mut lines = diff.hunks.iter().flatten().filter(|line| line.side == side);
        let first: Vec<DiffLine> = lines.by_ref().take(MOST).cloned().collect();
        write_lines(out, &first, indent, width)?;
        write_more(out, lines.count(), indent)?;
    }
    Ok(())
}

/// Writes how many lines are not shown, if there are any.
pub(crate) fn write_more(out: &mut dyn Write, count: usize, indent: &str) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    let more = counted(count, "more line", "more lines");
    writeln!(out, "{indent}  {}", Styled(QUIET, format!("… and {more}")))
}

/// Writes a line of advice: the purpose and the command.
pub(crate) fn say(out: &mut dyn Write, what: &str, how: &str) -> io::Result<()> {
    writeln!(out, "{}", advice(what, how))
}

/// Case names on one line. If there are very many, only the first ones, unless all are wanted.
fn shortened(cases: &[String], most_templates: usize) -> String {
    const MOST: usize = 12;
    if most_templates == usize::MAX || cases.len() <= MOST {
        return cases.join(", ");
    }
    let shown = cases[..MOST].join(", ");
    format!("{shown}, … and {} more", cases.len() - MOST)
}

/// Writes which listed divergences no longer occur.
pub fn write_gone(out: &mut dyn Write, gone: &[String]) -> io::Result<()> {
    gone.iter().try_for_each(|name| {
        paragraph(out, &format!("{} {name}", Styled(BAD, "no divergence")), 2)?;
        let what = "  the reference agrees now: remove it from snapshots/divergences.json";
        paragraph(out, what, 2)?;
        writeln!(out)
    })
}

fn by_template<'r>(pairs: &'r [GroupedPair<'_>]) -> Vec<(&'r str, Vec<String>)> {
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for GroupedPair { pair, .. } in pairs {
        let (template, id) = (pair.template.name.as_str(), pair.case.id.to_string());
        match lines.last_mut() {
            Some((last, cases)) if *last == template => cases.push(id),
            _ => lines.push((template, vec![id])),
        }
    }
    lines
}

/// Writes a diff, each line after an indent. It says the same without colour: lines begin with `-`
/// and `+`, and every character is visible. If a line is wider than the screen, only the part that
/// differs is shown, with `…` for what is left out.
pub fn write_diff(out: &mut dyn Write, diff: &Diff, indent: &str) -> io::Result<()> {
    write_within(out, diff, indent, screen::width())
}

/// Writes a diff as [`write_diff`] does, with every line whole.
pub fn write_whole_diff(out: &mut dyn Write, diff: &Diff, indent: &str) -> io::Result<()> {
    write_within(out, diff, indent, ENDLESS)
}

/// Writes a diff in lines of a width, including the words about it.
pub(crate) fn write_windows(
    out: &mut dyn Write,
    diff: &Diff,
    indent: &str,
    width: usize,
) -> io::Result<()> {
    write_first(out, diff, indent, width)?;
    write_hunks(out, diff, indent, width)
}

fn write_within(out: &mut dyn Write, diff: &Diff, indent: &str, width: usize) -> io::Result<()> {
    write_first(out, diff, indent, screen::width())?;
    write_hunks(out, diff, indent, width)
}

/// Writes in words where the texts differ first.
fn write_first(out: &mut dyn Write, diff: &Diff, indent: &str, width: usize) -> io::Result<()> {
    let Some(first) = &diff.first else {
        return Ok(());
    };
    let first = format!("{indent}{first}");
    writeln!(out, "{}", wrapped(&first, width, indent.len() + 2))
}

/// Writes the lines that differ, no wider than `width`.
pub fn write_hunks(out: &mut dyn Write, diff: &Diff, indent: &str, width: usize) -> io::Result<()> {
    for (index, hunk) in diff.hunks.iter().enumerate() {
        if index > 0 {
            writeln!(out, "{indent}{}", Styled(QUIET, "…"))?;
        }
        write_lines(out, hunk, indent, width)?;
    }
    Ok(())
}

/// Writes lines of a diff, no wider than `width`.
pub(crate) fn write_lines(
    out: &mut dyn Write,
    lines: &[DiffLine],
    indent: &str,
    width: usize,
) -> io::Result<()> {
    // The sign and a space come before each.
    let room = width.saturating_sub(indent.len() + 2);
    for line in windows(lines, room) {
        writeln!(out, "{indent}{}", diff_line(&line))?;
    }
    Ok(())
}

/// A line of a diff after its sign.
pub(crate) fn diff_line(line: &DiffLine) -> String {
    let (sign, plain, changed) = match line.side {
        Side::Both => (" ", QUIET, QUIET),
        Side::Expected => ("-", BAD, GONE),
        Side::Found => ("+", GOOD, CAME),
    };
    let mut out = Styled(plain, sign).to_string() + " ";
    for piece in &line.pieces {
        let style = if piece.changed { changed } else { plain };
        let _ = write!(out, "{}", Styled(style, &piece.text));
    }
    out
}
