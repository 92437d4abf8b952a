//! Report cards as annotations, which GitHub shows beside the lines of a change.

use std::io::{self, Write};

use rolecall_model::Template;

use super::place::lines;
use rolecall_card::card::Card;
use rolecall_card::contract::Severity;

/// Writes a line for each broken contract, as one of GitHub's workflow commands:
/// `::error file=…,line=…,title=…::…`. The line is the one at which the template fails, if it
/// fails. A defect that a sidecar explains is only a notice. For a template that cannot be read,
/// the only line says where.
pub fn write(out: &mut dyn Write, cards: &[Card], templates: &[Template]) -> io::Result<()> {
    for card in cards {
        let template = templates
            .iter()
            .find(|template| template.name.as_str() == card.template);
        // GitHub knows files by their paths in the repository, without `./` before them.
        let path = template.map_or_else(String::new, |template| {
            let path = template.path.strip_prefix(".");
            path.unwrap_or(&template.path).display().to_string()
        });
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
    use rolecall_jinja::JinjaEngine;
    use rolecall_model::Dialect;

    #[test]
    fn a_template_that_cannot_be_read_has_one_annotation_with_its_place() {
        let mut template = Template::from_source("t", Dialect::Jinja, "a\n  {{ y }");
        template.path = "t.jinja".into();
        let card = rolecall_card::card::examine(&JinjaEngine::new(), &template);
        let mut out = Vec::new();
        write(&mut out, &[card], &[template]).unwrap();
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
        let card = rolecall_card::card::examine(&JinjaEngine::new(), &template);
        let mut out = Vec::new();
        write(&mut out, &[card], &[template]).unwrap();
        let text = String::from_utf8(out).unwrap();
        let start = "::error file=t.jinja,line=3,title=capabilities-work::t: ";
        assert!(text.lines().any(|line| line.starts_with(start)), "{text}");
    }

    #[test]
    fn an_annotation_is_one_line_whatever_a_template_says() {
        let source = "{{ raise_exception('a\n::error::100%, b') }}";
        let mut template = Template::from_source("t", Dialect::Jinja, source);
        template.path = "a,b:c.jinja".into();
        let card = rolecall_card::card::examine(&JinjaEngine::new(), &template);
        let mut out = Vec::new();
        write(&mut out, &[card], &[template]).unwrap();
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
