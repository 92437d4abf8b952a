//! Differences between two transcripts, down to invisible characters.

use crate::cut::Cut;
use std::collections::HashMap;
use std::ops::Range;

use crate::outcome::Outcome;
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, group_diff_ops};

use crate::invisible::{describe, is_invisible};
use crate::transcript::{self, encode_char};

/// A comparison of two transcripts: lines with the parts that changed, and a sentence
/// that names the first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The lines of both, with a few unchanged ones around each change.
    pub hunks: Vec<Vec<DiffLine>>,
    /// The first difference in words: its place and the characters' names.
    pub first: Option<String>,
}

/// A line of a diff, cut into pieces where only a part of it differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// Which side it belongs to.
    pub side: Side,
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
}

/// A piece of a line: either both sides have it, or only one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The transcript's text, as it can be printed.
    pub text: String,
    /// Whether the other side has something else here.
    pub changed: bool,
}

/// A replacement of words by others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// The word that comes before.
    pub after: String,
    /// What only the first text has.
    pub gone: String,
    /// What only the second text has.
    pub came: String,
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

/// Lines of more words than this are shown without marks.
const MOST_WORDS: usize = 20_000;

impl Diff {
    /// Compares a transcript with the expected one. Its words say `expected` and `found`.
    pub fn new(expected: &str, found: &str) -> Diff {
        Diff::in_words(expected, found, ["expected", "found"])
    }

    /// Compares the transcripts of two sides, A and B; neither counts as correct.
    pub fn of_sides(a: &str, b: &str) -> Diff {
        Diff::in_words(a, b, ["A has", "B has"])
    }

    /// Compares two transcripts. `words` names the two sides in [`Diff::first`].
    fn in_words(expected: &str, found: &str, words: [&str; 2]) -> Diff {
        let old: Vec<&str> = expected.split_inclusive('\n').collect();
        let new: Vec<&str> = found.split_inclusive('\n').collect();
        let hunks = group_diff_ops(operations(&old, &new), CONTEXT)
            .iter()
            .map(|group| {
                let lines = group.iter().flat_map(|operation| {
                    let (old, new) = (&old[operation.old_range()], &new[operation.new_range()]);
                    lines_of(operation, old, new)
                });
                lines.collect()
            })
            .collect();
        Diff {
            hunks,
            first: first_difference(expected, found, words),
        }
    }

    /// The lines that only one side has, each after its sign.
    pub fn changed(&self) -> Vec<String> {
        let lines = self.to_string();
        let lines = lines.lines().skip(usize::from(self.first.is_some()));
        lines
            .filter(|line| line.starts_with(['-', '+']))
            .map(str::to_owned)
            .collect()
    }

    /// At most so many lines from its begin, and how many more there are.
    pub fn begin(&self, lines: usize) -> (Diff, usize) {
        let mut begin = self.clone();
        let (mut left, mut more) = (lines, 0);
        begin.hunks.retain_mut(|hunk| {
            let all = hunk.len();
            hunk.truncate(left);
            left -= hunk.len();
            more += all - hunk.len();
            !hunk.is_empty()
        });
        (begin, more)
    }
}

