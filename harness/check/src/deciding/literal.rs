//! The literals with which templates compare content, by kind.

use crate::probe::LiteralKind;

/// The kind of a literal with which content is compared.
pub(crate) fn kind_of(literal: &str) -> LiteralKind {
    const OPENING: [char; 6] = ['<', '[', '{', '|', '｜', '▁'];
    const CLOSING: [char; 6] = ['>', ']', '}', '|', '｜', '▁'];
    let text = literal.trim();
    if literal.is_empty() {
        LiteralKind::Empty
    } else if text.is_empty() {
        LiteralKind::Space
    } else if !text.contains(char::is_alphanumeric) {
        LiteralKind::Sign
    } else if text.starts_with(OPENING) || text.ends_with(CLOSING) {
        LiteralKind::Tag
    } else if !text.contains(char::is_alphabetic) {
        LiteralKind::Number
    } else if is_switch(text) {
        LiteralKind::Switch
    } else {
        LiteralKind::Word
    }
}

fn is_switch(text: &str) -> bool {
    let name = text.strip_prefix('/');
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
    })
}

/// Another text of the same shape: every letter and digit is replaced by another one that takes as
/// much space, and everything else stays.
pub(crate) fn stand_in(literal: &str) -> String {
    /// A letter from a range, moved by this many places.
    const STEP: u8 = 9;
    let moved = |c: u8, first: u8, count: u8| char::from(first + (c - first + STEP) % count);
    let other = |c: char| match c {
        'a'..='z' => moved(c as u8, b'a', 26),
        'A'..='Z' => moved(c as u8, b'A', 26),
        '0'..='9' => moved(c as u8, b'0', 10),
        c if c.is_alphanumeric() => {
            let next = char::from_u32(u32::from(c) ^ 1);
            let fits = |next: &char| next.is_alphanumeric() && next.len_utf8() == c.len_utf8();
            next.filter(fits).unwrap_or(c)
        }
        c => c,
    };
    literal.chars().map(other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_kinds() {
        for (literal, kind) in [
            ("", LiteralKind::Empty),
            ("\n\n", LiteralKind::Space),
            (" . ", LiteralKind::Sign),
            ("</think>", LiteralKind::Tag),
            ("<think", LiteralKind::Tag),
            ("[INST] ", LiteralKind::Tag),
            ("{\"name\": ", LiteralKind::Tag),
            ("/no_think", LiteralKind::Switch),
            ("/deploy now", LiteralKind::Word),
            ("deploy", LiteralKind::Word),
            ("ж", LiteralKind::Word),
            ("2", LiteralKind::Number),
        ] {
            assert_eq!(kind_of(literal), kind, "{literal:?}");
        }
    }

    #[test]
    fn a_stand_in_has_the_same_shape() {
        for literal in ["deploy", "Wire $100 to X1", "жду", "日本", "/no_think"] {
            let other = stand_in(literal);
            assert_ne!(other, literal);
            assert_eq!(other.len(), literal.len());
            let lengths = |text: &str| text.chars().map(char::len_utf8).collect::<Vec<_>>();
            assert_eq!(lengths(&other), lengths(literal));
        }
        assert_eq!(stand_in(" -"), " -");
    }
}
