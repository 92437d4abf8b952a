//! Texts that all reports of a comparison share.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rolecall_core::{Outcome, OutcomeKind};

use crate::report::comparison::first_place::FirstPlace;
use crate::report::numbers::{counted, thousands};
use rolecall_core::problem::shown;
use rolecall_core::transcript::encode_char;
use rolecall_suite::comparison::{
    CaseGroup, CaseTally, Comparison, DegreeChange, FindingChange, GroupKind, Meaning, Member,
    Relation, lines_in_words,
};

/// How many characters of a refusal's message to show.
const MOST_OF_MESSAGE: usize = 400;

/// The difference in a group, in a few words: `another prompt`.
pub(crate) fn change(outcomes: &[Outcome; 2]) -> String {
    let [a, b] = outcomes;
    match (a.kind(), b.kind()) {
        (OutcomeKind::Rendered, OutcomeKind::Rendered) => "another prompt".to_owned(),
        (OutcomeKind::Raised, OutcomeKind::Raised) => {
            "both refuse, with different messages".to_owned()
        }
        (a, b) => format!("A {}, B {}", does(a), does(b)),
    }
}

fn does(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Rendered => "gives a prompt",
        OutcomeKind::Raised => "refuses",
        OutcomeKind::Failed => "fails",
        OutcomeKind::Exceeded => "exceeds a limit",
        OutcomeKind::Crashed => "crashes",
        OutcomeKind::NotAsked => "was not asked",
    }
}

/// What a side did, as a sentence without its full stop.
pub(crate) fn outcome(outcome: &Outcome) -> String {
    let words = |text: &str| {
        let start: String = text.chars().take(MOST_OF_MESSAGE).collect();
        let cut = if start.len() < text.len() { "…" } else { "" };
        shown(&start) + cut
    };
    match outcome {
        Outcome::Rendered { text } => format!("gives a prompt of {}", bytes(text.len())),
        Outcome::Raised { message } => format!("refuses: {}", words(message)),
        Outcome::Failed {
            stage,
            message,
            line,
        } => {
            let line = line.map_or_else(String::new, |line| format!(", line {line}"));
            format!("fails at {stage}{line}: {}", words(message))
        }
        Outcome::Exceeded { limit } => format!("exceeds the limit on {limit}"),
        Outcome::Crashed { message } => format!("crashes: {}", words(message)),
        Outcome::NotAsked { message } => format!("was not asked: {}", words(message)),
    }
}

fn bytes(count: usize) -> String {
    counted(count, "byte", "bytes")
}

/// Whether both sides gave a prompt, or both gave a message, so that a diff of them helps.
pub(crate) fn has_diff(group: &CaseGroup) -> bool {
    let [a, b] = &group.outcomes;
    a.kind() == OutcomeKind::Rendered
        && b.kind() == OutcomeKind::Rendered
        && Relation::of(a, b) == Relation::Differ
}

/// The counts with their words: always the number of cases that differ, the others only if they are
/// not zero.
pub(crate) fn counts(tally: CaseTally) -> Vec<(usize, &'static str)> {
    let all = [
        (tally.differ, "differs", "differ"),
        (tally.same, "gives the same prompt", "give the same prompt"),
        (
            tally.refuse,
            "is refused by both in the same words",
            "are refused by both in the same words",
        ),
        (tally.fail, "fails on both sides", "fail on both sides"),
    ];
    let some = all.into_iter().enumerate();
    some.filter(|(index, (count, ..))| *index == 0 || *count > 0)
        .map(|(_, (count, one, many))| (count, if count == 1 { one } else { many }))
        .collect()
}

