//! Report cards and runs as annotations, which GitHub shows next to the lines of a change.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use rolecall_core::Template;

use super::markdown;
use super::numbers::counted;
use super::other_fault::OtherFault;
use super::place::lines;
use super::run_report::{Ending, RunReport, first_lines};
use rolecall_check::card::Card;
use rolecall_check::contract::Severity;
use rolecall_core::problem::Location;

/// Writes a line for each broken contract, as one of GitHub's workflow commands:
/// `::error file=…,line=…,title=…::…`. The line is the one at which the template fails, if it
/// fails. A defect that a sidecar explains is only a notice. For a template that cannot be read,
/// the only line says where. What belongs to no card comes first.
pub fn write(
    out: &mut dyn Write,
    cards: &[Card],
    templates: &[Template],
    others: &[OtherFault],
) -> io::Result<()> {
    write_others(out, others)?;
    for card in cards {
        let template = templates
            .iter()
            .find(|template| template.name.as_str() == card.template);
        let path = template.map_or_else(String::new, |template| plain_path(&template.path));
        if let Some(error) = &card.syntax_error {
            let mut place = format!("file={}", property(&path));
            for (name, number) in [("line", error.line), ("col", error.column)] {
                if let Some(number) = number {
                    place = format!("{place},{name}={number}");
                }
            }
            let message = format!("{}: {}", card.template, error.message);
            writeln!(out, "::error {place},title=syntax::{}", data(&message))?;
            continue;
        }
        for finding in card.broken() {
            let contract = finding.contract;
            let level = match finding.severity() {
                Severity::Limitation | Severity::Note => "notice",
                _ if finding.deliberate.is_some() => "notice",
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let mut message = format!("{}: {}", card.template, contract.meaning);
            for evidence in finding.evidence() {
                message += "\n";
                message += &evidence.what;
            }
            if let Some(why) = &finding.deliberate {
                message += "\ndeliberate: ";
                message += why;
            }
            let lines = template.map_or_else(Vec::new, |template| lines(finding, template));
            let line = match lines.first() {
                Some(line) => format!(",line={line}"),
                None => String::new(),
            };
            writeln!(
                out,
                "::{level} file={}{line},title={}::{}",
                property(&path),
                property(contract.id),
                data(&message)
            )?;
        }
    }
    Ok(())
}

/// Writes the results of a run: an error for each cause, at the template's file, and one for
/// everything else that fails it.
pub fn write_run(out: &mut dyn Write, report: &RunReport<'_, '_>) -> io::Result<()> {
    write_others(out, &report.others())?;
    for group in report.groups {
        let Some(first) = group.pairs.first() else {
            continue;
        };
        let pair = &first.pair;
        let path = property(&plain_path(&pair.template.path));
        let mut message = format!("{} {}", pair.template.name, pair.case.id);
        if group.pairs.len() > 1 {
            let others = counted(group.pairs.len() - 1, "other pair", "other pairs");
            message = format!("{message} and {others}");
        }
        let difference = group.diff().and_then(|diff| diff.first.as_deref());
        for what in difference.into_iter().chain(group.word()) {
            message = format!("{message}\n{what}");
        }
        for line in first_lines(group, MOST_LINES) {
            message = format!("{message}\n{}", markdown::line(&line));
        }
        let title = group.fault().name();
        writeln!(out, "::error file={path},title={title}::{}", data(&message))?;
    }
    for checked in &report.conclusion.cards {
        let path = property(&plain_path(&checked.path));
        let mut message = format!("{}: ", checked.template);
        if checked.forbidden.is_empty() {
            let _ = write!(message, "the {} is not as accepted", checked.kind.name());
        } else {
            message.push_str("the template breaks contracts, and nothing gives the reason");
        }
        for found in &checked.forbidden {
            message = format!("{message}\n{}: {}", found.contract.id, found.what);
        }
        writeln!(
            out,
            "::error file={path},title={}::{}",
            checked.kind.name(),
            data(&message)
        )?;
    }
    let headline = format!("{}\n{}", report.headline(), report.extent());
    let level = match report.ending() {
        Ending::Passed => "notice",
        Ending::NotCompared => "warning",
        Ending::Failed => "error",
    };
    writeln!(out, "::{level} title=rolecall run::{}", data(&headline))
}

/// Writes an error for each thing that fails a run or a check and belongs to no template's pairs.
fn write_others(out: &mut dyn Write, others: &[OtherFault]) -> io::Result<()> {
    for other in others {
        let mut place = Vec::new();
        if !other.path.as_os_str().is_empty() {
            place.push(format!("file={}", property(&plain_path(&other.path))));
        }
        if let Some(Location::Text(position)) = other.place {
            place.push(format!("line={},col={}", position.line, position.column));
        }
        place.push(format!("title={}", other.kind.name()));
        let mut message = other.what.clone();
        for line in other.lines.iter().take(MOST_LINES) {
            message = format!("{message}\n{}", markdown::line(line));
        }
        writeln!(out, "::error {}::{}", place.join(","), data(&message))?;
    }
    Ok(())
}

/// How many lines of a difference to show.
const MOST_LINES: usize = 12;

/// A path without `./` before it: GitHub knows files by their paths in the repository.
fn plain_path(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

/// The text of a message, which ends at the end of the line.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property, which also ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::Dialect;
    use rolecall_jinja::JinjaEngine;

    #[test]
    fn a_template_that_cannot_be_read_has_one_annotation_with_its_place() {
        let mut template = Template::from_source("t", Dialect::Jinja, "a\n  {{ y }");
        template.path = "t.jinja".into();
        let card = rolecall_check::card::examine(&JinjaEngine::new(), &template);
        let mut out = Vec::new();
        write(&mut out, &[card], &[template], &[]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "::error file=t.jinja,line=2,col=8,title=syntax::t: syntax error: unexpected '}'\n"
        );
    }

    #[test]
    fn what_fails_in_a_line_is_annotated_there() {
        let source = "{% for m in messages %}{{ m.content }}{% endfor %}\n\
            {%- if tools %}\n{{ tools | nope }}{% endif %}";
        let mut template = Template::from_source("t", Dialect::Jinja, source);
        template.path = "./t.jinja".into();
        let card = rolecall_check::card::examine(&JinjaEngine::new(), &template);
        let mut out = Vec::new();
        write(&mut out, &[card], &[template], &[]).unwrap();
        let text = String::from_utf8(out).unwrap();
        let start = "::error file=t.jinja,line=3,title=capabilities-work::t: ";
        assert!(text.lines().any(|line| line.starts_with(start)), "{text}");
    }

    #[test]
    fn an_annotation_is_one_line_whatever_a_template_says() {
        let source = "{{ raise_exception('a\n::error::100%, b') }}";
        let mut template = Template::from_source("t", Dialect::Jinja, source);
        template.path = "a,b:c.jinja".into();
        let card = rolecall_check::card::examine(&JinjaEngine::new(), &template);
        let mut out = Vec::new();
        write(&mut out, &[card], &[template], &[]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.starts_with("::error file=a%2Cb%3Ac.jinja,title=renders::t: "),
            "{text}"
        );
        for line in text.lines() {
            assert!(line.starts_with("::"), "{line}");
        }
        assert_eq!(text.matches("\n::error::").count(), 0, "{text}");
    }
}
