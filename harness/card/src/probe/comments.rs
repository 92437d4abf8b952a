//! The comments of a template.

use rolecall_model::{Dialect, Template};

/// The source, its comments left out.
pub(super) fn without_comments(template: &Template) -> String {
    let (open, close) = match template.dialect {
        Dialect::Jinja => ("{#", "#}"),
        Dialect::Go => ("/*", "*/"),
    };
    let mut rest = template.source.as_str();
    let mut kept = String::with_capacity(rest.len());
    while let Some((before, comment)) = rest.split_once(open) {
        kept.push_str(before);
        rest = comment.split_once(close).map_or("", |(_, behind)| behind);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out() {
        let rest =
            |dialect, source: &str| without_comments(&Template::from_source("t", dialect, source));
        assert_eq!(
            rest(Dialect::Jinja, "{# tools #}{{ a }}{#- b -#}"),
            "{{ a }}"
        );
        assert_eq!(rest(Dialect::Jinja, "{{ a }}{# tools"), "{{ a }}");
        assert_eq!(rest(Dialect::Go, "{{/* .Tools */}}{# a #}"), "{{}}{# a #}");
    }
}
