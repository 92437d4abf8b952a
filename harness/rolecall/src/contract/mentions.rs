//! What the source of a template speaks of, its comments left out.

use rolecall_model::{Dialect, Template};

/// Whether a template names something of tools: then it sets out to support them.
pub(super) fn speaks_of_tools(template: &Template) -> bool {
    let names: &[&str] = match template.dialect {
        Dialect::Jinja => &["tools", "tool_calls"],
        Dialect::Go => &["Tools", "ToolCalls"],
    };
    speaks_of(template, names)
}

/// Whether one of these names stands in the source, or ends one, as `tools` ends `xml_tools`.
pub(super) fn speaks_of(template: &Template, names: &[&str]) -> bool {
    let source = without_comments(template);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    names.iter().any(|name| {
        let mut places = source.match_indices(name);
        places.any(|(at, _)| {
            let before = source[..at].chars().next_back();
            let is_end = !source[at + name.len()..].starts_with(is_part);
            is_end && !before.is_some_and(char::is_alphanumeric)
        })
    })
}

/// Whether a template uses a filter.
pub(super) fn uses_filter(template: &Template, name: &str) -> bool {
    let source = without_comments(template);
    let mut filters = source.split('|').skip(1).map(str::trim_start);
    filters.any(|text| {
        let rest = text.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

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
    fn filters_are_found_behind_their_bar() {
        let uses = |source: &str| {
            uses_filter(
                &Template::from_source("t", Dialect::Jinja, source),
                "random",
            )
        };
        assert!(uses("{{ a|random }}") && uses("{{ a | b |\nrandom}}"));
        assert!(!uses("{{ random }} {{ a | randomly }}{# | random #}"));
    }

    #[test]
    fn names_count_where_they_are_no_part_of_another_and_no_comment() {
        let speaks =
            |source: &str| speaks_of_tools(&Template::from_source("t", Dialect::Jinja, source));
        assert!(speaks("{% if tools %}"));
        assert!(speaks("{{ xml_tools }}"));
        assert!(speaks("{{ m['tool_calls'] }}"));
        assert!(!speaks("{# tools #}{{ stools }}{{ toolset }}"));
        assert!(!speaks("{{ a }}{# tools"));
    }
}
