//! The first place in which two transcripts differ: as much of a diff as people read at a glance.
//!
//! A summary of a diff keeps its first place, with a line before and after it. It cuts long lines
//! around their first difference, because a prompt may be one line of some thousand characters.

use rolecall_core::OutcomeKind;

use rolecall_core::diff::{Diff, DiffLine, Side};
use rolecall_core::window::windows;

/// The first place in which two transcripts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FirstPlace {
    /// The lines: the one before, the changed ones, the one after.
    pub(crate) lines: Vec<DiffLine>,
    /// How many changed lines in this place are not shown, on both sides.
    pub(crate) more_lines: usize,
    pub(crate) more_places: usize,
}

impl FirstPlace {
    /// The first place of a diff: at most `most` changed lines of each side, each with at
    /// most `reach` columns on either side of its first difference.
    pub(crate) fn of(diff: &Diff, reach: usize, most: usize) -> FirstPlace {
        let mut places = diff.hunks.iter().flat_map(|hunk| places(hunk));
        let Some(place) = places.next() else {
            return FirstPlace {
                lines: Vec::new(),
                more_lines: 0,
                more_places: 0,
            };
        };
        let mut lines: Vec<DiffLine> = Vec::new();
        // The first line of a transcript only names the outcome.
        let before = place.before.filter(|line| !is_head(line));
        lines.extend(before.cloned());
        let mut more_lines = 0;
        for side in [Side::Expected, Side::Found] {
            let mut changed = place.changed.iter().filter(|line| line.side == side);
            lines.extend(changed.by_ref().take(most).cloned());
            more_lines += changed.count();
        }
        if more_lines == 0 {
            lines.extend(place.after.cloned());
        }
        FirstPlace {
            lines: windows(&lines, 2 * reach),
            more_lines,
            more_places: places.count(),
        }
    }
}

/// Changed lines that follow each other, with their neighbours.
struct ChangedPlace<'d> {
    before: Option<&'d DiffLine>,
    changed: &'d [DiffLine],
    after: Option<&'d DiffLine>,
}

/// The places in the lines of a hunk.
fn places(hunk: &[DiffLine]) -> Vec<ChangedPlace<'_>> {
    let runs = hunk.chunk_by(|a, b| (a.side == Side::Both) == (b.side == Side::Both));
    let runs: Vec<&[DiffLine]> = runs.collect();
    let mut places = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        if run.first().is_some_and(|line| line.side != Side::Both) {
            let before = index.checked_sub(1).and_then(|index| runs.get(index));
            places.push(ChangedPlace {
                before: before.and_then(|lines| lines.last()),
                changed: run,
                after: runs.get(index + 1).and_then(|lines| lines.first()),
            });
        }
    }
    places
}

fn is_head(line: &DiffLine) -> bool {
    OutcomeKind::ALL
        .iter()
        .any(|kind| text(line) == kind.name())
}

fn text(line: &DiffLine) -> String {
    let texts = line.pieces.iter().map(|piece| piece.text.as_str());
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(a: &str, b: &str, reach: usize) -> (Vec<String>, usize, usize) {
        let window = FirstPlace::of(&Diff::new(a, b), reach, 2);
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
        assert_eq!(lines, ["-…a a a one z z z z …", "+…a a a two z z z z …"]);
        // An escaped character is kept whole or left out.
        let text = |end: &str| format!("{}⟦U+00A0⟧{end}", "a".repeat(50));
        let (lines, ..) = shown(&text("b"), &text("c"), 5);
        assert_eq!(lines, ["-…b", "+…c"]);
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
