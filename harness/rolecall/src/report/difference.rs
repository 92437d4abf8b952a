//! Differences between a transcript and what was accepted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::numbers::counted;
use super::screen::{self, ENDLESS};
use super::style::{BAD, CAME, GONE, GOOD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::{wrapped, wrapped_command};
use crate::cause;
use crate::diff::{Diff, Line, Side};
use crate::divergence::{Listed, draft, pair_name};
use crate::fingerprint::Fingerprint;
use crate::invocation;
use crate::problem::Problem;
use crate::record::Unverified;
use crate::run::Compared;
use crate::snapshot::Comparison;
use crate::suite::Pair;
use crate::transcript;
use crate::verdict::Verdict;
use crate::window::windows;

/// Pairs that are not as expected, for the same reason.
#[derive(Debug)]
pub struct Group<'s> {
    /// The pairs, in the order of the run.
    pub pairs: Vec<Member<'s>>,
    /// Which of them is shown: the first, or where the reference differs the one with the
    /// shortest conversation.
    example: usize,
    /// The bytes of its conversation.
    size: usize,
    /// What differs in it.
    pub what: What,
    /// What the reference says to it.
    pub word: Option<String>,
    /// The transcript of that pair, where there is nothing that it differs from.
    shown: Option<String>,
    /// Whether the engine did something of another kind than the reference: where one gave
    /// a prompt and the other words, their lines have nothing in common.
    has_other_kind: bool,
    /// Whether the pairs are of a suite, so that something can be written down about them.
    is_of_suite: bool,
    /// Whether asking the reference would tell what it does.
    can_be_recorded: bool,
}

/// A pair of a group.
#[derive(Debug)]
pub struct Member<'s> {
    /// The pair.
    pub pair: Pair<'s>,
    /// The engine's name.
    pub engine: &'s str,
    /// The fingerprint of the engine's transcript, where it differs from the reference's.
    observed: Option<Fingerprint>,
}

/// Gathers what is not as expected. Pairs in which the same lines changed make one group: a
/// hundred failures with one cause are read once.
#[derive(Debug, Default)]
pub struct Groups<'s> {
    groups: Vec<Group<'s>>,
    known: HashMap<String, usize>,
}

/// How a pair is not as expected.
#[derive(Debug, PartialEq, Eq)]
pub enum What {
    /// Another transcript was accepted.
    Changed(Diff),
    /// Nothing was accepted yet.
    New,
    /// What was accepted cannot be read.
    Unreadable(Problem),
    /// The reference did something else; without a diff where only a fingerprint of that
    /// is known.
    Differs(Option<Diff>),
    /// A listed divergence has become another.
    OtherDivergence(Option<Diff>),
    /// Nobody knows what the reference does.
    Unverified,
    /// The engine was gone.
    NotAsked,
}

/// How much of the differences to write.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Differences.
    pub groups: usize,
    /// Templates named under each.
    pub templates: usize,
    /// Whether lines are shown in whole that are wider than the screen.
    pub whole_lines: bool,
}

impl Extent {
    /// As much as is read at once.
    pub const SHORT: Extent = Extent {
        groups: 20,
        templates: 8,
        whole_lines: false,
    };

    /// Everything.
    pub const WHOLE: Extent = Extent {
        groups: usize::MAX,
        templates: usize::MAX,
        whole_lines: true,
    };

    /// The width of differences.
    fn width(self) -> usize {
        if self.whole_lines {
            ENDLESS
        } else {
            screen::width()
        }
    }
}

