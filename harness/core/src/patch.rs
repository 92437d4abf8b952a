//! Patches: the lines of a file that change, in the form that `patch` and `git apply` read.

use std::fmt::Write as _;
use std::ops::Range;

use similar::{DiffOp, group_diff_ops};

use crate::diff::operations;

/// Unchanged lines around a change. `diff -u` and `git diff` write as many, and `git apply` finds a
/// place by them after the file has changed.
const CONTEXT: usize = 3;

/// Lines of a file, and what takes their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    /// The lines that go, counted from 0. If there are none, the text is put before the line.
    pub lines: Range<usize>,
    /// The new lines, with their line endings.
    pub text: String,
}

/// The changes that turn one text into another, in their order.
pub fn changes(before: &str, after: &str) -> Vec<LineChange> {
    let (old, new) = (lines(before), lines(after));
    let changed = operations(&old, &new).into_iter();
    let changed = changed.filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
    changed
        .map(|operation| LineChange {
            lines: operation.old_range(),
            text: new[operation.new_range()].concat(),
        })
        .collect()
}

/// Where each line of the first text is in the second one. None for a line that was changed.
pub fn kept(before: &str, after: &str) -> Vec<Option<usize>> {
    let (old, new) = (lines(before), lines(after));
    let mut kept = vec![None; old.len()];
    for operation in operations(&old, &new) {
        if let DiffOp::Equal { .. } = operation {
            for (from, to) in operation.old_range().zip(operation.new_range()) {
                kept[from] = Some(to);
            }
        }
    }
    kept
}

/// The change of a file as a unified diff, whole. Empty if the texts are the same.
pub fn unified(name: &str, before: &str, after: &str) -> String {
    let (old, new) = (lines(before), lines(after));
    let mut out = String::new();
    for group in group_diff_ops(operations(&old, &new), CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        if out.is_empty() {
            let _ = write!(out, "--- {name}\n+++ {name}\n");
        }
        let olds = place(first.old_range().start..last.old_range().end);
        let news = place(first.new_range().start..last.new_range().end);
        let _ = writeln!(out, "@@ -{olds} +{news} @@");
        for operation in &group {
            let (gone, came) = (&old[operation.old_range()], &new[operation.new_range()]);
            let signs: &[(char, &[&str])] = match operation {
                DiffOp::Equal { .. } => &[(' ', gone)],
                _ => &[('-', gone), ('+', came)],
            };
            for (sign, lines) in signs {
                for line in *lines {
                    add(&mut out, *sign, line);
                }
            }
        }
    }
    out
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The lines of a hunk as `diff` writes them: the first one, and how many if there is not one.
fn place(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

/// Adds a line, and says so if nothing ends it.
fn add(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_a_unified_diff() {
        let lines: Vec<String> = (1..=12).map(|line| format!("line {line}\n")).collect();
        let before = lines.concat();
        let after = before
            .replace("line 2\n", "line two\n")
            .replace("line 12\n", "end");
        assert_eq!(
            unified("a.txt", &before, &after),
            "--- a.txt\n+++ a.txt\n@@ -1,5 +1,5 @@\n line 1\n-line 2\n+line two\n line 3\n line 4\n \
             line 5\n@@ -9,4 +9,4 @@\n line 9\n line 10\n line 11\n-line 12\n+end\n\\ No newline at \
             end of file\n"
        );
        assert_eq!(unified("a", "x\n", "x\n"), "");
        assert_eq!(unified("a", "", "x\n"), "--- a\n+++ a\n@@ -0,0 +1 @@\n+x\n");
    }

    #[test]
    fn changes_name_their_lines() {
        let change = |lines, text: &str| LineChange {
            lines,
            text: text.to_owned(),
        };
        assert_eq!(
            changes("a\nb\nc\n", "new\na\nB\nc\n"),
            [change(0..0, "new\n"), change(1..2, "B\n")]
        );
        assert_eq!(
            kept("a\nb\nc\n", "new\na\nB\nc\n"),
            [Some(1), None, Some(3)]
        );
    }
}
