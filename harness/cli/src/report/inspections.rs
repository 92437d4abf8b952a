//! The report of `lint` on response templates.

use std::io::{self, Write};
use std::path::PathBuf;

use minijinja::{Value, context};
use rolecall_core::problem::{Location, shown_path};
use rolecall_response::{Finding, Level};
use rolecall_suite::response_file::Inspected;

use crate::report::format::Format;
use crate::report::json;
use crate::report::json::{VERSION, document};
use crate::report::text::text;

/// Writes the findings, and in a text how many there are, if anything was inspected.
pub fn write(out: &mut dyn Write, inspected: &[Inspected], format: Format) -> io::Result<()> {
    if format == Format::Json {
        return json::write(out, &InspectionDocument::of(inspected));
    }
    if inspected.is_empty() {
        return Ok(());
    }
    for one in inspected {
        write_findings(out, one, Level::Note)?;
    }
    let count = |level: Level| {
        let all = inspected.iter().flat_map(|one| &one.findings);
        all.filter(|(_, finding)| finding.rule.level() == level)
            .count()
    };
    text!(out, "{{ all | counted('response template') }}: {{ warnings | counted('warning') }}, {{ notes | counted('note') }}", {
        all => inspected.len(),
        warnings => count(Level::Warning),
        notes => count(Level::Note),
    })
}

/// Writes the findings about one response template from a level upwards. With notes, also what was
/// not tried.
pub(crate) fn write_findings(
    out: &mut dyn Write,
    inspected: &Inspected,
    least: Level,
) -> io::Result<()> {
    let is_whole = least == Level::Note;
    let findings = inspected.findings.iter();
    let findings = findings.filter(|(_, one)| is_whole || one.rule.level() == least);
    let findings = findings.map(|(place, one)| {
        let level = one.rule.level();
        context! {
            place => place.map(|place| place.to_string()).unwrap_or_default(),
            level => level.name(),
            style => if level == Level::Warning { "bad" } else { "note" },
            id => one.rule.id(),
            message => &one.message,
            evidence => one.evidence.lines(),
            help => &one.help,
        }
    });
    text!(out, include_str!("inspections.txt"), {
        path => shown_path(&inspected.path),
        findings => findings.collect::<Value>(),
        untried => inspected.untried.iter().filter(|_| is_whole).cloned().collect::<Vec<_>>(),
    })
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
        evidence: serde_json::Value = finding.evidence.to_json(),
    }
}
