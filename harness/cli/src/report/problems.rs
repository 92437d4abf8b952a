//! Problems with input files, notes on them, and findings of the lint.

use std::collections::HashMap;
use std::io::{self, Write};

use super::numbers::counted;
use super::screen;
use super::style::{BAD, QUIET, Styled};
use super::wrapping::wrapped;
use rolecall_core::problem::{Note, Problem, shown, shown_path};

/// Writes problems, each as a paragraph of one or two lines.
pub fn write(out: &mut dyn Write, problems: &[Problem]) -> io::Result<()> {
    for problem in problems {
        let place = problem
            .position
            .map_or_else(String::new, |place| place.to_string());
        let path = shown_path(&problem.path);
        let words = Styled(BAD, shown(&problem.message));
        message(out, &format!("{path}{place}: {words}"), 4)?;
        if let Some(help) = &problem.help {
            message(out, &format!("  {}", Styled(QUIET, shown(help))), 2)?;
        }
    }
    Ok(())
}

/// A message, in lines that fit the terminal.
fn message(out: &mut dyn Write, text: &str, hang: usize) -> io::Result<()> {
    writeln!(out, "{}", wrapped(text, screen::of_messages(), hang))
}

/// How many files to name that have the same problem.
const MOST_NAMED: usize = 5;

/// How many different problems to write. Nobody reads more, and each line of a log may have one.
const MOST_WRITTEN: usize = 1_000;

/// Writes problems as [`write()`] does. If many files share a problem, names the first few and
/// counts the others.
pub fn write_shared(out: &mut dyn Write, problems: &[Problem]) -> io::Result<()> {
    let mut groups: Vec<Vec<&Problem>> = Vec::new();
    let mut known = HashMap::new();
    for problem in problems {
        // A list of groups beside the map keeps the order in which the problems were found.
        let index = *known
            .entry((&problem.message, &problem.help))
            .or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
        groups[index].push(problem);
    }
    for group in groups.iter().take(MOST_WRITTEN) {
        let [first, others @ ..] = group.as_slice() else {
            continue;
        };
        write(out, std::slice::from_ref(*first))?;
        let named = others.len().min(MOST_NAMED);
        for other in &others[..named] {
            let place = other
                .position
                .map_or_else(String::new, |place| place.to_string());
            writeln!(out, "  the same: {}{place}", shown_path(&other.path))?;
        }
        let more = others.len() - named;
        if more > 0 {
            let more = counted(more, "more file", "more files");
            writeln!(out, "  … and in {more}")?;
        }
    }
    match groups.len().saturating_sub(MOST_WRITTEN) {
        0 => Ok(()),
        more => writeln!(
            out,
            "… and {}",
            counted(more, "more problem", "more problems")
        ),
    }
}

/// Writes notes, one on a line; nothing if the user wants only errors.
pub fn write_notes(out: &mut dyn Write, notes: &[Note]) -> io::Result<()> {
    if screen::is_quiet() {
        return Ok(());
    }
    for note in notes {
        let text = format!("note: {note}");
        message(out, &Styled(QUIET, &text).to_string(), 2)?;
    }
    Ok(())
}
