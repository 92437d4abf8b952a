//! Where in a template's file a report points to.

use rolecall_model::Template;

use crate::contract::{Evidence, Finding};
use crate::front::Front;
use crate::template_file::line_in_file;

/// The lines of the file at which the conversations of a finding fail, the worst first, each
/// once. Where the template stands in the file as a whole, the line where it begins is the one
/// that is known of every finding. Nothing is guessed: of most findings no line is known.
pub(super) fn lines(finding: &Finding, template: &Template) -> Vec<usize> {
    // Where a front chooses between two templates, the line may be one of the other.
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
    use crate::card::examine;
    use rolecall_jinja::Minijinja;
    use rolecall_model::{Dialect, Part};

    /// Fails in its third line where there are tools.
    const SOURCE: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}\n\
        {%- if tools %}\n{{ tools | nope }}{% endif %}";

    fn found(template: &Template) -> Vec<(&'static str, Vec<usize>)> {
        let card = examine(&Minijinja::new(), template);
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
        // In a Modelfile they are counted from the line where the template begins.
        template.part = Part::Line(5);
        let part = found(&template);
        assert!(part.contains(&("capabilities-work", vec![7])), "{part:?}");
        assert!(part.iter().any(|(_, lines)| *lines == [5]), "{part:?}");
        // And in JSON there are none.
        template.part = Part::Key("chat_template".to_owned());
        assert!(found(&template).iter().all(|(_, lines)| lines.is_empty()));
    }
}
