//! Excerpts: the place in a prompt that shows a defect.

use std::io::{self, Write};
use std::ops::Range;

use rolecall_core::{Cut, Outcome};
use unicode_width::UnicodeWidthStr;

use super::difference::{diff_line, write_lines};
use super::style::{BAD, Styled};
use rolecall_check::contract::Evidence;
use rolecall_core::diff::{DiffLine, Piece, Side};
use rolecall_core::transcript::{END, encode_char};
use rolecall_core::window::window;

/// Writes the line of the prompt that shows the defect, with the place marked below it, or the
/// first lines in which two prompts differ. Writes nothing if no place is known. Of lines wider
/// than `width`, only the part around the place is shown.
pub(crate) fn write(
    out: &mut dyn Write,
    evidence: &Evidence,
    indent: &str,
    width: usize,
) -> io::Result<()> {
    if let (Some(at), [one]) = (&evidence.at, evidence.renders.as_slice())
        && let Outcome::Rendered { text } = &one.outcome
    {
        return write_marked(out, text, at, indent, width);
    }
    if evidence.parts_at.is_none() {
        return Ok(());
    }
    let Some(diff) = evidence.diff() else {
        return Ok(());
    };
    let changed = diff.hunks.iter().flatten();
    let changed = changed.skip_while(|line| line.side == Side::Both);
    let changed: Vec<&DiffLine> = changed.take_while(|line| line.side != Side::Both).collect();
    let of = |side| changed.iter().find(|line| line.side == side);
    let first = [of(Side::Expected), of(Side::Found)].into_iter().flatten();
    let first: Vec<DiffLine> = first.map(|line| (*line).clone()).collect();
    write_lines(out, &first, indent, width)
}

/// How many times the width of the screen is looked at on each side of a place.
const NEAR: usize = 4;

/// Writes a line of a text, and marks some of its bytes below it.
pub(crate) fn write_marked(
    out: &mut dyn Write,
    text: &str,
    at: &Range<usize>,
    indent: &str,
    width: usize,
) -> io::Result<()> {
    let (Some(before), Some(mark), Some(after)) = (
        text.get(..at.start),
        text.get(at.clone()),
        text.get(at.end..),
    ) else {
        return Ok(());
    };
    // The marked part ends at the end of its line.
    let before = before.rsplit('\n').next().unwrap_or_default();
    let (mark, after) = match mark.split_inclusive('\n').next() {
        Some(first) if first.ends_with('\n') => (first, None),
        _ => (mark, after.split_inclusive('\n').next().or(Some(""))),
    };
    // Of a long line, only what is near the place can be shown.
    let near = width.saturating_mul(NEAR);
    let far = before.char_indices().rev().nth(near);
    let before = far.map_or(before, |(at, c)| before.cut(at + c.len_utf8()..));
    let after = after.map(|after| match after.char_indices().nth(near) {
        Some((far, _)) => after.cut(..far),
        None => after,
    });
    let visible = |text: &str| {
        let mut line = String::new();
        text.chars().for_each(|c| encode_char(c, &mut line));
        line
    };
    let (before, mark) = (visible(before), visible(mark));
    let after = after.map_or_else(String::new, |after| {
        let end = if after.ends_with('\n') {
            None
        } else {
            Some(END)
        };
        visible(after).chars().chain(end).collect()
    });
    let line = DiffLine::marked(&before, &mark, &after);
    // As wide as a difference's sign and space, which these lines do not have.
    let line = window(&line, before.len(), width.saturating_sub(indent.len() + 2));
    let pieces = || line.pieces.iter();
    let marked = pieces().position(|piece| piece.changed).unwrap_or_default();
    let wide = |pieces: &mut dyn Iterator<Item = &Piece>| -> usize {
        pieces.map(|piece| piece.text.width()).sum()
    };
    let start = wide(&mut pieces().take(marked));
    let length = wide(&mut pieces().filter(|piece| piece.changed)).max(1);
    writeln!(out, "{indent}{}", diff_line(&line))?;
    let carets = Styled(BAD, "^".repeat(length));
    writeln!(out, "{indent}  {:start$}{carets}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, mark: &str, width: usize) -> String {
        let at = text.find(mark).unwrap();
        let mut out = Vec::new();
        write_marked(&mut out, text, &(at..at + mark.len()), "", width).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn the_place_is_marked_below_its_line() {
        assert_eq!(
            marked("one\na None b\ntwo", "None", 60),
            "  a None b␊\n    ^^^^\n"
        );
        assert_eq!(marked("a None", "None", 60), "  a None␃\n    ^^^^\n");
        // Wide characters, and invisible ones.
        assert_eq!(
            marked("漢\u{a0}None", "None", 60),
            "  漢⟦U+00A0⟧None␃\n            ^^^^\n"
        );
        // A mark over several lines ends with the first one.
        assert_eq!(marked("ab\n\ncd", "b\n\nc", 60), "  ab␊\n   ^^\n");
    }

    #[test]
    fn of_long_lines_the_part_around_the_place_is_shown() {
        let text = format!("{}None{}", "before ".repeat(30), " after".repeat(30));
        let shown = marked(&text, "None", 40);
        let (line, carets) = shown.trim_end().split_once('\n').unwrap();
        assert!(line.width() <= 40 && line.contains("None"), "{shown}");
        let column = |text: &str, word: &str| text[..text.find(word).unwrap()].width();
        assert_eq!(column(line, "None"), column(carets, "^^^^"), "{shown}");
    }
}