/// The edits that turn one text into another, word by word and across lines, each with its first
/// byte in the new text. None if the texts have too many words to compare.
pub fn edits(old: &str, new: &str) -> Option<Vec<(Edit, usize)>> {
    let begin = new.as_ptr().addr();
    let len = new.len();
    let (old, new) = (words(&[old]), words(&[new]));
    if old.len().max(new.len()) > MOST_WORDS {
        return None;
    }
    let operations = operations(&old, &new);
    let mut edits = Vec::new();
    let mut ends = (0, 0);
    for operation in &operations {
        if matches!(operation, DiffOp::Equal { .. }) {
            continue;
        }
        let (gone, came) = (operation.old_range(), operation.new_range());
        let start = gone.start;
        let next = (gone.end, came.end);
        let (gone, came, moved) = if gone.is_empty() {
            // It does not move over the edit before it: the edits stay in their order and apart.
            let settled = settle(&new, came.clone(), ends.1);
            (gone, settled.clone(), came.start.abs_diff(settled.start))
        } else if came.is_empty() {
            let settled = settle(&old, gone.clone(), ends.0);
            // The words between are the same in both.
            let at = (came.start + settled.start).saturating_sub(gone.start);
            (settled.clone(), at..at, start.abs_diff(settled.start))
        } else {
            (gone, came, 0)
        };
        let before = old[..start.saturating_sub(moved)].iter();
        let after = before.rev().find(|word| !word.trim().is_empty());
        let at = new
            .get(came.start)
            .map_or(len, |word| word.as_ptr().addr() - begin);
        let edit = Edit {
            after: after.copied().unwrap_or_default().to_owned(),
            gone: old[gone].concat(),
            came: new[came].concat(),
        };
        edits.push((edit, at));
        ends = next;
    }
    Some(edits)
}

/// Moves an insertion or a deletion to a fixed place. If it could be in several places, such as a
/// tag among other tags, it is the first at which it does not begin with the end of a tag. So equal
/// edits compare equal wherever they are made.
fn settle(words: &[&str], range: Range<usize>, first: usize) -> Range<usize> {
    let Range { mut start, mut end } = range;
    while start > first && end > start && words[start - 1] == words[end - 1] {
        start -= 1;
        end -= 1;
    }
    let is_end = |word: &str| matches!(word, ">" | "]" | "}" | ")" | "|");
    while end < words.len() && is_end(words[start]) && words[start] == words[end] {
        start += 1;
        end += 1;
    }
    start..end
}

/// The lines that an operation takes from both sides.
fn lines_of(operation: &DiffOp, old: &[&str], new: &[&str]) -> Vec<DiffLine> {
    let whole = |side, lines: &[&str]| {
        let pieces = lines.iter().map(|line| vec![(false, *line)]);
        pieces
            .map(|pieces| DiffLine::new(side, pieces))
            .collect::<Vec<_>>()
    };
    match operation {
        DiffOp::Equal { .. } => whole(Side::Both, old),
        DiffOp::Replace { .. } => marked(old, new)
            .unwrap_or_else(|| [whole(Side::Expected, old), whole(Side::Found, new)].concat()),
        DiffOp::Delete { .. } | DiffOp::Insert { .. } => {
            [whole(Side::Expected, old), whole(Side::Found, new)].concat()
        }
    }
}

/// The old and the new lines with the changed words marked. None if less than half of the
/// visible characters are the same.
fn marked(old: &[&str], new: &[&str]) -> Option<Vec<DiffLine>> {
    let (old, new) = (words(old), words(new));
    if old.len().max(new.len()) > MOST_WORDS {
        return None;
    }
    let operations = operations(&old, &new);
    // An escaped character counts as one.
    let visible = |words: &[&str]| -> usize {
        let length = |word: &&str| {
            if word.starts_with('⟦') {
                1
            } else {
                word.trim().len()
            }
        };
        words.iter().map(length).sum()
    };
    let same: usize = operations
        .iter()
        .filter(|operation| matches!(operation, DiffOp::Equal { .. }))
        .map(|operation| visible(&old[operation.old_range()]))
        .sum();
    if same < visible(&old).max(visible(&new)) / 2 {
        return None;
    }
    let mut lines = Vec::new();
    for (side, words, range) in [
        (
            Side::Expected,
            &old,
            DiffOp::old_range as fn(&DiffOp) -> Range<usize>,
        ),
        (Side::Found, &new, DiffOp::new_range),
    ] {
        let mut pieces = Vec::new();
        for operation in &operations {
            let changed = !matches!(operation, DiffOp::Equal { .. });
            for word in &words[range(operation)] {
                pieces.push((changed, *word));
                if *word == "\n" {
                    lines.push(DiffLine::new(side, std::mem::take(&mut pieces)));
                }
            }
        }
        if !pieces.is_empty() {
            lines.push(DiffLine::new(side, pieces));
        }
    }
    Some(lines)
}

