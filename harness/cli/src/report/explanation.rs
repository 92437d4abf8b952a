//! The pages of contracts and of fronts, on a terminal.

use std::io::{self, Write};

use super::card::style_of;
use super::style::{HEADING, Styled};
use super::text::text;
use super::wrapping::{each, paragraph};
use rolecall_check::contract::Contract;
use rolecall_front::front::Front;

/// What `rolecall explain` has a page about.
#[derive(Debug, Clone, Copy)]
pub enum Explained {
    Contract(&'static Contract),
    /// The front of a served application.
    Front(Front),
}

/// Writes the pages.
pub fn write(out: &mut dyn Write, names: &[Explained]) -> io::Result<()> {
    each(out, names, |out, name| match name {
        Explained::Contract(contract) => write_page(out, contract),
        Explained::Front(front) => write_front(out, *front),
    })
}

/// Writes a contract's meaning and severity, then its page. Sentences are wrapped to the screen;
/// examples are not, so that people can copy them.
fn write_page(out: &mut dyn Write, contract: &Contract) -> io::Result<()> {
    let dialects = contract.dialects.iter().map(|dialect| dialect.name());
    text!(out, include_str!("explanation.txt"), {
        id => contract.id,
        severity => contract.severity.name(),
        style => style_of(contract.severity),
        dialects => dialects.collect::<Vec<_>>().join(", "),
        meaning => contract.meaning,
        guards_against => contract.guards_against,
    })?;
    // The first line is the name.
    let mut lines = contract.page.lines().skip(1);
    let mut sentences = String::new();
    while let Some(line) = lines.next() {
        let heading = line.strip_prefix("## ");
        let is_fence = line.starts_with("```");
        if !line.is_empty() && heading.is_none() && !is_fence {
            if !sentences.is_empty() {
                sentences.push(' ');
            }
            sentences.push_str(line);
            continue;
        }
        write_paragraph(out, &mut sentences)?;
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
    write_paragraph(out, &mut sentences)
}

/// Writes the changes that a served application makes to requests.
fn write_front(out: &mut dyn Write, front: Front) -> io::Result<()> {
    writeln!(
        out,
        "{}: {}",
        Styled(HEADING, front.name()),
        front.description()
    )?;
    for change in front.all_changes() {
        writeln!(out, "\n{} ({})", change.name, change.kind.name())?;
        paragraph(out, &format!("  {}", change.sentence), 2)?;
        writeln!(out, "  {}", change.source)?;
    }
    Ok(())
}

/// Writes a paragraph, if there is one, and empties it.
fn write_paragraph(out: &mut dyn Write, text: &mut String) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    paragraph(out, &std::mem::take(text), 0)
}
