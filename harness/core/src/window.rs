//! Windows: the part of a long line that differs.

use unicode_width::UnicodeWidthStr;

use crate::diff::{DiffLine, Piece, Side};

/// The mark for an omitted part.
const LEFT_OUT: &str = "…";

/// The lines of a hunk, each cut to `width`. A longer line is cut to the part around the
/// first difference from its counterpart on the other side.
pub fn windows(lines: &[DiffLine], width: usize) -> Vec<DiffLine> {
    let texts: Vec<String> = lines.iter().map(text).collect();
    let mut shown = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        if texts[index].width() <= width {
            shown.push(line.clone());
            continue;
        }
        let other = counterpart(lines, index).map(|other| texts[other].as_str());
        let differs_at = other.map_or(0, |other| common(&texts[index], other));
        shown.push(window(line, differs_at, width));
    }
    shown
}

fn text(line: &DiffLine) -> String {
    line.pieces
        .iter()
        .map(|piece| piece.text.as_str())
        .collect()
}

/// The index of a line's counterpart: the line at the same place on the other side of the
/// change.
fn counterpart(lines: &[DiffLine], index: usize) -> Option<usize> {
    let side = lines[index].side;
    if side == Side::Both {
        return None;
    }
    let changed = |line: &DiffLine| line.side != Side::Both;
    let begin = lines[..index]
        .iter()
        .rposition(|line| !changed(line))
        .map_or(0, |at| at + 1);
    let number = lines[begin..index]
        .iter()
        .filter(|line| line.side == side)
        .count();
    (begin..lines.len())
        .take_while(|at| changed(&lines[*at]))
        .filter(|at| lines[*at].side != side)
        .nth(number)
}

/// How many bytes two texts have in common at their beginning.
fn common(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    let same = pairs.take_while(|(one, other)| one == other);
    same.map(|(c, _)| c.len_utf8()).sum()
}

/// The part of a line around a byte of its text.
pub fn window(line: &DiffLine, differs_at: usize, width: usize) -> DiffLine {
    let marks: Vec<Mark<'_>> = marks(line);
    let whole: usize = marks.iter().map(|mark| mark.text.width()).sum();
    if whole <= width {
        return line.clone();
    }
    // Room for both marks, although a window at an end of the line needs only one: the width stays the
    // same.
    let room = width.saturating_sub(2 * LEFT_OUT.width()).max(1);
    let at = marks.partition_point(|mark| mark.end <= differs_at);
    // A third of the window shows what comes before, or more if the line ends soon.
    let wide = |marks: &[Mark<'_>]| marks.iter().map(|mark| mark.text.width()).sum::<usize>();
    let mut from = at.min(marks.len());
    let after = wide(&marks[from..])
        .min((room - room / 3).max(wide(&marks[from..marks.len().min(from + 1)])));
    while from > 0 && wide(&marks[from - 1..at]) <= room.saturating_sub(after) {
        from -= 1;
    }
    let mut to = from;
    let mut used = 0;
    while to < marks.len() && used + marks[to].text.width() <= room {
        used += marks[to].text.width();
        to += 1;
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut push = |text: &str, changed: bool| match pieces.last_mut() {
        Some(last) if last.changed == changed => last.text.push_str(text),
        _ => pieces.push(Piece {
            text: text.to_owned(),
            changed,
        }),
    };
    if from > 0 {
        push(LEFT_OUT, false);
    }
    for mark in &marks[from..to] {
        push(mark.text, mark.changed);
    }
    if to < marks.len() {
        push(LEFT_OUT, false);
    }
    DiffLine {
        side: line.side,
        pieces,
    }
}

/// A character as the transcript shows it: itself, or its code point in brackets.
struct Mark<'l> {
    text: &'l str,
    changed: bool,
    /// The byte of the line after it.
    end: usize,
}

fn marks(line: &DiffLine) -> Vec<Mark<'_>> {
    let mut marks = Vec::new();
    let mut end = 0;
    for piece in &line.pieces {
        let mut rest = piece.text.as_str();
        while let Some(first) = rest.chars().next() {
            let escaped = if first == '⟦' {
                rest.find('⟧').map(|at| at + '⟧'.len_utf8())
            } else {
                None
            };
            let (text, after) = rest.split_at(escaped.unwrap_or(first.len_utf8()));
            end += text.len();
            marks.push(Mark {
                text,
                changed: piece.changed,
                end,
            });
            rest = after;
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Diff;

    fn shown(old: &str, new: &str, width: usize) -> Vec<String> {
        let diff = Diff::new(old, new);
        let lines = windows(&diff.hunks.concat(), width);
        lines.iter().map(text).collect()
    }

    #[test]
    fn of_long_lines_the_difference_is_shown() {
        let before = "word ".repeat(100);
        let after = " more".repeat(100);
        let lines = shown(
            &format!("{before}one{after}\n"),
            &format!("{before}two{after}\n"),
            40,
        );
        assert_eq!(
            lines,
            [
                "…d word word one more more more more mo…",
                "…d word word two more more more more mo…"
            ]
        );
    }

    #[test]
    fn beginnings_and_ends_are_shown_as_such() {
        let long = "x".repeat(100);
        assert_eq!(
            shown(&format!("a{long}\n"), &format!("b{long}\n"), 12),
            ["axxxxxxxxx…", "bxxxxxxxxx…"]
        );
        let lines = shown(&format!("{long} a\n"), &format!("{long} b\n"), 12);
        assert_eq!(lines, ["…xxxxxxxx a", "…xxxxxxxx b"]);
        // What only one side has.
        let lines = shown(
            &format!("{long}\n"),
            &format!("{long}\u{27e6}U+00A0\u{27e7}\n"),
            12,
        );
        assert_eq!(lines, ["…xxxxxxxxxx", "…xx⟦U+00A0⟧"]);
    }

    #[test]
    fn no_window_is_wider_than_it_may_be() {
        for width in 3..50 {
            let old = format!("{}⟦U+200B⟧漢字{}\n", "a b ".repeat(20), "漢".repeat(50));
            let new = old.replace("⟦U+200B⟧", "⟦U+00A0⟧");
            for line in shown(&old, &new, width) {
                assert!(line.width() <= width.max(3), "{width}: {line}");
            }
        }
    }

    #[test]
    fn short_lines_are_as_they_were() {
        assert_eq!(shown("a\nb\n", "a\nc\n", 10), ["a", "b", "c"]);
    }
}