impl<'s> Groups<'s> {
    /// Adds a pair, if it is not as expected.
    pub fn add(&mut self, compared: &Compared<'s>) {
        let Some((key, what)) = examine(compared) else {
            return;
        };
        let word = word(compared, &what);
        let key = own_error(compared, &what)
            .unwrap_or_else(|| format!("{key}\n{}", word.as_deref().unwrap_or_default()));
        let differs = matches!(compared.verdict, Verdict::Differs(_));
        let size = cause::size(compared.rendered.pair.case);
        let index = match self.known.entry(key) {
            Entry::Vacant(entry) => {
                self.groups.push(Group::new(compared, what, word, size));
                *entry.insert(self.groups.len() - 1)
            }
            Entry::Occupied(entry) => {
                let group = &mut self.groups[*entry.get()];
                // Of what was accepted the first is shown, as the file has it.
                if size < group.size && matches!(what, What::Differs(_)) {
                    let pairs = std::mem::take(&mut group.pairs);
                    *group = Group::new(compared, what, word, size);
                    group.example = pairs.len();
                    group.pairs = pairs;
                }
                *entry.get()
            }
        };
        self.groups[index].pairs.push(Member {
            pair: compared.rendered.pair,
            engine: compared.rendered.engine,
            observed: differs.then(|| compared.observed()),
        });
    }

    /// The groups, those with most pairs first.
    pub fn sorted(mut self) -> Vec<Group<'s>> {
        self.groups
            .sort_by_key(|group| std::cmp::Reverse(group.pairs.len()));
        self.groups
    }
}

