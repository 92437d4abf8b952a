//! Parts of texts, cut without a panic.

use std::ops::{Bound, RangeBounds};

/// Cuts texts as `&text[range]` does, but never panics: see clippy's `string_slice`.
pub trait Cut {
    /// The bytes of a range. A bound within a character is the beginning of this character, a bound
    /// behind the text is its end, and a range that ends before it begins is empty.
    fn cut(&self, range: impl RangeBounds<usize>) -> &str;
}

impl Cut for str {
    fn cut(&self, range: impl RangeBounds<usize>) -> &str {
        let start = match range.start_bound() {
            Bound::Included(at) => *at,
            Bound::Excluded(at) => at + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(at) => at.saturating_add(1),
            Bound::Excluded(at) => *at,
            Bound::Unbounded => self.len(),
        };
        // A place that was computed for one text may be used for another, such as a template that was
        // changed in between: a part that is too short is better there than a panic.
        let [start, end] = [start, end].map(|at| self.floor_char_boundary(at));
        self.get(start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_of_every_text_is_cut() {
        let text = "aé问b";
        assert_eq!(
            [text.cut(..), text.cut(1..3), text.cut(3..), text.cut(..=0)],
            [text, "é", "问b", "a"]
        );
        // Within a character, behind the text, backwards.
        assert_eq!(
            [text.cut(..2), text.cut(2..4), text.cut(..=1), text.cut(5..)],
            ["a", "é", "a", "问b"]
        );
        assert_eq!(
            [
                text.cut(99..),
                text.cut(..99),
                text.cut(std::ops::Range { start: 3, end: 1 }),
                "".cut(1..2)
            ],
            ["", text, "", ""]
        );
        for start in 0..10 {
            for end in 0..10 {
                assert!(text.contains(text.cut(start..end)));
                assert_eq!(
                    text.get(start..end).unwrap_or(text.cut(start..end)),
                    text.cut(start..end)
                );
            }
        }
    }
}
