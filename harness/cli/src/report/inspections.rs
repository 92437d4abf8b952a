//! The report of `lint` on response templates.

use std::io::{self, Write};
use std::path::PathBuf;

use rolecall_core::problem::{Location, shown, shown_path};
use rolecall_response::{Finding, Level};
use rolecall_suite::response_file::Inspected;
use serde_json::Value;

use super::json::{self, VERSION, document};
use super::numbers::counted;
use super::screen;
use super::style::{BAD, NOTE, QUIET, Styled};
use super::wrapping::wrapped;

/// Writes the findings for people, and how many there are.
pub fn write(out: &mut dyn Write, inspected: &[Inspected]) -> io::Result<()> {
    for one in inspected {
        let path = shown_path(&one.path);
        for (place, finding) in &one.findings {
            let place = place.map_or_else(String::new, |place| place.to_string());
            write_finding(out, &format!("{path}{place}"), finding)?;
        }
        for field in &one.untried {
            let text = format!(
                "{path}: no answer was found that is read for `{field}`, so nothing is known about its \
                 delimiters"
            );
            paragraph(out, &Styled(QUIET, shown(&text)).to_string(), 2)?;
        }
    }
    let of_level = |level: Level| {
        let all = inspected.iter().flat_map(|one| &one.findings);
        all.filter(|(_, finding)| finding.rule.level() == level)
            .count()
    };
    let templates = counted(inspected.len(), "response template", "response templates");
    let (warnings, notes) = (of_level(Level::Warning), of_level(Level::Note));
    let warnings = counted(warnings, "warning", "warnings");
    let notes = counted(notes, "note", "notes");
    writeln!(out, "{templates}: {warnings}, {notes}")
}

/// Writes the warnings of one response template, and nothing if there is none.
pub fn write_warnings(out: &mut dyn Write, inspected: &Inspected) -> io::Result<()> {
    let path = shown_path(&inspected.path);
    for (place, finding) in &inspected.findings {
        if finding.rule.level() == Level::Warning {
            let place = place.map_or_else(String::new, |place| place.to_string());
            write_finding(out, &format!("{path}{place}"), finding)?;
        }
    }
    Ok(())
}

fn write_finding(out: &mut dyn Write, place: &str, finding: &Finding) -> io::Result<()> {
    let level = finding.rule.level();
    let style = match level {
        Level::Warning => BAD,
        Level::Note => NOTE,
    };
    let id = Styled(style, finding.rule.id());
    let message = shown(&finding.message);
    paragraph(
        out,
        &format!("{place}: {} {id}: {message}", level.name()),
        4,
    )?;
    for line in finding.evidence.lines() {
        paragraph(out, &format!("    {}", shown(&line)), 6)?;
    }
    paragraph(
        out,
        &format!("  {}", Styled(QUIET, shown(&finding.help))),
        2,
    )
}

fn paragraph(out: &mut dyn Write, text: &str, hang: usize) -> io::Result<()> {
    writeln!(out, "{}", wrapped(text, screen::width(), hang))
}

document! {
    /// The findings of `lint --format json`.
    #[cfg_attr(feature = "schema", schemars(rename = "Document"))]
    pub struct InspectionDocument from (inspected: &[Inspected]) {
        /// The version of this format: 1.
        rolecall: u32 = VERSION,
        /// One for each response template.
        response_templates: Vec<InspectionEntry> =
            inspected.iter().map(InspectionEntry::of).collect(),
    }

    struct InspectionEntry from (one: &Inspected) {
        /// The file.
        path: PathBuf = one.path.clone(),
        findings: Vec<FindingEntry> =
            one.findings.iter().map(|(place, one)| FindingEntry::of(*place, one)).collect(),
        /// Fields for which no answer was found that is read.
        untried: Vec<String> = one.untried.clone(),
    }

    struct FindingEntry from (place: Option<Location>, finding: &Finding) with {
        let position = match place {
            Some(Location::Text(position)) => Some(position),
            _ => None,
        };
    } {
        /// The line and the column in the file, from 1.
        line?: Option<usize> = position.map(|position| position.line),
        column?: Option<usize> = position.map(|position| position.column),
        /// The rule, such as `close-at-end`.
        rule: &'static str = finding.rule.id(),
        /// `warning` or `note`.
        level: &'static str = finding.rule.level().name(),
        /// Where it is in the response template: keys with points between them.
        keys: String = finding.path(),
        message: String = finding.message.clone(),
        help: String = finding.help.clone(),
        /// Two `readings` of texts, a text that is `held` back, or a `text` and the `steps` that it
        /// takes; null for what is in the response template.
        evidence: Value = finding.evidence.to_json(),
    }
}

/// Writes the findings as a JSON document.
pub fn write_json(out: &mut dyn Write, inspected: &[Inspected]) -> io::Result<()> {
    json::write(out, &InspectionDocument::of(inspected))
}
