//! Why a template cannot be read, with the line of the error.

use std::io::{self, Write};

use super::screen;
use super::style::{BAD, QUIET, Styled};
use super::wrapping::paragraph;
use rolecall_core::diff::DiffLine;
use rolecall_core::problem::shown;
use rolecall_core::transcript::encode_char;
use rolecall_core::window::window;
use rolecall_io::syntax_error::SyntaxError;

/// Writes the error with its place and its line. Of a long line, only the part around the place is
/// shown.
pub fn write(out: &mut dyn Write, error: &SyntaxError) -> io::Result<()> {
    let message = shown(&error.message);
    let text = format!("{} {}: {message}", Styled(BAD, "error"), error.place);
    paragraph(out, &text, 2)?;
    if let Some(help) = error.help {
        paragraph(out, &format!("  {help}"), 2)?;
    }
    let Some(source) = &error.source else {
        return Ok(());
    };
    let visible = |text: &mut dyn Iterator<Item = char>| {
        let mut line = String::new();
        text.for_each(|c| encode_char(c, &mut line));
        line
    };
    let before = error.column.map_or(0, |column| column.saturating_sub(1));
    let at = visible(&mut source.chars().take(before)).len();
    let line = DiffLine::found(&visible(&mut source.chars()));
    let line = window(&line, at, screen::width().saturating_sub(4));
    let text: String = line.pieces.into_iter().map(|piece| piece.text).collect();
    writeln!(out, "    {}", Styled(QUIET, text.trim_start()))
}
