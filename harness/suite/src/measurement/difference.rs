//! The example of a difference: the lines that show it.

use super::results::Example;
use crate::run::Compared;
use crate::verdict::Difference;
use rolecall_core::diff::{Diff, DiffLine, Side};
use rolecall_core::transcript;
use rolecall_core::window::windows;

/// The most columns of an example's line.
const WIDTH: usize = 100;

/// The most lines on each side of an example.
const LINES: usize = 5;

/// The lines around the first difference, on both sides.
pub(super) fn example(compared: &Compared<'_>, difference: &Difference) -> Example {
    let found = transcript::encode(&compared.rendered.outcome);
    let pair = &compared.rendered.pair;
    let is_of_one_kind = difference.expected.kind() == compared.rendered.outcome.kind();
    let [expected, found] = match &difference.transcript {
        Some(expected) if is_of_one_kind => {
            let diff = Diff::new(expected, &found);
            [Side::Expected, Side::Found].map(|side| around(&diff, side))
        }
        Some(expected) => [beginning(expected), beginning(&found)],
        None => [String::new(), beginning(&found)],
    };
    Example {
        template: pair.template.name.clone(),
        case: pair.case.id.clone(),
        expected,
        found,
    }
}

/// A side's lines around the first difference: one line before it, and some after.
fn around(diff: &Diff, side: Side) -> String {
    let Some(hunk) = diff.hunks.first() else {
        return String::new();
    };
    let lines = windows(hunk, WIDTH);
    let first = lines.iter().position(|line| line.side != Side::Both);
    let first = first.unwrap_or(0).saturating_sub(1);
    let of_side = lines
        .iter()
        .skip(first)
        .filter(|line| line.side == side || line.side == Side::Both);
    joined(of_side)
}

fn beginning(transcript: &str) -> String {
    let lines: Vec<DiffLine> = transcript
        .lines()
        .take(LINES + 1)
        .map(DiffLine::found)
        .collect();
    joined(windows(&lines, WIDTH).iter())
}

/// The first of some lines, with `…` if there are more.
fn joined<'l>(lines: impl Iterator<Item = &'l DiffLine>) -> String {
    let text =
        |line: &DiffLine| -> String { line.pieces.iter().map(|piece| &*piece.text).collect() };
    let mut lines: Vec<String> = lines.take(LINES + 1).map(text).collect();
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("…".to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_cut_around_what_differs() {
        let long = "line\n".repeat(100);
        let [expected, found] = ["one", "two"].map(|word| format!("{long}{word}\n{long}"));
        let diff = Diff::new(&expected, &found);
        let shown = around(&diff, Side::Found);
        assert_eq!(shown.lines().nth(1), Some("two"));
        assert!(shown.lines().count() <= LINES + 1);
    }
}
