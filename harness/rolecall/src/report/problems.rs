//! Problems with input files, notes on them, and findings of the lint.

use std::io::{self, Write};

use super::style::{BAD, QUIET, Styled};
use crate::problem::{Note, Problem, shown, shown_path};

/// Writes problems, one a paragraph of one or two lines.
pub fn write(out: &mut dyn Write, problems: &[Problem]) -> io::Result<()> {
    for problem in problems {
        write!(out, "{}", shown_path(&problem.path))?;
        if let Some(place) = problem.position {
            write!(out, "{place}")?;
        }
        writeln!(out, ": {}", Styled(BAD, &shown(&problem.message)))?;
        if let Some(help) = &problem.help {
            writeln!(out, "  {}", Styled(QUIET, &shown(help)))?;
        }
    }
    Ok(())
}

/// Writes notes, one a line.
pub fn write_notes(out: &mut dyn Write, notes: &[Note]) -> io::Result<()> {
    for note in notes {
        let text = format!("note: {note}");
        writeln!(out, "{}", Styled(QUIET, &text))?;
    }
    Ok(())
}
