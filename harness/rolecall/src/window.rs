//! Windows: as much of a diff as is read at a glance.
//!
//! Of a diff only the first place is kept, with a line before and after it; of long lines
//! only what stands around their first difference. A prompt may well be one line of some
//! thousand characters.

use rolecall_model::OutcomeKind;
use unicode_width::UnicodeWidthStr;

use crate::diff::{Diff, Line, Piece, Side};

/// What stands where something was cut.
const CUT: &str = "…";

/// The first place in which two transcripts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The lines: what stands before, what changed, what stands after.
    pub lines: Vec<Line>,
    /// Changed lines in this place that are not shown, of both sides.
    pub more_lines: usize,
    /// Further places in which the transcripts differ.
    pub more_places: usize,
}

impl Window {
    /// The first place of a diff: at most `most` changed lines of each side, each with at
    /// most `reach` columns on either side of its first difference.
    pub fn of(diff: &Diff, reach: usize, most: usize) -> Window {
        let mut places = diff.hunks.iter().flat_map(|hunk| places(hunk));
        let Some(place) = places.next() else {
            return Window {
                lines: Vec::new(),
                more_lines: 0,
                more_places: 0,
            };
        };
        let offsets = offsets(place.changed);
        let mut lines = Vec::new();
        // The first line of a transcript only names the outcome.
        let before = place.before.filter(|line| !is_head(line));
        if let Some(before) = before {
            lines.push(around(before, 0, reach));
        }
        let mut more_lines = 0;
        for side in [Side::Expected, Side::Found] {
            let changed = place.changed.iter().zip(&offsets);
            let mut changed = changed.filter(|(line, _)| line.side == side);
            let shown = changed.by_ref().take(most);
            lines.extend(shown.map(|(line, at)| around(line, *at, reach)));
            more_lines += changed.count();
        }
        if more_lines == 0
            && let Some(after) = place.after
        {
            lines.push(around(after, 0, reach));
        }
        Window {
            lines,
            more_lines,
            more_places: places.count(),
        }
    }
}

/// Changed lines that stand together, with what stands around them.
struct Place<'d> {
    before: Option<&'d Line>,
    changed: &'d [Line],
    after: Option<&'d Line>,
}

/// The places in the lines of a hunk.
fn places(hunk: &[Line]) -> Vec<Place<'_>> {
    let runs = hunk.chunk_by(|a, b| (a.side == Side::Both) == (b.side == Side::Both));
    let runs: Vec<&[Line]> = runs.collect();
    let mut places = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        if run.first().is_some_and(|line| line.side != Side::Both) {
            let before = index.checked_sub(1).and_then(|index| runs.get(index));
            places.push(Place {
                before: before.and_then(|lines| lines.last()),
                changed: run,
                after: runs.get(index + 1).and_then(|lines| lines.first()),
            });
        }
    }
    places
}

/// The column at which each of some changed lines first differs from the line of the other
/// side that stands in its place.
fn offsets(lines: &[Line]) -> Vec<usize> {
    let of_side = |side| lines.iter().filter(move |line| line.side == side);
    let mut seen = [0, 0];
    let offset = |line: &Line| {
        let is_old = line.side == Side::Expected;
        let number = &mut seen[usize::from(!is_old)];
        let other = of_side(if is_old { Side::Found } else { Side::Expected }).nth(*number);
        *number += 1;
        if line.pieces.iter().any(|piece| piece.changed) {
            let same = line.pieces.iter().take_while(|piece| !piece.changed);
            return same.map(|piece| piece.text.width()).sum();
        }
        let other = other.map_or_else(String::new, text);
        let own = text(line);
        let same = units(&own).zip(units(&other)).take_while(|(a, b)| a == b);
        same.map(|(unit, _)| unit.width()).sum()
    };
    lines.iter().map(offset).collect()
}

fn is_head(line: &Line) -> bool {
    OutcomeKind::ALL
        .iter()
        .any(|kind| text(line) == kind.name())
}

fn text(line: &Line) -> String {
    let texts = line.pieces.iter().map(|piece| piece.text.as_str());
    texts.collect()
}

/// A line, cut to what stands around a column.
fn around(line: &Line, at: usize, reach: usize) -> Line {
    let all: usize = line.pieces.iter().map(|piece| piece.text.width()).sum();
    if all <= 2 * reach {
        return line.clone();
    }
    // What would be left over on one side is given to the other.
    let from = at.saturating_sub(reach).min(all.saturating_sub(2 * reach));
    let to = from + 2 * reach;
    let mut pieces: Vec<Piece> = Vec::new();
    let mut column = 0;
    for piece in &line.pieces {
        let mut kept = String::new();
        for unit in units(&piece.text) {
            let next = column + unit.width();
            if column >= from && next <= to {
                kept.push_str(unit);
            }
            column = next;
        }
        if !kept.is_empty() {
            pieces.push(Piece {
                text: kept,
                changed: piece.changed,
            });
        }
    }
    let cut = || Piece {
        text: CUT.to_owned(),
        changed: false,
    };
    if from > 0 {
        pieces.insert(0, cut());
    }
    if to < all {
        pieces.push(cut());
    }
    Line {
        side: line.side,
        pieces,
    }
}

/// The characters of a transcript; an escaped one is whole.
fn units(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let escaped = (first == '⟦').then(|| rest.find('⟧')).flatten();
        let end = escaped.map_or(first.len_utf8(), |at| at + '⟧'.len_utf8());
        let (unit, after) = rest.split_at(end);
        rest = after;
        Some(unit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(a: &str, b: &str, reach: usize) -> (Vec<String>, usize, usize) {
        let window = Window::of(&Diff::new(a, b), reach, 2);
        let lines = window.lines.iter().map(|line| {
            let sign = match line.side {
                Side::Both => ' ',
                Side::Expected => '-',
                Side::Found => '+',
            };
            format!("{sign}{}", text(line))
        });
        (lines.collect(), window.more_lines, window.more_places)
    }

    #[test]
    fn long_lines_are_cut_around_their_first_difference() {
        let text = |middle: &str| format!("{}{middle}{}", "a ".repeat(500), " z".repeat(500));
        let (lines, ..) = shown(&text("one"), &text("two"), 10);
        assert_eq!(
            lines,
            ["-…a a a a a one z z z …", "+…a a a a a two z z z …"]
        );
        // An escaped character is kept whole, or left out.
        let text = |end: &str| format!("{}⟦U+00A0⟧{end}", "a".repeat(50));
        let (lines, ..) = shown(&text("b"), &text("c"), 5);
        assert_eq!(lines, ["-…a⟦U+00A0⟧b", "+…a⟦U+00A0⟧c"]);
    }

    #[test]
    fn only_the_first_place_is_shown() {
        let old = "head\na\nb\nc\nd\nsame\nsame\nlast\n";
        let new = "head\nsame\nsame\nother\n";
        let (lines, more_lines, more_places) = shown(old, new, 60);
        assert_eq!(lines, [" head", "-a", "-b"]);
        assert_eq!((more_lines, more_places), (2, 1));
        assert_eq!(shown("a", "a", 60), (vec![], 0, 0));
    }
}
