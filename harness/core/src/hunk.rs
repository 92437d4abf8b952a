//! Hunks: the places in which a text differs from another one, as ranges of bytes.
//!
//! Lines are compared first, and then the words of lines that differ, because many templates are one
//! long line.

use crate::cut::Cut;
use std::ops::Range;

use similar::DiffOp;

use crate::diff::{operations, words};

/// Places with fewer visible bytes between them are one.
const NEAR: usize = 8;

/// A place in which two texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Its bytes in the old text.
    pub old: Range<usize>,
    /// Its bytes in the new text.
    pub new: Range<usize>,
}

impl Hunk {
    /// Moves what only one text has to the begin of a tag or of a line, if it could as well be there.
    /// The text before `end` in the old text belongs to others.
    fn settle(&mut self, [old, new]: [&str; 2], end: usize) {
        let (text, range) = match (self.old.is_empty(), self.new.is_empty()) {
            (false, true) => (old, &self.old),
            (true, false) => (new, &self.new),
            _ => return,
        };
        let (bytes, room) = (text.as_bytes(), self.old.start - end);
        let is_alike = |by: &usize| bytes[range.start - by] == bytes[range.end - by];
        let most = (1..=room.min(range.start)).take_while(is_alike).last();
        let is_begin = |by: &usize| {
            let at = range.start - by;
            let is_line = at == 0 || bytes[at - 1] == b'\n';
            let is_tag =
                || text.cut(at..).starts_with(['{', '<']) && !text.cut(..at).ends_with('{');
            text.is_char_boundary(at) && (is_line || is_tag())
        };
        if let Some(by) = (0..=most.unwrap_or(0)).find(is_begin) {
            for range in [&mut self.old, &mut self.new] {
                *range = range.start - by..range.end - by;
            }
        }
    }
}

/// The hunks between two texts in their order. If there would be more than `most`, those with the
/// least text between them become one.
pub fn hunks(old: &str, new: &str, most: usize) -> Vec<Hunk> {
    let lines = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let mut found: Vec<Hunk> = Vec::new();
    for changed in differing(&lines[0], &lines[1]) {
        // Only one side has lines, so there are no words to compare.
        if changed.old.is_empty() || changed.new.is_empty() {
            found.push(changed);
            continue;
        }
        let [gone, came] = [old.cut(changed.old.clone()), new.cut(changed.new.clone())];
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        let within = differing(&tokens(gone), &tokens(came)).into_iter();
        found.extend(within.map(|hunk| Hunk {
            old: moved(hunk.old, changed.old.start),
            new: moved(hunk.new, changed.new.start),
        }));
    }
    let mut end = 0;
    for hunk in &mut found {
        hunk.settle([old, new], end);
        end = hunk.old.end;
    }
    let gap = |one: &Hunk, next: &Hunk| {
        let between = old.cut(one.old.end..next.old.start).bytes();
        between.filter(|byte| !byte.is_ascii_whitespace()).count()
    };
    let mut gaps: Vec<usize> = found.windows(2).map(|two| gap(&two[0], &two[1])).collect();
    gaps.sort_unstable_by_key(|gap| std::cmp::Reverse(*gap));
    let widest = most.checked_sub(1).and_then(|at| gaps.get(at));
    let near = widest.map_or(NEAR, |gap| NEAR.max(gap + 1));
    let mut merged: Vec<Hunk> = Vec::new();
    for hunk in found {
        match merged.last_mut() {
            Some(last) if gap(last, &hunk) < near => {
                last.old.end = hunk.old.end;
                last.new.end = hunk.new.end;
            }
            _ => merged.push(hunk),
        }
    }
    merged
}

/// The places in which two texts differ, word by word.
pub fn changed_words(old: &str, new: &str) -> Vec<Hunk> {
    differing(&words(&[old]), &words(&[new]))
}

