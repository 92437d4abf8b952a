//! Twins side by side: in which cases they give the same prompt, and why not in the others.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::difference::{write_diff, write_whole_diff};
use super::numbers::{counted, thousands};
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::paragraph;
use rolecall_core::diff::Diff;
use rolecall_core::problem::shown;
use rolecall_core::transcript;
use rolecall_io::source::unset_tokens;
use rolecall_suite::comparison::{KeptCase, Relation};
use rolecall_suite::twins::{Explanations, TwinComparison, is_same};

/// How many cases with one reason, or without, are shown unless all are.
const MOST_SHOWN: usize = 20;

/// Writes how twins compare, with the unexplained differences, or with all of them if `all` is set.
pub fn write(
    out: &mut dyn Write,
    compared: &[TwinComparison<'_>],
    explanations: &Explanations,
    all: bool,
) -> io::Result<()> {
    for (index, twins) in compared.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_twins(out, twins, explanations, all)?;
    }
    for stale in explanations.stale(compared) {
        writeln!(out)?;
        let label = Styled(BAD, "explained, but the same:");
        paragraph(out, &format!("{label} {stale}"), 2)?;
        let help = "  no twin differs there any more: remove it from snapshots/twins.json";
        paragraph(out, help, 4)?;
    }
    write_close(out, compared, explanations.unexplained(compared))
}

/// Writes the last line, with the result for all twins.
fn write_close(
    out: &mut dyn Write,
    compared: &[TwinComparison<'_>],
    unexplained: usize,
) -> io::Result<()> {
    let kept = || {
        let compared = compared.iter();
        compared.flat_map(|twins| twins.comparison.kept())
    };
    let all = counted(kept().count(), "case", "cases");
    let is_prompt = |kept: &&KeptCase| kept.relation == Relation::SamePrompt;
    let same = thousands(kept().filter(is_prompt).count());
    let neither = kept().filter(|kept| is_same(kept) && kept.relation != Relation::SamePrompt);
    let neither = match neither.count() {
        0 => String::new(),
        count => format!(", no prompt from either in {}", thousands(count)),
    };
    let rest = match unexplained {
        0 => Styled(GOOD, "no difference is unexplained".to_owned()),
        count => Styled(
            BAD,
            counted(
                count,
                "difference is not explained",
                "differences are not explained",
            ),
        ),
    };
    let twins = counted(compared.len(), "twin", "twins");
    paragraph(
        out,
        &format!("\n{twins}: the same prompt in {same} of {all}{neither}; {rest}"),
        2,
    )
}

fn write_twins(
    out: &mut dyn Write,
    twins: &TwinComparison<'_>,
    explanations: &Explanations,
    all: bool,
) -> io::Result<()> {
    let all_kept = twins.comparison.kept();
    let prompts = twins.comparison.tally().same;
    let neither: Vec<&KeptCase> = all_kept
        .iter()
        .filter(|kept| is_same(kept) && kept.relation != Relation::SamePrompt)
        .collect();
    let (first, other) = (&twins.first.name, &twins.other.name);
    let family = Styled(HEADING, &twins.family);
    paragraph(out, &format!("{family} {first} and {other}"), 2)?;
    writeln!(
        out,
        "  {} in {} of {}",
        Styled(if prompts == 0 { BAD } else { GOOD }, "the same prompt"),
        thousands(prompts),
        counted(all_kept.len(), "case", "cases")
    )?;
    if !neither.is_empty() {
        let count = thousands(neither.len());
        writeln!(
            out,
            "  {} in {count}",
            Styled(NOTE, "no prompt from either")
        )?;
    }
    // If there are few prompts, the reason comes first.
    if neither.len() > all_kept.len() / 4 * 3 {
        write_refusals(out, twins, &neither)?;
    }
    let mut by_reason: Vec<(Option<&str>, Vec<&KeptCase>)> = Vec::new();
    for kept in twins.differing() {
        let reason = explanations.reason(&twins.family, &kept.member.case);
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, cases)) => cases.push(kept),
            None => by_reason.push((reason, vec![kept])),
        }
    }
    for (reason, cases) in by_reason {
        let count = counted(cases.len(), "case", "cases");
        if let Some(reason) = reason {
            let label = Styled(NOTE, "explained");
            paragraph(out, &format!("  {label} in {count}: {reason}"), 4)?;
        } else {
            writeln!(out, "  {} in {count}", Styled(BAD, "not explained"))?;
        }
        let shown = if all { usize::MAX } else { MOST_SHOWN };
        for kept in cases.iter().take(shown) {
            let [a, b] = &kept.outcomes;
            let outcomes = if a.kind() == b.kind() {
                String::new()
            } else {
                format!(" ({}, {})", a.kind(), b.kind())
            };
            let id = &kept.member.case;
            paragraph(out, &format!("    {id}{}", Styled(QUIET, outcomes)), 6)?;
            if all || reason.is_none() {
                let [a, b] = [a, b].map(transcript::encode);
                let write = if all { write_whole_diff } else { write_diff };
                write(out, &Diff::new(&a, &b), "      ")?;
            }
        }
        if let Some(rest @ [_, ..]) = cases.get(shown..) {
            let more = counted(rest.len(), "more case", "more cases");
            writeln!(out, "    … and {more}: --all shows them")?;
        }
    }
    Ok(())
}

/// Writes why most cases give no prompt, in the words of the most frequent refusals.
fn write_refusals(
    out: &mut dyn Write,
    twins: &TwinComparison<'_>,
    refused: &[&KeptCase],
) -> io::Result<()> {
    for (side, twin) in [twins.first, twins.other].into_iter().enumerate() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for kept in refused {
            *counts.entry(kept.outcomes[side].text()).or_default() += 1;
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
