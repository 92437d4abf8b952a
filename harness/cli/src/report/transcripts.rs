//! Transcripts for people.

use std::io::{self, Write};
use std::path::Path;

use rolecall_core::{Outcome, OutcomeKind, Template};

use super::style::{self, HEADING, QUIET, Styled};
use rolecall_core::transcript;
use rolecall_io::template_file::place;
use rolecall_suite::run::Rendered;
use rolecall_suite::suite::Pair;

/// Writes one transcript, with its marks in a quiet colour.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let text = transcript::encode(outcome);
    let (header, body) = text.split_once('\n').unwrap_or((&text, ""));
    writeln!(
        out,
        "{}",
        Styled(style::named(style::of_outcome(outcome.kind())), header)
    )?;
    for line in body.lines() {
        let (text, mark) = match line.char_indices().next_back() {
            Some((at, '␊' | transcript::END)) => line.split_at(at),
            _ => (line, ""),
        };
        writeln!(out, "{text}{}", Styled(QUIET, mark))?;
    }
    Ok(())
}

/// Writes only the bytes of a prompt, or of the message if there is no prompt.
pub fn write_raw(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    out.write_all(outcome.text().as_bytes())
}

/// Writes that a pair agrees with its reference.
pub fn write_agreement(out: &mut dyn Write, reference: &str) -> io::Result<()> {
    writeln!(out, "the same as {reference}")
}

/// Writes that a pair agrees with its accepted snapshot.
pub fn write_accepted(out: &mut dyn Write, snapshot: &Path) -> io::Result<()> {
    writeln!(out, "the same as the snapshot in {}", snapshot.display())
}

/// Writes a transcript below the name of its pair, and an empty line.
pub fn write_named(out: &mut dyn Write, rendered: &Rendered<'_>) -> io::Result<()> {
    write_heading(out, &rendered.pair)?;
    write(out, &rendered.outcome)?;
    writeln!(out)
}

/// Writes the name of a pair.
pub fn write_heading(out: &mut dyn Write, pair: &Pair<'_>) -> io::Result<()> {
    let name = format!("{} {}", pair.template.name, pair.case.id);
    writeln!(out, "{}", Styled(HEADING, name))
}

/// Writes which of a model's templates the front chose, if it is not the default one.
pub fn write_choice(out: &mut dyn Write, chosen: &Template) -> io::Result<()> {
    let text = format!("rendered with {}", place(chosen, None));
    writeln!(out, "{}", Styled(QUIET, text))
}

/// Writes the line of the template at which an engine gave up, if the engine reported it.
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