/// The words of a template, with each begin and end of a tag as one.
fn tokens(text: &str) -> Vec<&str> {
    // The longer ones come first: `{{` is also the beginning of `{{-`.
    const TAGS: [&str; 10] = [
        "{{-", "{%-", "-}}", "-%}", "{{", "{%", "{#", "}}", "%}", "#}",
    ];
    let (mut tokens, mut at) = (Vec::new(), 0);
    for word in words(&[text]) {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        // The words of a tag that was taken as one.
        if start < at {
            continue;
        }
        let tag = TAGS.iter().find(|tag| text.cut(start..).starts_with(*tag));
        at = start + tag.map_or(word.len(), |tag| tag.len());
        tokens.push(text.cut(start..at));
    }
    tokens
}

/// The places in which two lists of pieces differ, in bytes.
fn differing(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    let starts = |pieces: &[&str]| {
        let mut starts = vec![0];
        for piece in pieces {
            starts.push(starts[starts.len() - 1] + piece.len());
        }
        starts
    };
    let (old_starts, new_starts) = (starts(old), starts(new));
    let bytes = |starts: &[usize], range: Range<usize>| starts[range.start]..starts[range.end];
    let changed = operations(old, new).into_iter();
    let changed = changed.filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
    let hunk = |operation: DiffOp| Hunk {
        old: bytes(&old_starts, operation.old_range()),
        new: bytes(&new_starts, operation.new_range()),
    };
    changed.map(hunk).collect()
}

/// The new text with these hunks as they are in the old one. The hunks are in their order.
pub fn without<'h>(old: &str, new: &str, hunks: impl IntoIterator<Item = &'h Hunk>) -> String {
    let (mut text, mut at) = (String::with_capacity(new.len()), 0);
    for hunk in hunks {
        text.push_str(new.cut(at..hunk.new.start));
        text.push_str(old.cut(hunk.old.clone()));
        at = hunk.new.end;
    }
    text.push_str(new.cut(at..));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<'t>(old: &'t str, new: &'t str, most: usize) -> Vec<[&'t str; 2]> {
        let found = hunks(old, new, most).into_iter();
        found.map(|hunk| [&old[hunk.old], &new[hunk.new]]).collect()
    }

    #[test]
    fn a_long_line_has_a_hunk_for_each_place() {
        let old = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<model>";
        let new = old
            .replace(".content", ".content | trim")
            .replace("<model>", "<bot>");
        assert_eq!(texts(old, &new, 9), [["", "| trim "], ["model", "bot"]]);
        assert_eq!(texts(old, &new, 1).len(), 1);
        // A removed branch begins where it begins, also if its neighbour is alike.
        assert_eq!(
            texts("{% if a %}b{% endif %}{% if c %}d", "{% if c %}d", 9),
            [["{% if a %}b{% endif %}", ""]]
        );
        // What is added before a tag does not share its begin.
        let content = "{{ messages[0].content }}";
        let refusal = "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}";
        assert_eq!(
            texts(content, &format!("{refusal}{content}\u{A0}"), 9),
            [["", refusal], ["", "\u{A0}"]]
        );
        // A tag is replaced as a whole.
        assert_eq!(
            texts("{{ a }}{{ long_name }}", "{% b %}{{ long_name }}", 9),
            [["{{ a }}", "{% b %}"]]
        );
        // A word between two changes does not make two places of one.
        assert_eq!(
            texts("{{ m['role'] }}", "{{ m.role }}", 9),
            [["['role']", ".role"]]
        );
        assert_eq!(texts("a\nb\nc\n", "a\nc\n", 9), [["b\n", ""]]);
    }

    #[test]
    fn without_its_hunks_the_new_text_is_the_old_one() {
        for (old, new) in [
            ("a b c d e f g h", "a B c d e f g é H"),
            (
                "one\ntwo three four five six\n\nseven",
                "two three four fiv six\neight\n",
            ),
            ("", "all new"),
            ("é⟦U+00A0⟧ gone", ""),
        ] {
            for most in [1, 2, 9] {
                let all = hunks(old, new, most);
                assert!(all.len() <= most, "{all:?}");
                assert_eq!(without(old, new, &all), old);
                assert_eq!(without(old, new, []), new);
            }
        }
        let (old, new) = ("a ------------ b", "A ------------ B");
        let all = hunks(old, new, 9);
        assert_eq!(without(old, new, &all[1..]), "A ------------ b");
    }
}
