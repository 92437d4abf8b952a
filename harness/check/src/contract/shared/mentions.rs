//! What the source of a template speaks of, its comments left out.

use std::sync::LazyLock;

use regex::Regex;
use rolecall_core::{Cut, Dialect};

use crate::probe::Prober;

/// Whether a template names something of tools, and does something with it: it reads a variable with
/// tools, or writes a text about them. Then it sets out to support them.
pub(super) fn speaks_of_tools(prober: &Prober<'_>) -> bool {
    let names: &[&str] = match prober.dialect() {
        Dialect::Jinja => &["tools", "tool_calls"],
        Dialect::Go => &["Tools", "ToolCalls"],
    };
    speaks_of(prober, names) && (prober.dialect() == Dialect::Go || does_something(prober))
}

/// Whether a Jinja template reads a variable with tools, or writes a text about them that is no name
/// of a field.
fn does_something(prober: &Prober<'_>) -> bool {
    let is_about_tools = |text: &str| {
        let lower = text.to_ascii_lowercase();
        lower.contains("tool") || lower.contains("function")
    };
    let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let variables = prober.variables();
    let mut read = variables.iter();
    read.any(|name| names_one_of(name, &["tools"]))
        || prober.reading().is_none_or(|reading| {
            reading
                .texts
                .iter()
                .any(|text| is_about_tools(text) && !is_name(text))
        })
}

/// Whether one of these names is in the source's code, or ends one, as `tools` ends `xml_tools`.
pub(in crate::contract) fn speaks_of(prober: &Prober<'_>, names: &[&str]) -> bool {
    names_one_of(prober.code(), names)
}

/// Whether a template does something with one of these names, besides asking for it: it prints it,
/// goes through it, assigns it or hands it over. In Go, each mention counts.
pub(in crate::contract) fn handles(prober: &Prober<'_>, names: &[&str]) -> bool {
    static CONDITION: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?s)\{%[-+]?\s*(?:el)?if\s.*?%\}"));
    let code = prober.code();
    match prober.dialect() {
        Dialect::Jinja => names_one_of(&CONDITION.replace_all(code, ""), names),
        Dialect::Go => names_one_of(code, names),
    }
}

/// Whether a template sets its tools to an empty list.
pub(in crate::contract) fn turns_tools_off(prober: &Prober<'_>) -> bool {
    static OFF: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\{%[-+]?\s*set\s+tools\s*=\s*\[\s*\]\s*[-+]?%\}"));
    OFF.is_match(prober.source_without_comments())
}

fn pattern(source: &str) -> Regex {
    Regex::new(source).unwrap_or_else(|error| panic!("{error}"))
}

fn names_one_of(source: &str, names: &[&str]) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    names.iter().any(|name| {
        let mut places = source.match_indices(name);
        places.any(|(at, _)| {
            let before = source.cut(..at).chars().next_back();
            let is_end = !source.cut(at + name.len()..).starts_with(is_part);
            is_end && !before.is_some_and(char::is_alphanumeric)
        })
    })
}

/// Whether a template uses a filter.
pub(in crate::contract) fn uses_filter(prober: &Prober<'_>, name: &str) -> bool {
    applies(prober.source_without_comments(), name)
}

fn applies(source: &str, name: &str) -> bool {
    let mut filters = source.split('|').skip(1).map(str::trim_start);
    filters.any(|text| {
        let rest = text.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_found_after_their_bar() {
        let uses = |source: &str| applies(source, "random");
        assert!(uses("{{ a|random }}") && uses("{{ a | b |\nrandom}}"));
        assert!(!uses("{{ random }} {{ a | randomly }}"));
    }

    #[test]
    fn names_count_where_they_are_no_part_of_another() {
        let speaks = |source: &str| names_one_of(source, &["tools", "tool_calls"]);
        assert!(speaks("{% if tools %}"));
        assert!(speaks("{{ xml_tools }}"));
        assert!(speaks("{{ m['tool_calls'] }}"));
        assert!(!speaks("{{ stools }}{{ toolset }}"));
    }
}
