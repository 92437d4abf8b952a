//! Transcripts, for a person.

use std::io::{self, Write};

use rolecall_model::{Outcome, OutcomeKind, Template};

use super::style::{self, HEADING, QUIET, Styled};
use crate::run::Rendered;
use crate::template_file::place;
use crate::transcript;

/// Writes one transcript, its marks in quiet colour.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let text = transcript::encode(outcome);
    let (header, body) = text.split_once('\n').unwrap_or((&text, ""));
    writeln!(out, "{}", Styled(style::of_outcome(outcome.kind()), header))?;
    for line in body.lines() {
        let (text, mark) = match line.char_indices().next_back() {
            Some((at, '␊' | transcript::END)) => line.split_at(at),
            _ => (line, ""),
        };
        writeln!(out, "{text}{}", Styled(QUIET, mark))?;
    }
    Ok(())
}

/// Writes a transcript under the name of its pair, and an empty line.
pub fn write_named(out: &mut dyn Write, rendered: &Rendered<'_>) -> io::Result<()> {
    let pair = &rendered.pair;
    let name = format!("{} {}", pair.template.name, pair.case.id);
    writeln!(out, "{}", Styled(HEADING, name))?;
    write(out, &rendered.outcome)?;
    writeln!(out)
}

/// Writes which of a model's templates was taken, where that is not the usual one.
pub fn write_choice(out: &mut dyn Write, chosen: &Template) -> io::Result<()> {
    let text = format!("rendered with {}", place(chosen, None));
    writeln!(out, "{}", Styled(QUIET, text))
}

/// Writes the line of the template at which an engine gave up, if it said which.
pub fn write_place(out: &mut dyn Write, template: &Template, outcome: &Outcome) -> io::Result<()> {
    if let Outcome::Failed {
        line: Some(line), ..
    } = outcome
        && outcome.kind() == OutcomeKind::Failed
        && let Some(source) = template.source.lines().nth(line.saturating_sub(1))
    {
        writeln!(out, "{}", Styled(QUIET, place(template, Some(*line))))?;
        writeln!(out, "  {}", source.trim())?;
    }
    Ok(())
}