impl<'s> Group<'s> {
    /// A group without pairs, for those that are as this one.
    fn new(compared: &Compared<'s>, what: What, word: Option<String>, size: usize) -> Group<'s> {
        let outcome = &compared.rendered.outcome;
        let has_nothing_to_differ_from = matches!(
            what,
            What::New | What::Differs(None) | What::OtherDivergence(None)
        );
        Group {
            pairs: Vec::new(),
            example: 0,
            size,
            what,
            word,
            shown: has_nothing_to_differ_from.then(|| transcript::encode(outcome)),
            has_other_kind: matches!(&compared.verdict, Verdict::Differs(difference)
                if difference.expected.kind() != outcome.kind()),
            is_of_suite: compared.comparison.is_some(),
            can_be_recorded: match &compared.verdict {
                Verdict::Unverified(why) => {
                    !why.is_expected()
                        && !matches!(
                            why,
                            Unverified::Crashed(_)
                                | Unverified::ReferenceNotAsked(_)
                                | Unverified::NotAsked
                        )
                }
                Verdict::Agrees | Verdict::Differs(_) => false,
            },
        }
    }
}

/// How a pair is not as expected, and what pairs with the same cause have in common.
fn examine(compared: &Compared<'_>) -> Option<(String, What)> {
    match &compared.comparison {
        Some(Comparison::New) => return Some(("new".to_owned(), What::New)),
        Some(Comparison::Unreadable(why)) => {
            let key = format!("unreadable {}", why.message);
            return Some((key, What::Unreadable(why.clone())));
        }
        Some(Comparison::Changed(accepted)) => {
            let found = transcript::encode(&compared.rendered.outcome);
            let diff = Diff::new(accepted, &found);
            return Some((
                format!("changed {}", cause::signature(&diff)),
                What::Changed(diff),
            ));
        }
        None | Some(Comparison::Same) => {}
    }
    match &compared.verdict {
        Verdict::Agrees => None,
        Verdict::Unverified(why) if why.is_expected() => None,
        Verdict::Unverified(Unverified::NotAsked) => Some(("not asked".to_owned(), What::NotAsked)),
        Verdict::Unverified(_) => Some(("unverified".to_owned(), What::Unverified)),
        Verdict::Differs(difference) => {
            let outcome = &compared.rendered.outcome;
            let diff = difference
                .transcript
                .as_ref()
                .map(|expected| Diff::new(expected, &transcript::encode(outcome)));
            let cause = cause::of(difference, outcome, diff.as_ref());
            match &difference.listed {
                Listed::Known { .. } => None,
                Listed::No => Some((format!("differs {cause}"), What::Differs(diff))),
                Listed::Changed { .. } => {
                    Some((format!("other {cause}"), What::OtherDivergence(diff)))
                }
            }
        }
    }
}

/// What pairs have in common in which the engine failed or crashed and the reference did
/// something else, whatever that was: how the engine says it.
fn own_error(compared: &Compared<'_>, what: &What) -> Option<String> {
    let Verdict::Differs(difference) = &compared.verdict else {
        return None;
    };
    let is_known = matches!(difference.listed, Listed::Changed { .. });
    (matches!(what, What::Differs(_)) && !is_known)
        .then(|| cause::own_error(difference, &compared.rendered.outcome))
        .flatten()
}

/// What the reference says to a pair that is not as expected.
fn word(compared: &Compared<'_>, what: &What) -> Option<String> {
    let because = |listed: &Listed| match listed {
        Listed::No => None,
        Listed::Known { reason } | Listed::Changed { reason } => Some(reason.clone()),
    };
    match (what, &compared.verdict) {
        (What::Differs(Some(_)) | What::Unreadable(_), _) => None,
        (_, Verdict::Unverified(why)) if why.is_expected() => None,
        (What::NotAsked, _) => Some(compared.rendered.outcome.text().to_owned()),
        (What::Differs(None), Verdict::Differs(difference)) => Some(format!(
            "the reference {} something else, of which only the SHA-256 is recorded",
            difference.expected.kind()
        )),
        (What::OtherDivergence(_), Verdict::Differs(difference)) => Some(format!(
            "listed, but the engine gave something else then: {}",
            because(&difference.listed).unwrap_or_default()
        )),
        (_, Verdict::Agrees) => Some("the reference agrees with what is there now".to_owned()),
        (_, Verdict::Unverified(why)) => Some(why.to_string()),
        (_, Verdict::Differs(difference)) => Some(match &compared.comparison {
            Some(Comparison::Changed(accepted))
                if difference.transcript.as_ref() == Some(accepted) =>
            {
                "the reference agrees with what was accepted".to_owned()
            }
            _ => "the reference does not agree with it".to_owned(),
        }),
    }
}

/// Writes the groups, each with its pairs by template.
pub fn write(out: &mut dyn Write, groups: &[Group<'_>], extent: Extent) -> io::Result<()> {
    for group in groups.iter().take(extent.groups) {
        write_group(out, group, extent)?;
        writeln!(out)?;
    }
    if let Some(rest @ [_, ..]) = groups.get(extent.groups..) {
        let pairs = rest.iter().map(|group| group.pairs.len()).sum();
        let more = counted(rest.len(), "more difference", "more differences");
        let pairs = counted(pairs, "pair", "pairs");
        paragraph(
            out,
            &format!("… and {more} in {pairs}: --all shows them"),
            0,
        )?;
        writeln!(out)?;
    }
    Ok(())
}

fn write_group(out: &mut dyn Write, group: &Group<'_>, extent: Extent) -> io::Result<()> {
    let names = extent.templates;
    let Some(example) = group.pairs.get(group.example) else {
        return Ok(());
    };
    let pair = &example.pair;
    let (label, common) = match &group.what {
        What::Changed(_) => (Styled(BAD, "changed"), "the same difference"),
        What::New => (Styled(NOTE, "new"), "no snapshot yet"),
        What::Unreadable(_) => (Styled(BAD, "unreadable"), "the same trouble"),
        What::Differs(_) => (Styled(BAD, "differs"), "the same difference"),
        What::OtherDivergence(_) => (Styled(BAD, "diverges otherwise"), "the same"),
        What::Unverified => (Styled(BAD, "unverified"), "the same"),
        What::NotAsked => (Styled(BAD, "not asked"), "the same"),
    };
    let name = format!("{} {}", pair.template.name, pair.case.id);
    paragraph(out, &format!("{label} {}", Styled(HEADING, &name)), 2)?;
    if let Some(about) = &pair.case.about {
        paragraph(out, &format!("  {}", Styled(QUIET, about)), 2)?;
    }
    if let Some(word) = &group.word {
        paragraph(out, &format!("  {}", Styled(NOTE, word)), 2)?;
    }
    match &group.what {
        What::Differs(Some(diff)) if group.has_other_kind => {
            write_beginnings(out, diff, "  ", extent.width())?;
        }
        What::Changed(diff) | What::Differs(Some(diff)) | What::OtherDivergence(Some(diff)) => {
            write_within(out, diff, "  ", extent.width())?;
        }
        What::New | What::Differs(None) | What::OtherDivergence(None) => {
            let shown = group.shown.as_deref().unwrap_or_default().lines();
            let lines: Vec<Line> = shown.map(Line::found).collect();
            write_lines(out, &lines, "  ", extent.width())?;
        }
        What::Unreadable(why) => {
            let text = format!("  the snapshot cannot be read: {why}");
            writeln!(out, "{}", wrapped(&text, screen::of_messages(), 4))?;
        }
        What::Unverified | What::NotAsked => {}
    }
    let others = group.pairs.iter().enumerate();
    let others: Vec<_> = others
        .filter(|(at, _)| *at != group.example)
        .map(|(_, member)| member)
        .collect();
    if !others.is_empty() {
        writeln!(
            out,
            "  {common} in {}:",
            counted(others.len(), "other pair", "other pairs")
        )?;
        let lines = by_template(&others);
        for (template, cases) in lines.iter().take(names) {
            paragraph(
                out,
                &format!("    {template}: {}", shortened(cases, names)),
                6,
            )?;
        }
        if lines.len() > names {
            writeln!(out, "    … and {} more templates", lines.len() - names)?;
        }
    }
    write_advice(out, group, (example, &others), names)
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
        let first: Vec<Line> = lines.by_ref().take(MOST).cloned().collect();
        write_lines(out, &first, indent, width)?;
        let more = lines.count();
        if more > 0 {
            let more = counted(more, "more line", "more lines");
            writeln!(out, "{indent}  {}", Styled(QUIET, format!("… and {more}")))?;
        }
    }
    Ok(())
}

/// What to do about a group.
fn write_advice(
    out: &mut dyn Write,
    group: &Group<'_>,
    (example, others): (&Member<'_>, &[&Member<'_>]),
    names: usize,
) -> io::Result<()> {
    let pair = &example.pair;
    let name = format!("{} {}", pair.template.name, pair.case.id);
    match &group.what {
        What::Changed(_) => say(
            out,
            "to look at it:",
            &invocation::command(&format!("show {name} --diff")),
        )?,
        What::New | What::Unreadable(_) => {
            say(
                out,
                "to look at it:",
                &invocation::command(&format!("show {name}")),
            )?;
        }
        What::Differs(_) | What::OtherDivergence(_) if group.is_of_suite => {
            say(
                out,
                "to look at it:",
                &invocation::command(&format!("show {name} --reference --diff")),
            )?;
            say(
                out,
                "if that has to be, list it in snapshots/divergences.json, with the reason:",
                "",
            )?;
            let listed = if names == usize::MAX {
                group.pairs.len()
            } else {
                1
            };
            for member in std::iter::once(example)
                .chain(others.iter().copied())
                .take(listed)
            {
                if let Some(observed) = member.observed {
                    let entry = draft(member.engine, &member.pair, observed);
                    writeln!(out, "    {entry}")?;
                }
            }
        }
        What::Differs(_) | What::OtherDivergence(_) | What::Unverified | What::NotAsked => {}
    }
    if group.can_be_recorded {
        let one = pair_name(pair);
        let filter = match group.pairs.as_slice() {
            [_] => one.as_str(),
            many if many
                .iter()
                .all(|other| other.pair.template.name == pair.template.name) =>
            {
                pair.template.name.as_str()
            }
            _ => "",
        };
        let filter = if filter.is_empty() {
            String::new()
        } else {
            format!(" '{filter}'")
        };
        say(
            out,
            "to ask the reference:",
            &format!(
                "{} && {}",
                invocation::set_up_references(),
                invocation::command(&format!("reference update{filter}"))
            ),
        )?;
    }
    Ok(())
}

