//! Causes: what cases have in common in which two sides differ.

use std::collections::BTreeSet;

use rolecall_model::Outcome;

use crate::diff::{Diff, Edit, edits};

/// Visible characters of a change that say enough by themselves; before a shorter one
/// stands the word that it follows.
const TELLING: usize = 4;

/// What came and went between two prompts, each edit once; none where a side gave no prompt,
/// or where there are too many words to find out.
pub(super) fn edits_of(outcomes: &[Outcome; 2]) -> Vec<Edit> {
    let [Outcome::Rendered { text: a }, Outcome::Rendered { text: b }] = outcomes else {
        return Vec::new();
    };
    let visible = |text: &str| text.trim().chars().count();
    let mut seen = BTreeSet::new();
    let mut edits = edits(a, b).unwrap_or_default();
    for edit in &mut edits {
        if visible(&edit.gone) + visible(&edit.came) >= TELLING {
            edit.after.clear();
        }
    }
    edits.retain(|edit| seen.insert(edit.clone()));
    edits
}

/// What two outcomes differ by. Cases with the same cause are told once: those in which the
/// same words came and went, however often, and those in which a side gave no prompt for
/// the same reason.
pub(super) fn of(outcomes: &[Outcome; 2], edits: &[Edit], diff: &Diff) -> String {
    let [a, b] = outcomes;
    match (a, b) {
        (Outcome::Rendered { .. }, Outcome::Rendered { .. }) if edits.is_empty() => {
            diff.first.clone().unwrap_or_default()
        }
        (Outcome::Rendered { .. }, Outcome::Rendered { .. }) => {
            let edits: BTreeSet<_> = edits.iter().collect();
            format!("{edits:?}")
        }
        (Outcome::Rendered { .. }, other) | (other, Outcome::Rendered { .. }) => {
            format!("{:?} {:?} {}", a.kind(), b.kind(), refusal(other))
        }
        _ => of_failures(outcomes),
    }
}

/// Why both sides gave no prompt.
pub(super) fn of_failures(outcomes: &[Outcome; 2]) -> String {
    let [a, b] = outcomes;
    let (kinds, words) = ((a.kind(), b.kind()), (refusal(a), refusal(b)));
    format!("{kinds:?} {words:?}")
}

fn refusal(outcome: &Outcome) -> String {
    let place = match outcome {
        Outcome::Failed { stage, line, .. } => format!("{stage} {line:?} "),
        _ => String::new(),
    };
    place + outcome.text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::encode;

    fn cause(a: &str, b: &str) -> String {
        let outcomes = [a, b].map(|text| Outcome::Rendered { text: text.into() });
        let [a, b] = &outcomes;
        let diff = Diff::of_sides(&encode(a), &encode(b));
        of(&outcomes, &edits_of(&outcomes), &diff)
    }

    #[test]
    fn the_same_change_is_one_cause_however_often_it_is_made() {
        let turn = |word: &str, name: &str| format!("<|{name}|>user {word}</s>\n");
        let once = cause(&turn("Hello there", "start"), &turn("Hello there", "open"));
        let twice = |name| turn("One more thing", name) + &turn("And another one", name);
        assert_eq!(once, cause(&twice("start"), &twice("open")));
        assert_ne!(
            once,
            cause(&turn("Hello there", "open"), &turn("Hello there", "start"))
        );
    }

    #[test]
    fn a_change_of_one_character_has_another_cause_after_another_word() {
        let after = |a: &str, gap: &str| format!("<|start|>{a}{gap}and all of the rest");
        let user = cause(&after("user", " "), &after("user", "  "));
        assert_ne!(user, cause(&after("system", " "), &after("system", "  ")));
    }
}
