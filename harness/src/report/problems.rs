//! Problems with input files, and findings of the lint.

use std::io::{self, Write};

use super::style::{BAD, QUIET, Styled};
use crate::problem::Problem;

/// Writes problems, one a paragraph of one or two lines.
pub fn write(out: &mut dyn Write, problems: &[Problem]) -> io::Result<()> {
    for problem in problems {
        write!(out, "{}", problem.path.display())?;
        if let Some(position) = problem.position {
            write!(out, ":{position}")?;
        }
        writeln!(out, ": {}", Styled(BAD, &problem.message))?;
        if let Some(help) = &problem.help {
            writeln!(out, "  {}", Styled(QUIET, help))?;
        }
    }
    Ok(())
}
