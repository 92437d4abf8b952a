//! Report cards and transcripts of readings that are not as a suite demands.

use std::io::{self, Write};

use super::difference::{say, write_diff, write_more, write_whole_diff};
use super::style::{BAD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::paragraph;
use rolecall_check::contract::Severity;
use rolecall_core::invocation;
use rolecall_core::problem::shown_path;
use rolecall_suite::checked_text::{CheckedText, TextKind, TextStatus};

/// How many changed lines of a text people read above the verdict.
const MOST_LINES: usize = 20;

/// Writes how a text differs from the accepted one. Nothing if it does not.
pub fn write_change(out: &mut dyn Write, checked: &CheckedText, is_whole: bool) -> io::Result<()> {
    write_begin(out, checked, is_whole, usize::MAX)
}

/// Writes the first lines of how a text differs.
fn write_begin(
    out: &mut dyn Write,
    checked: &CheckedText,
    is_whole: bool,
    most: usize,
) -> io::Result<()> {
    let name = Styled(
        HEADING,
        format!("{} {}", checked.template, checked.kind.name()),
    );
    match &checked.change {
        TextStatus::Same => return Ok(()),
        TextStatus::New => {
            paragraph(out, &format!("{} {name}", Styled(NOTE, "new")), 2)?;
            paragraph(
                out,
                &format!("  no {} was accepted yet", checked.kind.name()),
                2,
            )?;
        }
        TextStatus::Unreadable(why) => {
            paragraph(out, &format!("{} {name}", Styled(BAD, "unreadable")), 2)?;
            paragraph(out, &format!("  {why}"), 4)?;
        }
        TextStatus::Changed(diff) => {
            paragraph(out, &format!("{} {name}", Styled(BAD, "changed")), 2)?;
            let (begin, more) = diff.begin(most);
            if is_whole {
                write_whole_diff(out, &begin, "  ")?;
            } else {
                write_diff(out, &begin, "  ")?;
            }
            write_more(out, more, "  ")?;
        }
    }
    look(out, checked)?;
    writeln!(out)
}

/// Writes the texts that are not as demanded: how they changed, and which broken contracts the
/// rule forbids. Long differences are cut, unless they are wanted whole.
pub fn write(out: &mut dyn Write, cards: &[CheckedText], is_whole: bool) -> io::Result<()> {
    let most = if is_whole { usize::MAX } else { MOST_LINES };
    for checked in cards {
        write_begin(out, checked, is_whole, most)?;
        write_forbidden(out, checked)?;
    }
    Ok(())
}

/// Writes the broken contracts of a card that the rule forbids.
pub fn write_forbidden(out: &mut dyn Write, checked: &CheckedText) -> io::Result<()> {
    if checked.forbidden.is_empty() {
        return Ok(());
    }
    let name = Styled(HEADING, &checked.template);
    paragraph(out, &format!("{} {name}", Styled(BAD, "breaks")), 2)?;
    for found in &checked.forbidden {
        let style = if found.severity == Severity::Error {
            BAD
        } else {
            NOTE
        };
        let text = format!(
            "  {} {}: {}",
            Styled(style, found.severity.name()),
            found.contract.id,
            super::card::one_line(&found.what)
        );
        paragraph(out, &text, 4)?;
    }
    look(out, checked)?;
    let ids: Vec<_> = checked
        .forbidden
        .iter()
        .map(|found| found.contract.id)
        .collect();
    let id = ids.first().unwrap_or(&"CONTRACT");
    let reason = match &checked.sidecar {
        Some(path) => format!("{}: \"broken\": {{\"{id}\": \"…\"}}", shown_path(path)),
        None => format!("rolecall.toml: broken = {{ {id} = \"…\" }}"),
    };
    let advice = format!(
        "  `{}` says how to fix it; if the template breaks a contract on purpose, give the reason \
         in {reason}",
        invocation::command(&format!("explain {id}")),
    );
    paragraph(out, &Styled(QUIET, advice).to_string(), 2)?;
    writeln!(out)
}

fn look(out: &mut dyn Write, checked: &CheckedText) -> io::Result<()> {
    let template = invocation::word(&checked.template);
    let command = match checked.kind {
        TextKind::Card => format!("check {template}"),
        TextKind::Readings => format!("roundtrip {template}"),
    };
    say(out, "to look at it:", &invocation::command(&command))
}