/// The counts in a sentence: `12 of 661 cases differ, 640 give the same prompt`.
pub(crate) fn sentence(tally: CaseTally) -> String {
    let cases = counted(tally.count(), "case", "cases");
    let parts = counts(tally).into_iter().enumerate();
    let parts = parts.map(|(index, (count, words))| match index {
        0 if count == 0 => format!("None of {cases} differs"),
        0 => format!("{} of {cases} {words}", thousands(count)),
        _ => format!("{} {words}", thousands(count)),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// How many characters of an edit of a template to show.
const MOST_OF_SOURCE: usize = 120;

/// The title of a group: the difference, if it is the same in all cases, and the place of the edit
/// that makes it.
pub(crate) fn title(group: &CaseGroup) -> String {
    let Some(edit) = &group.edit else {
        return change(&group.outcomes);
    };
    let place = lines_in_words(&edit.lines);
    match group.kinds().as_slice() {
        [_] => format!("{}, by {place} of the template", change(&group.outcomes)),
        _ => format!("by {place} of the template"),
    }
}

/// What A and B have at the first place of an edit of the template. None for a side that has
/// nothing there.
pub(crate) fn source(group: &CaseGroup) -> [Option<String>; 2] {
    let side = |side: usize| {
        let text = group.edit.as_ref().map(|edit| edit.texts[side].as_str());
        let text = text.filter(|text| !text.is_empty());
        text.map(|text| short(text, MOST_OF_SOURCE))
    };
    [side(0), side(1)]
}

/// What else the edit of a group does, in a line for each kind of outcomes.
pub(crate) fn consequences(comparison: &Comparison, group: &CaseGroup) -> Vec<String> {
    let kinds = group.kinds();
    let others = kinds.iter().skip(1).map(|kind| {
        let cases = counted(kind.count, "case", "cases");
        let [a, b] = kind.outcomes;
        let said = match (a.kind(), b.kind()) {
            (_, OutcomeKind::Rendered) => String::new(),
            _ => format!(": B {}", outcome(b)),
        };
        let such = member(comparison, kind.member);
        format!("{} in {cases}, such as {such}{said}", change(kind.outcomes))
    });
    others.collect()
}

/// What a difference from the base means, in a line.
pub(crate) fn meaning(meaning: &Meaning) -> String {
    match meaning {
        Meaning::Breaks(ids) => format!("breaks {}", ids.join(", ")),
        Meaning::Fixes(ids) => format!("fixes {}", ids.join(", ")),
        Meaning::Differs => "differs: no contract says which of the two is right".to_owned(),
    }
}

/// How a template deviates from its base, in a sentence.
pub(crate) fn deviations(comparison: &Comparison) -> String {
    let [base, own] = [&comparison.sides[0], &comparison.sides[1]].map(|side| shown(side));
    let groups = comparison.differences();
    if groups.is_empty() {
        return format!("{own} gives every prompt of {base} that was asked for");
    }
    let count = |is_so: &dyn Fn(&CaseGroup) -> bool| groups.iter().filter(|one| is_so(one)).count();
    let of = |name: &str| {
        count(&|group| {
            let meaning = group.meaning.as_ref();
            group.known.is_none() && meaning.is_some_and(|meaning| meaning.name() == name)
        })
    };
    let parts = [
        (of("breaks"), "breaks a contract", "break a contract"),
        (of("differs"), "just differs", "just differ"),
        (
            of("mends"),
            "fixes what the base breaks",
            "fix what the base breaks",
        ),
        (
            count(&|group| group.known.is_some()),
            "is known",
            "are known",
        ),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, one, many)| {
            format!(
                "{} {}",
                thousands(count),
                if count == 1 { one } else { many }
            )
        })
        .collect();
    let count = counted(groups.len(), "difference", "differences");
    format!("{count} from {base}: {}", parts.join(", "))
}

/// A warning for the beginning, if little or nothing could be compared.
pub(crate) fn warning(comparison: &Comparison) -> Option<String> {
    let tally = comparison.tally();
    let all = counted(tally.count(), "case", "cases");
    let pairings = comparison.pairings.iter();
    let unset: BTreeSet<&str> = pairings.flat_map(|one| &one.unset).copied().collect();
    let fails = |kind: &GroupKind<'_>| {
        let mut outcomes = kind.outcomes.iter();
        outcomes.any(|outcome| outcome.kind() == OutcomeKind::Failed)
    };
    let groups = comparison.differences().iter().chain(comparison.failures());
    let kinds = groups.flat_map(CaseGroup::kinds).filter(fails);
    let failed: usize = kinds.map(|kind| kind.count).sum();
    let mut sentence = if comparison.all_fail() {
        format!("Nothing could be compared: both sides fail in all of {all}.")
    } else if tally.fail > tally.count() / 2 {
        let count = thousands(tally.fail);
        format!("Little could be compared: both sides fail in {count} of {all}.")
    } else if !unset.is_empty() && failed > tally.count() / 4 {
        format!("A or B fails in {} of {all}.", thousands(failed))
    } else {
        return None;
    };
    if let Some(token) = unset.first() {
        let names: Vec<String> = unset.iter().map(|name| format!("`{name}`")).collect();
        let _ = write!(
            sentence,
            " The templates speak of {}, which nothing sets: name the folder of the model, or \
             write \
             `{{\"special_tokens\": {{\"{token}\": \"…\"}}}}` into a file next to the template \
             that has its name and ends with .json.",
            names.join(" and ")
        );
    }
    Some(sentence)
}

/// Where a contract is broken, if that is not everywhere.
pub(crate) fn alone(change: &FindingChange) -> &'static str {
    if change.is_raw_only {
        ", on servers that pass conversations to the template unchanged"
    } else {
        ""
    }
}

/// A contract that both sides break: how bad it is for B, and how bad it was.
pub(crate) fn degree(change: &DegreeChange) -> String {
    let (severity, was) = (change.finding.severity, change.was);
    if severity == was {
        return severity.name().to_owned();
    }
    format!("{} instead of {}", severity.name(), was.name())
}

/// How many edits to put on a line.
const MOST_EDITS: usize = 4;
/// How many characters of an edit to show.
const MOST_OF_EDIT: usize = 40;

