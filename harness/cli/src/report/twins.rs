//! Twins side by side: in which cases they give the same prompt, and why not in the others.

use std::collections::BTreeMap;
use std::io::{self, Write};

use minijinja::{Value, context};

use super::difference::{write_diff, write_whole_diff};
use super::text::{text, written};
use rolecall_core::diff::Diff;
use rolecall_core::problem::shown;
use rolecall_core::transcript;
use rolecall_io::settings::unset_tokens;
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
    let kept = || compared.iter().flat_map(|twins| twins.comparison.kept());
    let twins = compared
        .iter()
        .map(|twins| twins_data(twins, explanations, all));
    let twins: io::Result<Vec<Value>> = twins.collect();
    text!(out, include_str!("twins.txt"), {
        twins => twins?,
        stale => explanations.stale(compared),
        same => kept().filter(|kept| kept.relation == Relation::SamePrompt).count(),
        all => kept().count(),
        neither => kept().filter(|kept| is_neither(kept)).count(),
        unexplained => explanations.unexplained(compared),
    })
}

/// Whether both twins refuse, in the same way.
fn is_neither(kept: &KeptCase) -> bool {
    is_same(kept) && kept.relation != Relation::SamePrompt
}

fn twins_data(
    twins: &TwinComparison<'_>,
    explanations: &Explanations,
    all: bool,
) -> io::Result<Value> {
    let kept = twins.comparison.kept();
    let neither: Vec<&KeptCase> = kept.iter().filter(|kept| is_neither(kept)).collect();
    // If there are few prompts, the reason comes first.
    let has_few = neither.len() > kept.len() / 4 * 3;
    let sides = [twins.first, twins.other].into_iter().enumerate();
    let sides = sides.filter(|_| has_few).map(|(side, twin)| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for kept in &neither {
            *counts.entry(kept.outcomes[side].text()).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        let unset = unset_tokens(twin);
        context! {
            name => twin.name.as_str(),
            words => most.map(|(words, _)| shown(words)),
            count => most.map(|(_, count)| count),
            unset => unset.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>(),
        }
    });
    let mut by_reason: Vec<(Option<&str>, Vec<&KeptCase>)> = Vec::new();
    for kept in twins.differing() {
        let reason = explanations.reason(&twins.family, &kept.member.case);
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, cases)) => cases.push(kept),
            None => by_reason.push((reason, vec![kept])),
        }
    }
    let most = if all { usize::MAX } else { MOST_SHOWN };
    let reasons = by_reason.into_iter().map(|(why, cases)| {
        let shown = cases
            .iter()
            .take(most)
            .map(|kept| case(kept, all, all || why.is_none()));
        let shown: io::Result<Vec<Value>> = shown.collect();
        Ok(context! {
            why,
            count => cases.len(),
            cases => shown?,
            more => cases.len().saturating_sub(most),
        })
    });
    let reasons: io::Result<Vec<Value>> = reasons.collect();
    Ok(context! {
        family => &twins.family,
        first => twins.first.name.as_str(),
        other => twins.other.name.as_str(),
        prompts => twins.comparison.tally().same,
        all => kept.len(),
        neither => neither.len(),
        refusals => sides.collect::<Value>(),
        reasons => reasons?,
    })
}

/// A case in which twins differ.
fn case(kept: &KeptCase, is_whole: bool, has_diff: bool) -> io::Result<Value> {
    let [a, b] = &kept.outcomes;
    let outcomes = (a.kind() != b.kind()).then(|| format!(" ({}, {})", a.kind(), b.kind()));
    let write = if is_whole {
        write_whole_diff
    } else {
        write_diff
    };
    let diff = || {
        let [a, b] = [a, b].map(transcript::encode);
        written(|out| write(out, &Diff::new(&a, &b), "      "))
    };
    Ok(context! {
        id => &kept.member.case,
        outcomes => outcomes.unwrap_or_default(),
        diff => if has_diff { diff()? } else { String::new() },
    })
}