/// The diff as plain text: where the texts differ first, then the lines that differ.
impl std::fmt::Display for Diff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(first) = &self.first {
            writeln!(f, "{first}")?;
        }
        for (index, hunk) in self.hunks.iter().enumerate() {
            if index > 0 {
                writeln!(f, "…")?;
            }
            for line in hunk {
                let sign = match line.side {
                    Side::Both => ' ',
                    Side::Expected => '-',
                    Side::Found => '+',
                };
                let pieces = line.pieces.iter().map(|piece| piece.text.as_str());
                writeln!(f, "{sign} {}", pieces.collect::<String>())?;
            }
        }
        Ok(())
    }
}

impl DiffLine {
    /// A line that is only on the found side.
    pub fn found(text: &str) -> DiffLine {
        DiffLine::new(Side::Found, vec![(false, text)])
    }

    /// A line without a counterpart, with a part of it marked.
    pub fn marked(before: &str, mark: &str, after: &str) -> DiffLine {
        DiffLine::new(
            Side::Both,
            vec![(false, before), (true, mark), (false, after)],
        )
    }

    /// A line of these texts, each with whether it changed; neighbours of one kind become
    /// one piece.
    fn new(side: Side, texts: Vec<(bool, &str)>) -> DiffLine {
        let mut pieces: Vec<Piece> = Vec::new();
        for (changed, text) in texts {
            let text = text.trim_end_matches('\n');
            match pieces.last_mut() {
                _ if text.is_empty() => {}
                Some(last) if last.changed == changed => last.text.push_str(text),
                _ => pieces.push(Piece {
                    text: text.to_owned(),
                    changed,
                }),
            }
        }
        DiffLine { side, pieces }
    }
}

/// Splits lines into runs of letters and digits, escaped characters, and single other
/// characters.
pub(crate) fn words<'text>(lines: &[&'text str]) -> Vec<&'text str> {
    let mut words = Vec::new();
    for line in lines {
        let mut rest = *line;
        while let Some(first) = rest.chars().next() {
            let inside = |c: char| c.is_alphanumeric() || c == '_';
            let end = if first == '⟦' {
                rest.find('⟧').map(|at| at + '⟧'.len_utf8())
            } else if inside(first) {
                Some(rest.find(|c| !inside(c)).unwrap_or(rest.len()))
            } else {
                None
            };
            let (word, after) = rest.split_at(end.unwrap_or(first.len_utf8()));
            words.push(word);
            rest = after;
        }
    }
    words
}

/// The operations that turn one sequence of texts into another.
pub(crate) fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    // Equal texts get equal numbers: so the comparison is compiled once, for numbers.
    let mut numbers = HashMap::new();
    let mut numbered = |texts: &[_]| -> Vec<usize> {
        let mut number = |text| {
            let next = numbers.len();
            *numbers.entry(text).or_insert(next)
        };
        texts.iter().map(|text: &&str| number(*text)).collect()
    };
    let (old, new) = (numbered(old), numbered(new));
    let (old, new) = (old.as_slice(), new.as_slice());
    // `Compact` gives changes that could be in several places a fixed one, and `Replace` joins a
    // deletion with the insertion next to it: only such pairs of lines get marks within them.
    let mut hook = Compact::new(Replace::new(Capture::new()), old, new);
    match myers::diff(&mut hook, old, 0..old.len(), new, 0..new.len()) {
        Ok(()) => hook.into_inner().into_inner().into_ops(),
        Err(never) => match never {},
    }
}

