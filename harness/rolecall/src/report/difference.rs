//! Differences between a transcript and what was accepted.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use rolecall_model::Outcome;

use super::numbers::counted;
use super::style::{BAD, CAME, GONE, GOOD, HEADING, NOTE, QUIET, Styled};
use crate::diff::{Diff, Line, Side};
use crate::divergence::{Listed, draft, pair_name};
use crate::record::{Answer, Unverified};
use crate::run::Compared;
use crate::snapshot::Comparison;
use crate::transcript;
use crate::verdict::{Difference, Verdict};

/// Pairs that are not as expected, for the same reason.
#[derive(Debug)]
pub struct Group<'r, 's> {
    /// The pairs, in the order of the run.
    pub pairs: Vec<&'r Compared<'s>>,
    /// What differs, in the first of them.
    pub what: What,
    /// What the reference says to it.
    pub word: Option<String>,
}

/// How a pair is not as expected.
#[derive(Debug, PartialEq, Eq)]
pub enum What {
    /// Another transcript was accepted.
    Changed(Diff),
    /// Nothing was accepted yet.
    New,
    /// What was accepted cannot be read.
    Unreadable(String),
    /// The reference did something else; without a diff where only a fingerprint of that
    /// is known.
    Differs(Option<Diff>),
    /// A listed divergence has become another.
    OtherDivergence(Option<Diff>),
    /// Nobody knows what the reference does.
    Unverified,
}

/// How much of the differences to write.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Differences.
    pub groups: usize,
    /// Templates named under each.
    pub templates: usize,
}

impl Extent {
    /// As much as is read at once.
    pub const SHORT: Extent = Extent {
        groups: 20,
        templates: 8,
    };

    /// Everything.
    pub const WHOLE: Extent = Extent {
        groups: usize::MAX,
        templates: usize::MAX,
    };
}

/// Gathers what is not as expected. Pairs in which the same lines changed make one
/// group: a hundred failures with one cause are read once. The largest come first.
pub fn groups<'r, 's>(results: &'r [Compared<'s>]) -> Vec<Group<'r, 's>> {
    let mut groups: Vec<Group<'r, 's>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for compared in results {
        let Some((key, what)) = examine(compared) else {
            continue;
        };
        let word = word(compared, &what);
        let key = format!("{key}\n{}", word.as_deref().unwrap_or_default());
        let index = *known.entry(key).or_insert_with(|| {
            groups.push(Group {
                pairs: Vec::new(),
                what,
                word,
            });
            groups.len() - 1
        });
        groups[index].pairs.push(compared);
    }
    // The causes with most pairs first.
    groups.sort_by_key(|group| std::cmp::Reverse(group.pairs.len()));
    groups
}

