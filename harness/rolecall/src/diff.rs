//! What differs between two transcripts, down to the characters that nobody sees.

use rolecall_model::Outcome;
use similar::{ChangeTag, TextDiff};

use crate::invisible::{describe, is_invisible};
use crate::transcript::{self, encode_char};

/// A comparison of two transcripts: lines with the parts that changed, and a sentence
/// that names the first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The lines of both, with a few unchanged ones around each change.
    pub hunks: Vec<Vec<Line>>,
    /// Where the texts part, in words: the place and the characters' names.
    pub first: Option<String>,
}

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Which side it belongs to.
    pub side: Side,
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The transcript's text, as it can be printed.
    pub text: String,
    /// Whether the other side has something else here.
    pub changed: bool,
}

/// Which side a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Both sides have it.
    Both,
    /// Only what was expected has it.
    Expected,
    /// Only what was found has it.
    Found,
}

/// Unchanged lines around a change.
const CONTEXT: usize = 2;

impl Diff {
    /// Compares two transcripts.
    pub fn new(expected: &str, found: &str) -> Diff {
        let diff = TextDiff::from_lines(expected, found);
        let hunks = diff
            .grouped_ops(CONTEXT)
            .iter()
            .map(|group| {
                group
                    .iter()
                    .flat_map(|op| diff.iter_inline_changes(op))
                    .map(|change| Line {
                        side: match change.tag() {
                            ChangeTag::Equal => Side::Both,
                            ChangeTag::Delete => Side::Expected,
                            ChangeTag::Insert => Side::Found,
                        },
                        pieces: change
                            .iter_strings_lossy()
                            .map(|(changed, text)| Piece {
                                text: text.trim_end_matches('\n').to_owned(),
                                changed,
                            })
                            .filter(|piece| !piece.text.is_empty())
                            .collect(),
                    })
                    .collect()
            })
            .collect();
        Diff {
            hunks,
            first: first_difference(expected, found),
        }
    }
}

/// Names the place where two outcomes of one kind part, and the characters there.
fn first_difference(expected: &str, found: &str) -> Option<String> {
    let (Ok(expected), Ok(found)) = (transcript::decode(expected), transcript::decode(found))
    else {
        return None;
    };
    if expected.kind() != found.kind() {
        return Some(format!(
            "expected {}, found {}",
            with_article(&expected),
            with_article(&found)
        ));
    }
    let (expected, found) = (expected.text(), found.text());
    let common: usize = expected
        .chars()
        .zip(found.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    if common == expected.len() && common == found.len() {
        return None;
    }
    let line = expected[..common].matches('\n').count() + 1;
    let start = expected[..common].rfind('\n').map_or(0, |at| at + 1);
    let column = expected[start..common].chars().count() + 1;
    let name = |text: &str| match text[common..].chars().next() {
        None => "the end".to_owned(),
        Some(c) => named(c),
    };
    Some(format!(
        "first difference at byte {common}, line {line}, column {column}: expected {}, found {}",
        name(expected),
        name(found)
    ))
}

fn with_article(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Rendered { .. } => "a prompt".to_owned(),
        Outcome::Raised { .. } => "a refusal by the template".to_owned(),
        Outcome::Failed { stage, .. } => format!("a failure at {stage}"),
        Outcome::Exceeded { limit } => format!("the limit on {limit}"),
        Outcome::Crashed { .. } => "a crash".to_owned(),
    }
}

/// A character in a sentence: itself, and its name where it cannot be seen or is not
/// ASCII and so may have a twin that looks the same.
fn named(c: char) -> String {
    if c == ' ' || is_invisible(c) {
        return describe(c);
    }
    let mut shown = String::new();
    encode_char(c, &mut shown);
    if c.is_ascii() {
        format!("`{shown}`")
    } else {
        format!("`{shown}` ({})", describe(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::encode;

    fn first(expected: &str, found: &str) -> String {
        let rendered = |text: &str| {
            encode(&Outcome::Rendered {
                text: text.to_owned(),
            })
        };
        Diff::new(&rendered(expected), &rendered(found))
            .first
            .unwrap()
    }

    #[test]
    fn invisible_characters_have_names() {
        assert_eq!(
            first("<|im_start|>assistant\n", "<|im_start|>assistant"),
            "first difference at byte 21, line 1, column 22: expected U+000A LINE FEED, found the end"
        );
        assert_eq!(
            first("a\nb c", "a\nb\u{A0}c"),
            "first difference at byte 3, line 2, column 2: expected U+0020 SPACE, found U+00A0 NO-BREAK SPACE"
        );
        assert_eq!(
            first("\u{e9}", "e\u{301}"),
            "first difference at byte 0, line 1, column 1: expected `é` (U+00E9), found `e`"
        );
        assert_eq!(
            first("a\r\n", "a\n"),
            "first difference at byte 1, line 1, column 2: expected U+000D CARRIAGE RETURN, found U+000A LINE FEED"
        );
    }

    #[test]
    fn an_outcome_of_another_kind_is_named() {
        let rendered = encode(&Outcome::Rendered { text: "a".into() });
        let raised = encode(&Outcome::Raised {
            message: "a".into(),
        });
        assert_eq!(
            Diff::new(&rendered, &raised).first.unwrap(),
            "expected a prompt, found a refusal by the template"
        );
        assert!(Diff::new(&rendered, &rendered).hunks.is_empty());
    }

    #[test]
    fn changed_pieces_are_marked() {
        let diff = Diff::new("rendered\none two\n␃", "rendered\none⟦U+00A0⟧two\n␃");
        let changed: Vec<_> = diff.hunks[0]
            .iter()
            .flat_map(|line| &line.pieces)
            .filter(|piece| piece.changed)
            .map(|piece| piece.text.as_str())
            .collect();
        assert!(changed.concat().contains("U+00A0"), "{changed:?}");
    }
}