/// Names the first place where two outcomes differ, and the characters there.
fn first_difference(expected: &str, found: &str, words: [&str; 2]) -> Option<String> {
    let [old, new] = words;
    let (Ok(expected), Ok(found)) = (transcript::decode(expected), transcript::decode(found))
    else {
        return None;
    };
    // A place says nothing here: the words of a refusal and a prompt have no beginning in common.
    if expected.kind() != found.kind() {
        return Some(format!(
            "{old} {}, {new} {}",
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
    let line = expected.cut(..common).matches('\n').count() + 1;
    let start = expected.cut(..common).rfind('\n').map_or(0, |at| at + 1);
    let column = expected.cut(start..common).chars().count() + 1;
    let name = |text: &str| match text.cut(common..).chars().next() {
        None => "the end".to_owned(),
        Some(c) => named(c),
    };
    Some(format!(
        "first difference at byte {common}, line {line}, column {column}: {old} {}, {new} {}",
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
        Outcome::NotAsked { .. } => "no question".to_owned(),
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
    fn a_long_diff_begins_with_its_first_lines() {
        let diff = Diff::new("a\nb\nc\nd\ne\nf\ng\nh\n", "A\nb\nc\nd\ne\nf\ng\nH\n");
        let (begin, more) = diff.begin(5);
        assert_eq!([begin.hunks.len(), begin.hunks[1].len(), more], [2, 1, 3]);
        assert_eq!(diff.begin(8), (diff, 0));
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

    /// An inserted tag is reported whole, whatever surrounds it.
    #[test]
    fn an_edit_is_the_same_wherever_it_is_made() {
        let came = |old: &str, new: &str| -> Vec<String> {
            let edits = edits(old, new).unwrap();
            for (edit, at) in &edits {
                assert!(
                    edit.gone.is_empty() && new[*at..].starts_with(&edit.came),
                    "{edits:?}"
                );
            }
            edits.into_iter().map(|(edit, _)| edit.came).collect()
        };
        let tag = "<think></think>";
        for rest in ["I agree.<|end|>", "<|end|>", "<think>So</think>", ">"] {
            let old = format!("<|start|>assistant|>{rest}");
            let new = format!("<|start|>assistant|>{tag}{rest}");
            assert_eq!(came(&old, &new), [tag], "{rest}");
            let (gone, at) = edits(&new, &old).unwrap().remove(0);
            assert_eq!((gone.gone.as_str(), &old[at..]), (tag, rest));
        }
        let end = edits("é漢\n", "é漢").unwrap();
        assert_eq!(end[0].1, "é漢".len());
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
        assert_eq!(changed, [" ", "⟦U+00A0⟧"]);
    }

    /// Every line of a side is there in its order, whole, whatever is marked in it.
    #[test]
    fn lines_are_kept_whole() {
        let text = |lines: &[DiffLine], side| -> Vec<String> {
            lines
                .iter()
                .filter(|line| line.side == side || line.side == Side::Both)
                .map(|line| line.pieces.iter().map(|p| p.text.as_str()).collect())
                .collect()
        };
        for (old, new) in [
            ("a b c\nd e f\n", "a b x\nd e\nf\n"),
            ("same\n\nold\n", "same\n\nnew"),
            ("", "all new\nof it"),
            ("gone\n", ""),
            ("⟦U+00A0⟧ \u{27e6} a", "⟦U+00A0⟧ a\n\n\n"),
        ] {
            let diff = Diff::new(old, new);
            let lines = diff.hunks.concat();
            assert_eq!(
                text(&lines, Side::Expected),
                old.lines().collect::<Vec<_>>()
            );
            assert_eq!(text(&lines, Side::Found), new.lines().collect::<Vec<_>>());
            assert!(
                lines.iter().any(|line| line.side != Side::Both),
                "{old:?} {new:?}"
            );
        }
    }

    /// Lines that have little in common are not covered with marks.
    #[test]
    fn other_lines_are_not_marked() {
        let diff = Diff::new("one two three\n", "neither of those\n");
        assert!(diff.hunks[0].iter().all(|line| !line.pieces[0].changed));
    }
}
