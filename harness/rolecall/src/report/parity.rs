//! Twins side by side: in which cases they give the same prompt, and why not in the
//! others.

use std::io::{self, Write};

use super::difference::write_diff;
use super::numbers::counted;
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
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
        writeln!(
            out,
            "\n{} {stale}\n  no twin differs there any more: take it out of snapshots/parity.json",
            Styled(BAD, "explained, but the same:")
        )?;
        unexplained += 1;
    }
    Ok(unexplained)
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
    writeln!(
        out,
        "{} {} and {}",
        Styled(HEADING, &parity.family),
        parity.first.name,
        parity.other.name
    )?;
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
            writeln!(out, "  {} in {count}: {reason}", Styled(NOTE, "explained"))?;
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
            writeln!(out, "    {}{}", comparison.case.id, Styled(QUIET, outcomes))?;
            if all || reason.is_none() {
                let expected = transcript::encode(&comparison.expected);
                let found = transcript::encode(&comparison.found);
                write_diff(out, &Diff::new(&expected, &found), "      ")?;
            }
        }
    }
    Ok(unexplained)
}
