//! Differences between a transcript and what was accepted.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::counted;
use super::style::{BAD, CAME, GONE, GOOD, HEADING, NOTE, QUIET, Styled};
use crate::diff::{Diff, Line, Side};
use crate::run::Compared;
use crate::snapshot::Comparison;
use crate::transcript;

/// Pairs that are not as accepted, for the same reason.
#[derive(Debug)]
pub struct Group<'r, 's> {
    /// The pairs, in the order of the run.
    pub pairs: Vec<&'r Compared<'s>>,
    /// What differs, in the first of them.
    pub what: What,
}

/// How a pair is not as accepted.
#[derive(Debug, PartialEq, Eq)]
pub enum What {
    /// Another transcript was accepted.
    Changed(Diff),
    /// Nothing was accepted yet.
    New,
    /// What was accepted cannot be read.
    Unreadable(String),
}

/// Gathers what is not as accepted. Pairs in which the same lines changed make one
/// group: a hundred failures with one cause are read once.
pub fn groups<'r, 's>(results: &'r [Compared<'s>]) -> Vec<Group<'r, 's>> {
    let mut groups: Vec<(Option<String>, Group<'r, 's>)> = Vec::new();
    for compared in results {
        let (key, what) = match &compared.comparison {
            None | Some(Comparison::Same) => continue,
            Some(Comparison::New) => ("new".to_owned(), What::New),
            Some(Comparison::Unreadable(why)) => {
                (format!("unreadable {why}"), What::Unreadable(why.clone()))
            }
            Some(Comparison::Changed(accepted)) => {
                let found = transcript::encode(&compared.rendered.outcome);
                let diff = Diff::new(accepted, &found);
                (signature(&diff), What::Changed(diff))
            }
        };
        let known = groups
            .iter_mut()
            .find(|(known, _)| known.as_ref() == Some(&key));
        match known {
            Some((_, group)) => group.pairs.push(compared),
            None => groups.push((
                Some(key),
                Group {
                    pairs: vec![compared],
                    what,
                },
            )),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
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

/// Writes the groups. Pairs that share a difference are named, a line a template, for as
/// many templates as `names` says.
pub fn write(out: &mut dyn Write, groups: &[Group<'_, '_>], names: usize) -> io::Result<()> {
    for group in groups {
        write_group(out, group, names)?;
        writeln!(out)?;
    }
    Ok(())
}

fn write_group(out: &mut dyn Write, group: &Group<'_, '_>, names: usize) -> io::Result<()> {
    let Some(first) = group.pairs.first() else {
        return Ok(());
    };
    let pair = &first.rendered.pair;
    let (label, word) = match &group.what {
        What::Changed(_) => (Styled(BAD, "changed"), "the same difference"),
        What::New => (Styled(NOTE, "new"), "no snapshot yet"),
        What::Unreadable(_) => (Styled(BAD, "unreadable"), "the same trouble"),
    };
    let name = format!("{} {}", pair.template.name, pair.case.id);
    writeln!(out, "{label} {}", Styled(HEADING, &name))?;
    if let Some(about) = &pair.case.about {
        writeln!(out, "  {}", Styled(QUIET, about))?;
    }
    match &group.what {
        What::Changed(diff) => write_diff(out, diff, "  ")?,
        What::New => {
            let shown = transcript::encode(&first.rendered.outcome);
            for line in shown.lines() {
                writeln!(out, "  {} {}", Styled(GOOD, "+"), Styled(GOOD, line))?;
            }
        }
        What::Unreadable(why) => writeln!(out, "  the snapshot cannot be read: {why}")?,
    }
    let others = &group.pairs[1..];
    if !others.is_empty() {
        writeln!(
            out,
            "  {word} in {}:",
            counted(others.len(), "other pair", "other pairs")
        )?;
        let lines = by_template(others);
        for (template, cases) in lines.iter().take(names) {
            writeln!(out, "    {template}: {}", cases.join(", "))?;
        }
        if lines.len() > names {
            writeln!(out, "    … and {} more templates", lines.len() - names)?;
        }
    }
    let look = match &group.what {
        What::Changed(_) => format!("cargo run --release -- show {name} --diff"),
        What::New | What::Unreadable(_) => format!("cargo run --release -- show {name}"),
    };
    writeln!(out, "  {} {look}", Styled(QUIET, "to look at it:"))
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