/// How a pair is not as expected, and what pairs with the same cause have in common.
fn examine(compared: &Compared<'_>) -> Option<(String, What)> {
    match &compared.comparison {
        Some(Comparison::New) => return Some(("new".to_owned(), What::New)),
        Some(Comparison::Unreadable(why)) => {
            return Some((format!("unreadable {why}"), What::Unreadable(why.clone())));
        }
        Some(Comparison::Changed(accepted)) => {
            let found = transcript::encode(&compared.rendered.outcome);
            let diff = Diff::new(accepted, &found);
            return Some((format!("changed {}", signature(&diff)), What::Changed(diff)));
        }
        None | Some(Comparison::Same) => {}
    }
    match &compared.verdict {
        Verdict::Agrees | Verdict::Unverified(Unverified::Outside) => None,
        Verdict::Unverified(_) => Some(("unverified".to_owned(), What::Unverified)),
        Verdict::Differs(difference) => {
            let outcome = &compared.rendered.outcome;
            let diff = difference
                .transcript
                .as_ref()
                .map(|expected| Diff::new(expected, &transcript::encode(outcome)));
            let cause = cause(difference, outcome, diff.as_ref());
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

/// What differences from the reference with one cause have in common: the lines that
/// differ, or the words of the one side that gave no prompt.
fn cause(difference: &Difference, found: &Outcome, diff: Option<&Diff>) -> String {
    let kinds = (difference.expected.kind(), found.kind());
    let words = match (&difference.expected, found) {
        (Answer::Failed { message, .. }, _)
        | (_, Outcome::Failed { message, .. } | Outcome::Crashed { message }) => {
            Some(message.as_str())
        }
        _ => None,
    };
    match (words, diff) {
        (Some(words), _) if kinds.0 != kinds.1 => format!("{kinds:?} {words}"),
        (_, Some(diff)) => signature(diff),
        (_, None) => format!("{kinds:?}"),
    }
}

/// What the reference says to a pair that is not as expected.
fn word(compared: &Compared<'_>, what: &What) -> Option<String> {
    let because = |listed: &Listed| match listed {
        Listed::No => None,
        Listed::Known { reason } | Listed::Changed { reason } => Some(reason.clone()),
    };
    match (what, &compared.verdict) {
        (What::Differs(Some(_)) | What::Unreadable(_), _)
        | (_, Verdict::Unverified(Unverified::Outside)) => None,
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

/// The changed lines of a diff: what two diffs with one cause have in common.
fn signature(diff: &Diff) -> String {
    let mut signature = String::new();
    for line in diff.hunks.iter().flatten() {
        if line.side != Side::Both {
            let text: String = line
                .pieces
                .iter()
                .map(|piece| piece.text.as_str())
                .collect();
            let _ = writeln!(signature, "{:?} {text}", line.side);
        }
    }
    signature
}

/// Writes the groups, each with its pairs by template.
pub fn write(out: &mut dyn Write, groups: &[Group<'_, '_>], extent: Extent) -> io::Result<()> {
    for group in groups.iter().take(extent.groups) {
        write_group(out, group, extent.templates)?;
        writeln!(out)?;
    }
    if let Some(rest @ [_, ..]) = groups.get(extent.groups..) {
        let pairs = rest.iter().map(|group| group.pairs.len()).sum();
        writeln!(
            out,
            "… and {} in {}: --all shows them\n",
            counted(rest.len(), "more difference", "more differences"),
            counted(pairs, "pair", "pairs"),
        )?;
    }
    Ok(())
}

fn write_group(out: &mut dyn Write, group: &Group<'_, '_>, names: usize) -> io::Result<()> {
    let Some(first) = group.pairs.first() else {
        return Ok(());
    };
    let pair = &first.rendered.pair;
    let (label, common) = match &group.what {
        What::Changed(_) => (Styled(BAD, "changed"), "the same difference"),
        What::New => (Styled(NOTE, "new"), "no snapshot yet"),
        What::Unreadable(_) => (Styled(BAD, "unreadable"), "the same trouble"),
        What::Differs(_) => (Styled(BAD, "differs"), "the same difference"),
        What::OtherDivergence(_) => (Styled(BAD, "diverges otherwise"), "the same"),
        What::Unverified => (Styled(BAD, "unverified"), "the same"),
    };
    let name = format!("{} {}", pair.template.name, pair.case.id);
    writeln!(out, "{label} {}", Styled(HEADING, &name))?;
    if let Some(about) = &pair.case.about {
        writeln!(out, "  {}", Styled(QUIET, about))?;
    }
    if let Some(word) = &group.word {
        writeln!(out, "  {}", Styled(NOTE, word))?;
    }
    match &group.what {
        What::Differs(Some(diff)) if has_other_kind(first) => write_beginnings(out, diff, "  ")?,
        What::Changed(diff) | What::Differs(Some(diff)) | What::OtherDivergence(Some(diff)) => {
            write_diff(out, diff, "  ")?;
        }
        What::New | What::Differs(None) | What::OtherDivergence(None) => {
            let shown = transcript::encode(&first.rendered.outcome);
            for line in shown.lines() {
                writeln!(out, "  {} {}", Styled(GOOD, "+"), Styled(GOOD, line))?;
            }
        }
        What::Unreadable(why) => writeln!(out, "  the snapshot cannot be read: {why}")?,
        What::Unverified => {}
    }
    let others = &group.pairs[1..];
    if !others.is_empty() {
        writeln!(
            out,
            "  {common} in {}:",
            counted(others.len(), "other pair", "other pairs")
        )?;
        let lines = by_template(others);
        for (template, cases) in lines.iter().take(names) {
            writeln!(out, "    {template}: {}", shortened(cases, names))?;
        }
        if lines.len() > names {
            writeln!(out, "    … and {} more templates", lines.len() - names)?;
        }
    }
    write_advice(out, group, first, names)
}

/// Whether the engine did something of another kind than the reference: where one gave a
/// prompt and the other words, their lines have nothing in common.
fn has_other_kind(compared: &Compared<'_>) -> bool {
    matches!(&compared.verdict, Verdict::Differs(difference)
        if difference.expected.kind() != compared.rendered.outcome.kind())
}

/// Writes how each side of a diff begins.
fn write_beginnings(out: &mut dyn Write, diff: &Diff, indent: &str) -> io::Result<()> {
    const MOST: usize = 4;
    for side in [Side::Expected, Side::Found] {
        let mut lines = diff.hunks.iter().flatten().filter(|line| line.side == side);
        for line in lines.by_ref().take(MOST) {
            writeln!(out, "{indent}{}", diff_line(line))?;
        }
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
    group: &Group<'_, '_>,
    first: &Compared<'_>,
    names: usize,
) -> io::Result<()> {
    let pair = &first.rendered.pair;
    let name = format!("{} {}", pair.template.name, pair.case.id);
    let can_be_recorded = match &first.verdict {
        Verdict::Unverified(why) => !matches!(why, Unverified::Outside | Unverified::Crashed(_)),
        Verdict::Agrees | Verdict::Differs(_) => false,
    };
    match &group.what {
        What::Changed(_) => say(
            out,
            "to look at it:",
            &format!("cargo run --release -- show {name} --diff"),
        )?,
        What::New | What::Unreadable(_) => {
            say(
                out,
                "to look at it:",
                &format!("cargo run --release -- show {name}"),
            )?;
        }
        What::Differs(_) | What::OtherDivergence(_) if first.comparison.is_some() => {
            say(
                out,
                "to look at it:",
                &format!("cargo run --release -- show {name} --reference --diff"),
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
            for compared in group.pairs.iter().take(listed) {
                let rendered = &compared.rendered;
                let entry = draft(rendered.engine, &rendered.pair, compared.observed());
                writeln!(out, "    {entry}")?;
            }
        }
        What::Differs(_) | What::OtherDivergence(_) | What::Unverified => {}
    }
    if can_be_recorded {
        let one = pair_name(pair);
        let filter = match group.pairs.as_slice() {
            [_] => one.as_str(),
            many if many
                .iter()
                .all(|other| other.rendered.pair.template.name == pair.template.name) =>
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
            &format!("scripts/setup-references && cargo run --release -- reference update{filter}"),
        )?;
    }
    Ok(())
}

/// A line of advice: what for, and how.
fn say(out: &mut dyn Write, what: &str, how: &str) -> io::Result<()> {
    let gap = if how.is_empty() { "" } else { " " };
    writeln!(out, "  {}{gap}{how}", Styled(QUIET, what))
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
        writeln!(
            out,
            "{} {name}\n  the reference agrees now: remove it from snapshots/divergences.json\n",
            Styled(BAD, "no divergence")
        )
    })
}

/// The cases of each template.
fn by_template<'r>(pairs: &[&'r Compared<'_>]) -> Vec<(&'r str, Vec<String>)> {
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for compared in pairs {
        let pair = &compared.rendered.pair;
        let (template, id) = (pair.template.name.as_str(), pair.case.id.to_string());
        match lines.last_mut() {
            Some((last, cases)) if *last == template => cases.push(id),
            _ => lines.push((template, vec![id])),
        }
    }
    lines
}

/// Writes a diff, each line after an indent. Without colour it says the same: lines
/// begin with `-` and `+`, and every character is visible.
pub fn write_diff(out: &mut dyn Write, diff: &Diff, indent: &str) -> io::Result<()> {
    if let Some(first) = &diff.first {
        writeln!(out, "{indent}{first}")?;
    }
    for (index, hunk) in diff.hunks.iter().enumerate() {
        if index > 0 {
            writeln!(out, "{indent}{}", Styled(QUIET, "…"))?;
        }
        for line in hunk {
            writeln!(out, "{indent}{}", diff_line(line))?;
        }
    }
    Ok(())
}

fn diff_line(line: &Line) -> String {
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