/// A line of advice: what for, and how.
fn say(out: &mut dyn Write, what: &str, how: &str) -> io::Result<()> {
    let width = screen::of_messages();
    if !how.is_empty() && 3 + what.len() + how.len() <= width {
        return writeln!(out, "  {} {how}", Styled(QUIET, what));
    }
    paragraph(out, &format!("  {}", Styled(QUIET, what)), 2)?;
    if how.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", wrapped_command(how, width, 4))
}

/// A paragraph as wide as the screen; its lines but the first begin with `hang` spaces.
fn paragraph(out: &mut dyn Write, text: &str, hang: usize) -> io::Result<()> {
    writeln!(out, "{}", wrapped(text, screen::width(), hang))
}

/// Case names in a line; of very many only the first, unless all are wanted.
fn shortened(cases: &[String], most_templates: usize) -> String {
    const MOST: usize = 12;
    if most_templates == usize::MAX || cases.len() <= MOST {
        return cases.join(", ");
    }
    let shown = cases[..MOST].join(", ");
    format!("{shown}, … and {} more", cases.len() - MOST)
}

/// Writes which divergences are listed and gone.
pub fn write_gone(out: &mut dyn Write, gone: &[String]) -> io::Result<()> {
    gone.iter().try_for_each(|name| {
        paragraph(out, &format!("{} {name}", Styled(BAD, "no divergence")), 2)?;
        let what = "  the reference agrees now: remove it from snapshots/divergences.json";
        paragraph(out, what, 2)?;
        writeln!(out)
    })
}

