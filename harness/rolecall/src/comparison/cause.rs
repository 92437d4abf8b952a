//! Causes: what cases have in common in which two sides differ.

use std::collections::BTreeSet;

use rolecall_model::Outcome;

use crate::diff::{Diff, Line, Side};

/// Visible characters of a change that say enough by themselves; before a shorter one
/// stands the word that it follows.
const TELLING: usize = 4;

/// What two outcomes differ by. Cases with the same cause are told once: those in which the
/// same words came and went, however often, and those in which a side gave no prompt for
/// the same reason.
pub(super) fn of(outcomes: &[Outcome; 2], diff: &Diff) -> String {
    let [a, b] = outcomes;
    match (a, b) {
        (Outcome::Rendered { .. }, Outcome::Rendered { .. }) => words(diff),
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

/// The words that came and went.
fn words(diff: &Diff) -> String {
    let lines = diff.hunks.iter().flatten();
    let changed = lines.filter(|line| line.side != Side::Both);
    let words: BTreeSet<String> = changed.flat_map(words_of).collect();
    words.into_iter().collect::<Vec<_>>().join("\n")
}

fn words_of(line: &Line) -> Vec<String> {
    let is_marked = line.pieces.iter().any(|piece| piece.changed);
    let mut before = "";
    let mut words = Vec::new();
    for piece in &line.pieces {
        if piece.changed || !is_marked {
            let visible = piece.text.trim().chars().count();
            let context = if visible < TELLING { before } else { "" };
            words.push(format!("{:?} {context}|{}", line.side, piece.text));
        }
        before = last_word(&piece.text);
    }
    words
}

fn last_word(text: &str) -> &str {
    let end = text.trim_end();
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let kept = end.trim_end_matches(|c: char| !inside(c));
    let start = kept.rfind(|c| !inside(c)).map_or(0, |at| {
        at + kept[at..].chars().next().map_or(0, char::len_utf8)
    });
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::encode;

    fn cause(a: &str, b: &str) -> String {
        let outcomes = [a, b].map(|text| Outcome::Rendered { text: text.into() });
        let [a, b] = &outcomes;
        let diff = Diff::of_sides(&encode(a), &encode(b));
        of(&outcomes, &diff)
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
