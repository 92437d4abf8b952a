//! Patterns that take far more steps than a text has characters.

use crate::inspection::finding::{Evidence, Finding, Rule};
use crate::inspection::sample::{samples, text_of};
use crate::inspection::trial::Bench;
use crate::pattern::search::Pattern;
use crate::pattern::tree::Tree;
use crate::stream::Limits;

/// The longest text that is tried.
const LONGEST: usize = 2_000;

/// A search with more steps is slow on [`LONGEST`] characters: the parser gives up. If the steps grow
/// only with the square of the length, there are fewer.
fn slow() -> u64 {
    Limits::default().steps
}

/// A search with fewer steps on half of the longest text is not slow.
const SUSPICIOUS: u64 = 1_000_000;

/// How many texts are tried for a pattern.
const TRIED: usize = 48;

/// One finding for each slow pattern.
pub(super) fn inspect(bench: &Bench<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let anchor = &bench.template.parts.anchor;
    findings.extend(finding(bench, None, anchor.key, &anchor.pattern));
    for field in bench.fields() {
        if bench.is_spent() {
            break;
        }
        let delimiters = [&field.open, &field.close].into_iter().flatten();
        let delimiters = delimiters.map(|delimiter| (delimiter.key, &delimiter.pattern));
        let inner = field.patterns.usable();
        let mut patterns = delimiters.chain(inner.map(|pattern| ("content_args", pattern)));
        findings.extend(
            patterns.find_map(|(key, pattern)| finding(bench, Some(&field.name), key, pattern)),
        );
    }
    findings
}

fn finding(
    bench: &Bench<'_>,
    field: Option<&str>,
    key: &'static str,
    pattern: &Pattern,
) -> Option<Finding> {
    let text = slow_text(bench, pattern)?;
    let of = field.map_or_else(String::new, |name| format!(" of `{name}`"));
    Some(Finding {
        rule: Rule::SlowPattern,
        field: field.map(str::to_owned),
        key: Some(key),
        message: format!(
            "a pattern in `{key}`{of} tries the same characters again and again before it gives up on a \
             text. rolecall-response then refuses the answer; Python's `regex` has no limit, and may \
             take minutes"
        ),
        help: "let no two repeats in a row, or one in the other, match the same characters: write \
               `\\s*(?:\\S.*?)?\\s*` and not `\\s*.*?\\s*`"
            .to_owned(),
        evidence: Evidence::Steps {
            text,
            steps: slow(),
        },
    })
}

/// A text on which a search takes too long, a short one if possible.
fn slow_text(bench: &Bench<'_>, pattern: &Pattern) -> Option<String> {
    let mut pumps = Vec::new();
    collect(pattern.tree(), &[], &mut pumps);
    pumps.truncate(TRIED);
    for (start, unit) in &pumps {
        // The last character fits nearly nowhere, so that the search has to try all ways.
        for end in ["", "\u{E000}", "<"] {
            let of = |length: usize| {
                let mut text = start.clone();
                let times = length.saturating_sub(start.len()) / unit.len();
                text.extend(unit.repeat(times));
                text.extend(end.chars().map(u32::from));
                text
            };
            let takes = |length, steps| {
                let has_enough = !bench.is_spent();
                let found = bench.search(pattern, &of(length), 0, false, steps);
                has_enough && found.is_none() && !bench.is_spent()
            };
            if !takes(LONGEST / 2, SUSPICIOUS) || !takes(LONGEST, slow()) {
                continue;
            }
            let mut shorter = [32, 64, 125, 250, 500, 1000].into_iter();
            let shortest = shorter.find(|length| takes(*length, slow()));
            return Some(text_of(&of(shortest.unwrap_or(LONGEST))));
        }
    }
    None
}

/// Texts to repeat, each with what comes before it: what a repeat repeats, after what leads to it,
/// and also that lead itself.
fn collect(tree: &Tree, before: &[u32], pumps: &mut Vec<(Vec<u32>, Vec<u32>)>) {
    if pumps.len() >= TRIED || before.len() > LONGEST / 2 {
        return;
    }
    match tree {
        Tree::Sequence(items) => {
            let mut before = before.to_vec();
            for item in items {
                collect(item, &before, pumps);
                before.extend(samples(item).into_iter().next().unwrap_or_default());
            }
        }
        Tree::Branch(branches) => {
            for branch in branches {
                collect(branch, before, pumps);
            }
        }
        Tree::Group(_, body)
        | Tree::Atomic(body)
        | Tree::Look {
            behind: false,
            body,
            ..
        } => collect(body, before, pumps),
        Tree::Repeat { most, body, .. } if most.is_none_or(|most| most > 20) => {
            let units = samples(body).into_iter().take(4);
            pumps.extend(
                units
                    .filter(|unit| !unit.is_empty())
                    .map(|unit| (before.to_vec(), unit)),
            );
            if !before.is_empty() {
                pumps.push((Vec::new(), before.to_vec()));
            }
            collect(body, before, pumps);
        }
        _ => {}
    }
}