/// The cases of each template.
fn by_template<'r>(pairs: &[&'r Member<'_>]) -> Vec<(&'r str, Vec<String>)> {
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for Member { pair, .. } in pairs {
        let (template, id) = (pair.template.name.as_str(), pair.case.id.to_string());
        match lines.last_mut() {
            Some((last, cases)) if *last == template => cases.push(id),
            _ => lines.push((template, vec![id])),
        }
    }
    lines
}

/// Writes a diff, each line after an indent. Without colour it says the same: lines
/// begin with `-` and `+`, and every character is visible. Of lines that are wider than the
/// screen the part is shown that differs, with `…` where something is left out.
pub fn write_diff(out: &mut dyn Write, diff: &Diff, indent: &str) -> io::Result<()> {
    write_within(out, diff, indent, screen::width())
}

/// Writes a diff as [`write_diff`] does, with every line of the texts in whole.
pub fn write_whole_diff(out: &mut dyn Write, diff: &Diff, indent: &str) -> io::Result<()> {
    write_within(out, diff, indent, ENDLESS)
}

/// Writes a diff in lines of a width, what is said about them included.
pub(super) fn write_windows(
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

/// Writes where the texts part, in words.
fn write_first(out: &mut dyn Write, diff: &Diff, indent: &str, width: usize) -> io::Result<()> {
    let Some(first) = &diff.first else {
        return Ok(());
    };
    let first = format!("{indent}{first}");
    writeln!(out, "{}", wrapped(&first, width, indent.len() + 2))
}

/// Writes the lines that differ, no wider than `width`.
pub(super) fn write_hunks(
    out: &mut dyn Write,
    diff: &Diff,
    indent: &str,
    width: usize,
) -> io::Result<()> {
    for (index, hunk) in diff.hunks.iter().enumerate() {
        if index > 0 {
            writeln!(out, "{indent}{}", Styled(QUIET, "…"))?;
        }
        write_lines(out, hunk, indent, width)?;
    }
    Ok(())
}

/// Writes lines of a diff, no wider than `width`.
pub(super) fn write_lines(
    out: &mut dyn Write,
    lines: &[Line],
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
pub(super) fn diff_line(line: &Line) -> String {
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
