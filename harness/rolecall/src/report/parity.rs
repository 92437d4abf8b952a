//! Twins side by side: in which cases they give the same prompt, and why not in the
//! others.

use std::io::{self, Write};

use super::difference::{write_diff, write_whole_diff};
use super::numbers::{counted, thousands};
use super::screen;
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::wrapped;
use crate::diff::Diff;
use crate::parity::{Comparison, Explanations, Parity};
use crate::transcript;

/// Writes how twins stand to each other, with the differences that nobody has explained,
/// or with all where `all` is asked for. Returns how many are not explained.
pub fn write(
    out: &mut dyn Write,
    parities: &[Parity<'_>],
    explanations: &Explanations,
    all: bool,
) -> io::Result<usize> {
    let mut unexplained = 0;
    for (index, parity) in parities.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        unexplained += write_twins(out, parity, explanations, all)?;
    }
    for stale in explanations.stale(parities) {
        writeln!(out)?;
        let label = Styled(BAD, "explained, but the same:");
        paragraph(out, &format!("{label} {stale}"))?;
        let help = "  no twin differs there any more: take it out of snapshots/parity.json";
        paragraph(out, help)?;
        unexplained += 1;
    }
    write_close(out, parities, unexplained)?;
    Ok(unexplained)
}

/// Writes the last line: what came of all twins.
fn write_close(out: &mut dyn Write, parities: &[Parity<'_>], unexplained: usize) -> io::Result<()> {
    let comparisons = || parities.iter().flat_map(|parity| &parity.comparisons);
    let same = comparisons().filter(|comparison| comparison.is_same());
    let all = counted(comparisons().count(), "case", "cases");
    let same = thousands(same.count());
    let rest = match unexplained {
        0 => Styled(GOOD, "nothing is unexplained".to_owned()),
        count => Styled(
            BAD,
            counted(
                count,
                "difference is not explained",
                "differences are not explained",
            ),
        ),
    };
    let twins = counted(parities.len(), "twin", "twins");
    paragraph(
        out,
        &format!("\n{twins}: the same in {same} of {all}; {rest}"),
    )
}

fn paragraph(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let hang = text.len() - text.trim_start_matches(' ').len() + 2;
    writeln!(out, "{}", wrapped(text, screen::width(), hang))
}

fn write_twins(
    out: &mut dyn Write,
    parity: &Parity<'_>,
    explanations: &Explanations,
    all: bool,
) -> io::Result<usize> {
    let (same, different): (Vec<_>, Vec<_>) = parity
        .comparisons
        .iter()
        .partition(|comparison| comparison.is_same());
    let (first, other) = (&parity.first.name, &parity.other.name);
    let family = Styled(HEADING, &parity.family);
    paragraph(out, &format!("{family} {first} and {other}"))?;
    writeln!(
        out,
        "  {} in {} of {}",
        Styled(GOOD, "the same"),
        same.len(),
        counted(parity.comparisons.len(), "case", "cases")
    )?;
    let mut by_reason: Vec<(Option<&str>, Vec<&Comparison<'_>>)> = Vec::new();
    for comparison in different {
        let reason = explanations.reason(&parity.family, &comparison.case.id);
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, comparisons)) => comparisons.push(comparison),
            None => by_reason.push((reason, vec![comparison])),
        }
    }
    let mut unexplained = 0;
    for (reason, comparisons) in by_reason {
        if let Some(reason) = reason {
            let count = counted(comparisons.len(), "case", "cases");
            let label = Styled(NOTE, "explained");
            paragraph(out, &format!("  {label} in {count}: {reason}"))?;
        } else {
            unexplained += comparisons.len();
            let count = counted(comparisons.len(), "case", "cases");
            writeln!(out, "  {} in {count}", Styled(BAD, "not explained"))?;
        }
        for comparison in comparisons {
            let kinds = (comparison.expected.kind(), comparison.found.kind());
            let outcomes = if kinds.0 == kinds.1 {
                String::new()
            } else {
                format!(" ({}, {})", kinds.0, kinds.1)
            };
            let id = &comparison.case.id;
            paragraph(out, &format!("    {id}{}", Styled(QUIET, outcomes)))?;
            if all || reason.is_none() {
                let expected = transcript::encode(&comparison.expected);
                let found = transcript::encode(&comparison.found);
                let write = if all { write_whole_diff } else { write_diff };
                write(out, &Diff::new(&expected, &found), "      ")?;
            }
        }
    }
    Ok(unexplained)
}
