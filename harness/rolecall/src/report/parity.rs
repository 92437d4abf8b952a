//! Twins side by side: in which cases they give the same prompt, and why not in the
//! others.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rolecall_model::Outcome;

use super::difference::{write_diff, write_whole_diff};
use super::numbers::{counted, thousands};
use super::screen;
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::wrapped;
use crate::diff::Diff;
use crate::parity::{Comparison, Explanations, Parity};
use crate::problem::shown;
use crate::source::unset_tokens;
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
    let (prompts, neither): (Vec<_>, Vec<_>) = same
        .into_iter()
        .partition(|comparison| comparison.is_same_prompt());
    writeln!(
        out,
        "  {} in {} of {}",
        Styled(
            if prompts.is_empty() { BAD } else { GOOD },
            "the same prompt"
        ),
        thousands(prompts.len()),
        counted(parity.comparisons.len(), "case", "cases")
    )?;
    if !neither.is_empty() {
        let count = thousands(neither.len());
        writeln!(
            out,
            "  {} in {count}",
            Styled(NOTE, "no prompt from either")
        )?;
    }
    // Of very few prompts something else is to be known first.
    if neither.len() > parity.comparisons.len() / 4 * 3 {
        write_refusals(out, parity, &neither)?;
    }
    let mut by_reason: Vec<(Option<&str>, Vec<&Comparison<'_>>)> = Vec::new();
    for comparison in different {
        let reason = explanations.reason(&parity.family, &comparison.case.id);
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, comparisons)) => comparisons.push(comparison),
            None => by_reason.push((reason, vec![comparison])),
        }
    }
    // Where no case gives a prompt there is nothing that the twins could have in common.
    let is_empty = parity.comparisons.is_empty();
    let mut unexplained = usize::from(!is_empty && neither.len() == parity.comparisons.len());
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

/// Writes why most cases give no prompt, in the words that most of them have in common.
fn write_refusals(
    out: &mut dyn Write,
    parity: &Parity<'_>,
    refused: &[&Comparison<'_>],
) -> io::Result<()> {
    let expected = refused.iter().map(|case| &case.expected).collect();
    let found = refused.iter().map(|case| &case.found).collect();
    let sides: [(_, Vec<&Outcome>); 2] = [(parity.first, expected), (parity.other, found)];
    for (twin, outcomes) in sides {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for outcome in outcomes {
            *counts.entry(outcome.text()).or_default() += 1;
        }
        if let Some((words, count)) = counts.into_iter().max_by_key(|(_, count)| *count) {
            let count = counted(count, "case", "cases");
            writeln!(out, "    {} in {count}: {}", twin.name, shown(words))?;
        }
        let unset: Vec<_> = unset_tokens(twin)
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        if !unset.is_empty() {
            let text = format!("it speaks of {}, which nothing sets", unset.join(" and "));
            writeln!(out, "      {}", Styled(NOTE, text))?;
        }
    }
    Ok(())
}
