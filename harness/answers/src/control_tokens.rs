//! What looks like a control token in a text, without a vocabulary.

use rolecall_core::Cut;
use std::ops::Range;

/// Tokens that no other form has: those of `MiniMax`.
const UNUSUAL: [&str; 5] = ["]~b]", "[e~[", "]~!b[", "]!p~[", "]!d~["];

/// What looks like a control token: `<|…|>`, `<…>` and `[…]` around a word without
/// spaces. Each is there as often as in the text, in the order of the text.
pub fn control_tokens_in(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    control_token_places(text).map(|place| text.cut(place))
}

/// Where such tokens are in a text.
pub fn control_token_places(text: &str) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let opens = text
        .char_indices()
        .filter(|(_, c)| matches!(c, '<' | '[' | ']'));
    opens.filter_map(|(at, open)| {
        let unusual = UNUSUAL
            .iter()
            .find(|token| text.cut(at..).starts_with(**token));
        if let Some(token) = unusual {
            return Some(at..at + token.len());
        }
        if open == ']' {
            return None;
        }
        let close = if open == '<' { '>' } else { ']' };
        let rest = text.cut(at..);
        let end = rest.find(close)?;
        let inside = rest.cut(1..end);
        let is_word = !inside.is_empty()
            && inside.len() <= 40
            && inside
                .chars()
                .all(|c| c.is_alphanumeric() || "|_/-｜▁:".contains(c))
            && inside.chars().any(char::is_alphabetic);
        let is_token = is_word && (open == '<' || inside.chars().all(|c| !c.is_lowercase()));
        is_token.then_some(at..at + end + 1)
    })
}

/// The beginnings of an opening that open a turn, too, the longest first: what comes before the
/// first reasoning, for example.
pub(crate) fn beginnings(opening: &str) -> impl Iterator<Item = &str> {
    let later = control_token_places(opening).skip(1);
    let ends = later.flat_map(|place| [place.start, place.end]);
    let ends: Vec<usize> = ends.filter(|end| *end < opening.len()).collect();
    ends.into_iter().rev().map(|end| opening.cut(..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_token_is_a_word_in_brackets() {
        let text = "<|im_end|> <b c> [INST] [inst] ]~b]x</s><> [1]<｜end▁of▁sentence｜>";
        let found: Vec<_> = control_tokens_in(text).collect();
        let expected = [
            "<|im_end|>",
            "[INST]",
            "]~b]",
            "</s>",
            "<｜end▁of▁sentence｜>",
        ];
        assert_eq!(found, expected);
        assert_eq!(control_token_places(text).next(), Some(0..10));
    }
}
