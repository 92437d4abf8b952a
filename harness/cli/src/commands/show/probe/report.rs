//! A probe for people: its conversation and the template's result.

use std::io::{self, Write};

use crate::report::card::{one_line, write_asked};
use crate::report::style::{QUIET, Styled};
use crate::report::wrapping::paragraph;
use crate::report::{screen, transcripts};
use rolecall_check::contract::Render;
use rolecall_check::probe::spaced;

/// Writes the conversation, then the transcript.
pub fn write(out: &mut dyn Write, render: &Render) -> io::Result<()> {
    write_asked(out, render, 0, screen::width())?;
    let entries = render.conversation.as_object().into_iter().flatten();
    for (name, value) in entries.filter(|(name, _)| *name != "messages") {
        let line = format!("  {name}: {}", one_line(&spaced(value)));
        let line = Styled(QUIET, line).to_string();
        paragraph(out, &line, 4)?;
    }
    writeln!(out)?;
    transcripts::write(out, &render.outcome)
}
