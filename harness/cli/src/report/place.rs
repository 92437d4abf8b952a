//! The lines of a template's file that a report points to.

use rolecall_core::Template;

use rolecall_check::contract::{Evidence, Finding};
use rolecall_front::front::Front;
use rolecall_io::template_file::line_in_file;

/// The lines of the file at which the conversations of a finding fail, the worst first, each once.
/// If there are none, the line where the template begins in the file, if it is there as text.
/// Nothing is guessed: for most findings no other line is known.
pub(crate) fn lines(finding: &Finding, template: &Template) -> Vec<usize> {
    // If a front chooses between two templates, the line may belong to the other one.
    let is_one = Front::of(template).alternative(template).is_none();
    let failed = finding.evidence().iter().filter_map(Evidence::line);
    let mut lines = Vec::new();
    for line in failed.filter(|_| is_one) {
        let line = line_in_file(template, Some(line));
        lines.extend(line.filter(|line| !lines.contains(line)));
    }
    if lines.is_empty() {
        lines.extend(line_in_file(template, None));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_check::card::examine;
    use rolecall_core::{Dialect, TemplatePart};
    use rolecall_jinja::JinjaEngine;

    /// It fails in its third line if there are tools.
    const SOURCE: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}\n\
        {%- if tools %}\n{{ tools | nope }}{% endif %}";

    fn found(template: &Template) -> Vec<(&'static str, Vec<usize>)> {
        let card = examine(&JinjaEngine::new(), template);
        let broken = card.broken();
        broken
            .map(|finding| (finding.contract.id, lines(finding, template)))
            .collect()
    }

    #[test]
    fn a_finding_has_the_lines_at_which_it_fails() {
        let mut template = Template::from_source("t", Dialect::Jinja, SOURCE);
        let whole = found(&template);
        assert!(whole.contains(&("capabilities-work", vec![3])), "{whole:?}");
        assert!(
            whole.iter().any(|(_, lines)| lines.is_empty()),
            "what does not fail has no line: {whole:?}"
        );
        // In a Modelfile, lines count from the one where the template begins.
        template.part = TemplatePart::Line(5);
        let part = found(&template);
        assert!(part.contains(&("capabilities-work", vec![7])), "{part:?}");
        assert!(part.iter().any(|(_, lines)| *lines == [5]), "{part:?}");
        // JSON has no such lines.
        template.part = TemplatePart::Key("chat_template".to_owned());
        assert!(found(&template).iter().all(|(_, lines)| lines.is_empty()));
    }
}