/// The removed and added words, if there is more than one edit.
pub(crate) fn edits(group: &CaseGroup) -> Option<String> {
    if group.edits.len() < 2 {
        return None;
    }
    let part = |sign: &str, text: &str| format!("{sign} `{}`", short(text, MOST_OF_EDIT));
    // Single quotes and brackets are what a diff by words leaves of a longer edit. The diff itself
    // shows them in their place.
    let is_word = |text: &str| text.chars().any(char::is_alphanumeric);
    let edits = &group.edits;
    if !edits
        .iter()
        .all(|edit| is_word(&edit.gone) || is_word(&edit.came))
    {
        return None;
    }
    let reported = group.edits.iter().take(MOST_EDITS).map(|edit| {
        let gone = (!edit.gone.is_empty()).then(|| part("-", &edit.gone));
        let came = (!edit.came.is_empty()).then(|| part("+", &edit.came));
        let parts: Vec<String> = gone.into_iter().chain(came).collect();
        parts.join(" ")
    });
    let mut reported: Vec<String> = reported.collect();
    let more = group.edits.len().saturating_sub(MOST_EDITS);
    if more > 0 {
        reported.push(format!("… and {}", counted(more, "more", "more")));
    }
    Some(reported.join(", "))
}

/// The begin of a text in one line, with marks for what cannot be seen.
fn short(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let start = text.chars().take(most);
    start.for_each(|c| encode_char(c, &mut shown));
    shown.retain(|c| c != '\n');
    if text.chars().count() > most {
        shown.push('…');
    }
    shown
}

/// What a window leaves out, in words.
pub(crate) fn more(window: &FirstPlace) -> Option<String> {
    let lines = counted(window.more_lines, "more changed line", "more changed lines");
    let places = counted(window.more_places, "more place", "more places");
    match (window.more_lines, window.more_places) {
        (0, 0) => None,
        (_, 0) => Some(format!("… and {lines}")),
        (0, _) => Some(format!("… and {places}")),
        _ => Some(format!("… and {lines} here, and {places}")),
    }
}

/// A case of a group, after the name of its template if there are several.
pub(crate) fn member(comparison: &Comparison, member: &Member) -> String {
    match comparison.pairings.get(member.pairing) {
        Some(pairing) if !comparison.is_single() => {
            format!("{} {}", comparison.name_of(pairing), member.case)
        }
        _ => member.case.clone(),
    }
}

/// How many templates to name below a difference.
const MOST_TEMPLATES: usize = 3;

/// The other cases of a group in sentences, one for each template. Each sentence has at most `most`
/// names, or all of them if `most` is `usize::MAX`.
pub(crate) fn others(comparison: &Comparison, group: &CaseGroup, most: usize) -> Vec<String> {
    let others = group.members.get(1..).unwrap_or_default();
    let runs: Vec<&[Member]> = others.chunk_by(|a, b| a.pairing == b.pairing).collect();
    let most_templates = if most == usize::MAX {
        most
    } else {
        MOST_TEMPLATES
    };
    let same = if group.parts.is_empty() {
        "the same in"
    } else {
        "also in"
    };
    let mut lines: Vec<String> = Vec::new();
    for run in runs.iter().take(most_templates) {
        let names = run.iter().take(most).map(|member| member.case.as_str());
        let mut line = names.collect::<Vec<_>>().join(", ");
        if let Some(more) = run.len().checked_sub(most).filter(|more| *more > 0) {
            let _ = write!(line, ", … and {} more", thousands(more));
        }
        let pairing = run.first().map(|member| member.pairing);
        let pairing = pairing.and_then(|index| comparison.pairings.get(index));
        lines.push(match pairing {
            Some(pairing) if !comparison.is_single() => {
                format!("{same} {}: {line}", comparison.name_of(pairing))
            }
            _ => format!("{same} {line}"),
        });
    }
    if let Some(rest @ [_, ..]) = runs.get(most_templates..) {
        let cases = rest.iter().map(|run| run.len()).sum();
        lines.push(format!(
            "… and in {} of {}",
            counted(cases, "more case", "more cases"),
            counted(rest.len(), "other template", "other templates"),
        ));
    }
    lines
}

/// What only one side has: the words with the count and the side, and the names.
pub(crate) fn only(comparison: &Comparison) -> Vec<(String, Vec<String>)> {
    let mut lines = Vec::new();
    for (index, side) in ["A", "B"].into_iter().enumerate() {
        let names = &comparison.only[index];
        if !names.is_empty() {
            let count = counted(names.len(), "template", "templates");
            lines.push((format!("only {side} has {count}"), names.clone()));
        }
        let cases: Vec<String> = comparison
            .pairings
            .iter()
            .flat_map(|pairing| {
                let name = comparison.name_of(pairing);
                let cases = pairing.only[index].iter();
                cases.map(move |case| {
                    if comparison.is_single() {
                        case.clone()
                    } else {
                        format!("{name} {case}")
                    }
                })
            })
            .collect();
        if !cases.is_empty() {
            let count = counted(cases.len(), "case", "cases");
            lines.push((format!("only {side} has {count}"), cases));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_a_sentence() {
        let tally = |same, refuse, fail, differ| CaseTally {
            same,
            refuse,
            fail,
            differ,
        };
        assert_eq!(
            sentence(tally(1000, 0, 2, 1)),
            "1 of 1,003 cases differs, 1,000 give the same prompt, 2 fail on both sides"
        );
        assert_eq!(
            sentence(tally(0, 1, 0, 0)),
            "None of 1 case differs, 1 is refused by both in the same words"
        );
    }
}
