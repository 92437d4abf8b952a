//! A comparison as an HTML page.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use rolecall_core::Outcome;
use serde_json::{Value, json};

use crate::report::comparison::words;
use crate::report::html::{PageFile, diff, verdict};
use rolecall_core::diff::Diff;
use rolecall_core::transcript;
use rolecall_suite::comparison::{CaseGroup, Comparison, KeptCase, Relation};

const TITLE: &str = "Rolecall diff";

/// Writes a page of a comparison that has [kept](Comparison::keeping) its cases: the differences,
/// and for each case the outcomes of A and B.
pub fn write(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    let cases = cases(comparison);
    let mut file = PageFile::default();
    let mut templates = Vec::new();
    for (index, pairing) in comparison.pairings.iter().enumerate() {
        let kept = comparison.kept().iter();
        let by_case: HashMap<&str, &KeptCase> = kept
            .filter(|kept| kept.member.pairing == index)
            .map(|kept| (kept.member.case.as_str(), kept))
            .collect();
        let in_order = || {
            cases
                .iter()
                .map(|case| by_case.get(case.member.case.as_str()))
        };
        let letters: String = in_order()
            .map(|kept| kept.map_or('.', |kept| letter(kept.relation)))
            .collect();
        let pairs: Vec<Value> = in_order()
            .map(|kept| kept.map_or(Value::Null, |kept| pair(kept)))
            .collect();
        let change = pairing.card.as_ref().filter(|change| !change.is_empty());
        let chunk = file.add(&json!({"pairs": pairs, "change": change}))?;
        templates.push(json!({
            "name": comparison.name_of(pairing),
            "outcomes": letters,
            "states": "",
            "chunk": chunk,
        }));
    }
    let index = json!({
        "kind": "comparison",
        "verdict": verdict::of_comparison(&words::sentence(comparison.tally()), !comparison.differs()),
        "title": TITLE,
        "about": words::sentence(comparison.tally()),
        "sides": comparison.sides,
        "warning": words::warning(comparison),
        "only": words::only(comparison),
        "differences": groups(comparison, comparison.differences()),
        "failures": groups(comparison, comparison.failures()),
        "families": {},
        "cases": cases.iter().map(|case| json!({
            "id": case.member.case,
            "family": family(case),
            "about": case.about,
        })).collect::<Vec<_>>(),
        "templates": templates,
    });
    file.write(out, TITLE, &index)
}

/// Each case once, with the cases of a family together.
fn cases(comparison: &Comparison) -> Vec<&KeptCase> {
    let mut seen = HashSet::new();
    let kept = comparison.kept().iter();
    let mut cases: Vec<&KeptCase> = kept.filter(|kept| seen.insert(&kept.member.case)).collect();
    cases.sort_by_key(|kept| family(kept));
    cases
}

fn family(kept: &KeptCase) -> &str {
    let case = &kept.member.case;
    case.split_once('/').map_or(case, |(family, _)| family)
}

fn letter(relation: Relation) -> char {
    match relation {
        Relation::SamePrompt => 's',
        Relation::SameRefusal => 'u',
        Relation::BothFail => 'x',
        Relation::Differ => 'd',
    }
}

fn pair(kept: &KeptCase) -> Value {
    let [a, b] = &kept.outcomes;
    match kept.relation {
        Relation::SamePrompt | Relation::SameRefusal => side("A and B", b),
        Relation::BothFail => json!({"sides": [side("A", a), side("B", b)]}),
        Relation::Differ => {
            let [one, other] = [a, b].map(transcript::encode);
            let found = diff("A, and B", &Diff::of_sides(&one, &other));
            json!({"sides": [side("A", a), side("B", b)], "diffs": [found]})
        }
    }
}

fn side(name: &str, outcome: &Outcome) -> Value {
    let shown = transcript::encode(outcome);
    let (head, text) = shown.split_once('\n').unwrap_or((&shown, ""));
    json!({"name": name, "head": head, "transcript": text})
}

/// The groups of differences, each with the case to look at first.
fn groups(comparison: &Comparison, groups: &[CaseGroup]) -> Vec<Value> {
    let reported = groups.iter().filter_map(|group| {
        let first = group.members.first()?;
        let pairing = comparison.pairings.get(first.pairing)?;
        let [a, b] = &group.outcomes;
        let is_prompt = words::has_diff(group);
        Some(json!({
            "change": words::title(group),
            "source": words::source(group),
            "consequences": words::consequences(comparison, group),
            "count": group.members.len(),
            "template": comparison.name_of(pairing),
            "case": first.case,
            "about": group.about,
            "diff": is_prompt.then(|| diff("A, and B", &group.diff)),
            "first": words::edits(group).or_else(|| group.diff.first.clone()).filter(|_| is_prompt),
            "sides": (!is_prompt).then(|| [words::outcome(a), words::outcome(b)]),
        }))
    });
    reported.collect()
}
