//! A contract's page, on a terminal.

use std::io::{self, Write};

use super::card::style_of;
use super::screen;
use super::style::{HEADING, QUIET, Styled};
use super::wrapping::wrapped;
use rolecall_check::contract::Contract;

/// Writes a contract's meaning and severity, then its page. Sentences are wrapped to the screen;
/// examples are not, so that people can copy them.
pub fn write(out: &mut dyn Write, contract: &Contract) -> io::Result<()> {
    let dialects = contract.dialects.iter().map(|dialect| dialect.name());
    let (severity, width) = (contract.severity, screen::width());
    writeln!(
        out,
        "{} {} {}",
        Styled(HEADING, contract.id),
        Styled(style_of(severity), severity.name()),
        Styled(QUIET, dialects.collect::<Vec<_>>().join(", ")),
    )?;
    for (name, text) in [
        ("should be", contract.meaning),
        ("guards against", contract.guards_against),
    ] {
        let text = format!("  {}", Styled(QUIET, format!("{name}: {text}")));
        writeln!(out, "{}", wrapped(&text, width, 4))?;
    }
    // The first line is the name.
    let mut lines = contract.page.lines().skip(1);
    let mut paragraph = String::new();
    while let Some(line) = lines.next() {
        let heading = line.strip_prefix("## ");
        let is_fence = line.starts_with("```");
        if !line.is_empty() && heading.is_none() && !is_fence {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
            continue;
        }
        write_paragraph(out, &mut paragraph)?;
        if let Some(heading) = heading {
            writeln!(out, "{}", Styled(HEADING, heading))?;
        } else if is_fence {
            for line in lines.by_ref().take_while(|line| !line.starts_with("```")) {
                writeln!(out, "{line}")?;
            }
        } else {
            writeln!(out)?;
        }
    }
    write_paragraph(out, &mut paragraph)
}

/// Writes a paragraph, if there is one, and empties it.
fn write_paragraph(out: &mut dyn Write, paragraph: &mut String) -> io::Result<()> {
    if paragraph.is_empty() {
        return Ok(());
    }
    let text = std::mem::take(paragraph);
    writeln!(out, "{}", wrapped(&text, screen::width(), 0))
}
