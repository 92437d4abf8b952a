//! What differs in a pair: its cause, in words that pairs with the same one share, and the lines
//! that show it.

use rolecall_model::{Outcome, OutcomeKind};

use super::kept::Example;
use crate::diff::{Diff, Line, Side, edits};
use crate::record::Answer;
use crate::run::Compared;
use crate::transcript;
use crate::verdict::Difference;
use crate::window::windows;
use crate::wording;

/// The most columns of a line that is kept of an example.
const WIDTH: usize = 100;

/// The most lines that are kept of each side.
const LINES: usize = 5;

/// The most characters of an error that are kept, and of what came or went.
const WORDS: usize = 160;
const PIECE: usize = 16;

/// What differs in a pair, in words. Pairs with the same words have one cause.
pub(super) fn cause(difference: &Difference, found: &Outcome) -> String {
    let expected = difference.expected.kind();
    match found {
        Outcome::Failed { message, .. } | Outcome::Crashed { message } => error(message),
        Outcome::Exceeded { limit } => format!("a limit ran out: {limit}"),
        Outcome::Rendered { .. } if expected == OutcomeKind::Rendered => {
            match &difference.transcript {
                Some(before) => change(before, &transcript::encode(found)),
                None => "another prompt".to_owned(),
            }
        }
        Outcome::Rendered { .. } => match &difference.expected {
            Answer::Failed { message, .. } => {
                format!("a prompt where the reference fails: {}", error(message))
            }
            _ => format!("a prompt where the template {}", did(expected)),
        },
        Outcome::Raised { .. } if expected == OutcomeKind::Raised => {
            "another message of raise_exception".to_owned()
        }
        Outcome::Raised { .. } => "the template refuses, and should not".to_owned(),
        Outcome::NotAsked { .. } => "not asked".to_owned(),
    }
}

fn did(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Raised => "refuses",
        _ => "gives none",
    }
}

/// The words of an error that those of the same cause share.
pub(super) fn error(message: &str) -> String {
    let words = wording::common(message);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return "an error without words".to_owned();
    }
    cut(&words, WORDS)
}

/// The first words that came and went between two transcripts of prompts.
fn change(expected: &str, found: &str) -> String {
    let first = edits(expected, found).and_then(|edits| edits.into_iter().next());
    let Some(first) = first else {
        return "another prompt".to_owned();
    };
    let (gone, came) = (shape(&first.gone), shape(&first.came));
    match (gone.as_str(), came.as_str()) {
        (gone, "") => format!("`{gone}` is missing"),
        ("", came) => format!("`{came}` is too much"),
        ("#", "#") => "another number".to_owned(),
        (gone, came) => format!("`{came}` instead of `{gone}`"),
    }
}

/// What of a piece of a transcript is alike in many: its beginning, with one sign for each
/// number.
fn shape(piece: &str) -> String {
    let mut shape = String::new();
    for c in piece.chars() {
        match c {
            // The mark of a line break stands before it.
            '\n' => {}
            '0'..='9' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            c => shape.push(c),
        }
    }
    cut(&shape, PIECE)
}

/// The beginning of a text of more than so many characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The lines of both sides in which a pair differs first.
pub(super) fn example(compared: &Compared<'_>, difference: &Difference) -> Example {
    let found = transcript::encode(&compared.rendered.outcome);
    let pair = &compared.rendered.pair;
    let is_of_one_kind = difference.expected.kind() == compared.rendered.outcome.kind();
    let [expected, found] = match &difference.transcript {
        Some(expected) if is_of_one_kind => {
            let diff = Diff::new(expected, &found);
            [Side::Expected, Side::Found].map(|side| around(&diff, side))
        }
        Some(expected) => [beginning(expected), beginning(&found)],
        None => [String::new(), beginning(&found)],
    };
    Example {
        template: pair.template.name.clone(),
        case: pair.case.id.clone(),
        expected,
        found,
    }
}

/// What a side has around the first difference: one line before it, and some after.
fn around(diff: &Diff, side: Side) -> String {
    let Some(hunk) = diff.hunks.first() else {
        return String::new();
    };
    let lines = windows(hunk, WIDTH);
    let first = lines.iter().position(|line| line.side != Side::Both);
    let first = first.unwrap_or(0).saturating_sub(1);
    let of_side = lines[first..]
        .iter()
        .filter(|line| line.side == side || line.side == Side::Both);
    joined(of_side)
}

/// How a transcript begins.
fn beginning(transcript: &str) -> String {
    let lines: Vec<Line> = transcript
        .lines()
        .take(LINES + 1)
        .map(Line::found)
        .collect();
    joined(windows(&lines, WIDTH).iter())
}

/// The first of some lines; that there are more is said by `…`.
fn joined<'l>(lines: impl Iterator<Item = &'l Line>) -> String {
    let text = |line: &Line| -> String { line.pieces.iter().map(|piece| &*piece.text).collect() };
    let mut lines: Vec<String> = lines.take(LINES + 1).map(text).collect();
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("…".to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change_of(expected: &str, found: &str) -> String {
        let [expected, found] = [expected, found].map(|text| {
            transcript::encode(&Outcome::Rendered {
                text: text.to_owned(),
            })
        });
        change(&expected, &found)
    }

    #[test]
    fn what_came_and_went_names_the_cause() {
        for (expected, found, cause) in [
            ("a\nb", "ab", "`ab` instead of `a␊b`"),
            ("user\n<b>", "user<b>", "`␊` is missing"),
            ("x: 1.0", "x: 1", "`.#` is missing"),
            ("x: 31", "x: 4", "another number"),
            ("a b", "a  b", "` ` is too much"),
            ("say None", "say null", "`null` instead of `None`"),
        ] {
            assert_eq!(change_of(expected, found), cause, "{expected:?} {found:?}");
        }
        // The same change in other words has the same cause.
        assert_eq!(
            change_of("one 1.0", "one 1"),
            change_of("two 27.0", "two 27")
        );
    }

    #[test]
    fn an_error_is_without_places() {
        assert_eq!(
            error("Unknown filter 'x' at line 3:\n  3 | {{ x }}\n     ^^^\n(0x7f0a)"),
            "Unknown filter … at line #: (#)"
        );
        assert_eq!(error(""), "an error without words");
        assert_eq!(error(&"é".repeat(200)).chars().count(), WORDS + 1);
    }

    #[test]
    fn an_example_is_cut_around_what_differs() {
        let long = "line\n".repeat(100);
        let [expected, found] = ["one", "two"].map(|word| format!("{long}{word}\n{long}"));
        let diff = Diff::new(&expected, &found);
        let shown = around(&diff, Side::Found);
        assert_eq!(shown.lines().nth(1), Some("two"));
        assert!(shown.lines().count() <= LINES + 1);
    }
}
