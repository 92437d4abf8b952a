//! Values as Python prints them, where JSON is meant.

use super::arguments::values;
use super::pattern::{NAME, Place, Source, compiled};
use crate::fix::tag::{Edit, TagKind};
use rolecall_core::Cut;

const BOTH: &[TagKind] = &[TagKind::Print, TagKind::Statement];

/// Tools, or one of them, that are printed or made a text.
pub(super) fn tools(source: &Source<'_>) -> Vec<Edit> {
    let tools = r"(tools|tool|function|schema|custom_tools|xml_tools|builtin_tools)";
    as_text(
        source,
        &format!(r"\b{tools}\b|({NAME}\.(?:parameters|function))\b"),
        &|place, _| format!("{}{}", value(place), source.to_json()),
    )
}

/// The same for templates that also take tools as texts.
pub(super) fn tools_or_texts(source: &Source<'_>) -> Vec<Edit> {
    let tools = r"(tools|tool|function|schema|custom_tools|xml_tools|builtin_tools)";
    as_text(source, &format!(r"\b{tools}\b"), &|place, is_whole| {
        unless_text(source, value(place), is_whole)
    })
}

/// The values of arguments in loops over them.
pub(super) fn of_arguments(source: &Source<'_>) -> Vec<Edit> {
    let names = values(source);
    if names.is_empty() {
        return Vec::new();
    }
    let names = format!(r"\b({})\b", names.join("|"));
    as_text(source, &names, &|place, is_whole| {
        unless_text(source, value(place), is_whole)
    })
}

/// A choice between JSON and a text that takes true, false and null for texts:
/// `v | tojson if v is mapping or … else v | string`.
pub(super) fn choices(source: &Source<'_>) -> Vec<Edit> {
    let json = r"(\s*\|\s*tojson\b(?:\([^()]*\))?(?:\s*\|\s*safe)?)";
    let either = format!(
        r"({NAME}){json}\s+if\s+({NAME}) is mapping or \(({NAME}) is sequence and ({NAME}) is not string\)\s+else\s+({NAME})(?:\s*\|\s*string)?"
    );
    let mut edits = source.changes(BOTH, &either, |place| {
        let value = place.group(1);
        let is_one = (3..=6).all(|number| place.group(number) == value);
        let text = format!(
            "{value} if {value} is string else {value}{}",
            place.group(2)
        );
        is_one.then(|| (place.range.clone(), text))
    });
    let other = format!(r"({NAME}) if ({NAME}) is string else ({NAME})\s*\|\s*string\b");
    edits.extend(source.changes(BOTH, &other, |place| {
        let value = place.group(1);
        let is_one = (2..=3).all(|number| place.group(number) == value);
        let text = format!(
            "{value} if {value} is string else {value}{}",
            source.to_json()
        );
        is_one.then(|| (place.range.clone(), text))
    }));
    edits
}

/// The default value of a parameter.
pub(super) fn defaults(source: &Source<'_>) -> Vec<Edit> {
    let names = source.names_of(r"default|get\(.default.[^=]*\)");
    let field = format!(r#"{NAME}(?:\.default\b|\['default'\]|\["default"\])"#);
    let names: Vec<String> = names.iter().map(|name| format!(r"\b{name}\b")).collect();
    let all: Vec<String> = std::iter::once(field).chain(names).collect();
    as_text(
        source,
        &format!("({})", all.join("|")),
        &|place, is_whole| unless_text(source, value(place), is_whole),
    )
}

/// Values that a template tests for a text or an object, and prints elsewhere.
pub(super) fn tested(source: &Source<'_>) -> Vec<Edit> {
    of_tested(source, &|place, _| {
        format!("{}{}", value(place), source.to_json())
    })
}

/// The same for templates that write everything but null by hand.
pub(super) fn tested_for_null(source: &Source<'_>) -> Vec<Edit> {
    of_tested(source, &|place, is_whole| {
        let value = value(place);
        let text = format!("'null' if {value} is none else {value}");
        if is_whole { text } else { format!("({text})") }
    })
}

/// The same for templates that also print texts there.
pub(super) fn tested_or_texts(source: &Source<'_>) -> Vec<Edit> {
    of_tested(source, &|place, is_whole| {
        unless_text(source, value(place), is_whole)
    })
}

fn of_tested(source: &Source<'_>, change: &dyn Fn(&Place<'_>, bool) -> String) -> Vec<Edit> {
    // The texts of messages have contracts of their own.
    const TEXTS: [&str; 4] = ["content", "text", "message", "reasoning"];
    let value = format!(r"{NAME}(?:\[{NAME}\])?");
    let Some(test) = compiled(&format!("({value}) is (?:mapping|string)")) else {
        return Vec::new();
    };
    let mut values: Vec<&str> = Vec::new();
    for tag in source
        .tags
        .iter()
        .filter(|tag| tag.kind == TagKind::Statement)
    {
        for found in test.captures_iter(&tag.code) {
            let value = found.get(1).map_or(0..0, |found| found.range());
            let value = tag.inside.cut(value);
            let is_text = TEXTS.iter().any(|text| value.contains(text));
            if !is_text && !values.contains(&value) {
                values.push(value);
            }
        }
    }
    // The crate `regex` takes the first alternative that matches: `message.name` has to come before
    // `message`.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    if values.is_empty() {
        return Vec::new();
    }
    let values: Vec<String> = values.into_iter().map(regex::escape).collect();
    as_text(source, &format!("({})", values.join("|")), change)
}

/// JSON that is marked as safe: what is joined with it is escaped as HTML.
pub(super) fn escaped(source: &Source<'_>) -> Vec<Edit> {
    source.changes(
        BOTH,
        r"\|\s*tojson\b(?:\([^()]*\))?(\s*\|\s*safe)\b",
        |place| Some((place.range_of(1)?, String::new())),
    )
}

/// Any text that is marked as safe.
pub(super) fn escaped_by_texts(source: &Source<'_>) -> Vec<Edit> {
    source.changes(BOTH, r"\s*\|\s*safe\b", |place| {
        Some((place.range.clone(), String::new()))
    })
}

/// Changes every place at which a value becomes a text: where it is printed, joined with texts, or
/// goes through the filter `string`.
fn as_text(
    source: &Source<'_>,
    what: &str,
    change: &dyn Fn(&Place<'_>, bool) -> String,
) -> Vec<Edit> {
    let pattern = format!(r"(?:{what})(\s*\|\s*string\b)?");
    source.changes(BOTH, &pattern, |place| {
        let is_longer = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | '(');
        if place.tag.code.cut(place.range.end..).starts_with(is_longer) {
            return None;
        }
        let is_filtered = place.group(0).ends_with("string") && place.group(0).contains('|');
        let range = place.range.clone();
        let (before, rest) = (place.before(range.start), place.after(range.end));
        let is_printed = place.tag.kind == TagKind::Print
            && (before.is_empty() || before.ends_with(['+', '~']) || before.ends_with("else"))
            && (rest.is_empty() || rest.starts_with(['+', '~']) || rest.starts_with("if "));
        let is_joined = (before.ends_with('~')
            && (rest.is_empty() || rest.starts_with(['~', ')'])))
            || (rest.starts_with('~') && (before.ends_with(['=', '(', '~'])));
        let is_filtered = is_filtered && !rest.starts_with(['|', '.', '[']);
        if !(is_printed || is_joined || is_filtered) {
            return None;
        }
        Some((range.clone(), change(place, place.is_alone(&range))))
    })
}

/// The value that a place is about, without a filter after it.
fn value<'p>(place: &'p Place<'_>) -> &'p str {
    let whole = place.group(0);
    whole.split('|').next().unwrap_or(whole).trim_end()
}

fn unless_text(source: &Source<'_>, value: &str, is_whole: bool) -> String {
    let text = format!(
        "{value} if {value} is string else {value}{}",
        source.to_json()
    );
    if is_whole { text } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::tag::edited;

    #[test]
    fn tools_become_json() {
        for (before, after) in [
            ("{{ tools }}", "{{ tools | tojson }}"),
            (
                "{{ tool|string }}{{ x|tojson }}",
                "{{ tool|tojson }}{{ x|tojson }}",
            ),
            (
                "{% set s = s ~ (tool | string) ~ '\\n' %}",
                "{% set s = s ~ (tool | tojson) ~ '\\n' %}",
            ),
            (
                "{% for tool in tools %}{{ tool.name }}",
                "{% for tool in tools %}{{ tool.name }}",
            ),
            ("{{ tools | length }}", "{{ tools | length }}"),
        ] {
            assert_eq!(edited(before, &tools(&Source::new(before))), after);
        }
    }

    #[test]
    fn values_of_arguments_become_json_unless_they_are_texts() {
        for (before, after) in [
            (
                "{% for k, v in c.arguments.items() %}{{ v }}",
                "{% for k, v in c.arguments.items() %}{{ v if v is string else v | tojson }}",
            ),
            (
                "{% for k, v in c.arguments|items %}{{ k ~ '=' ~ v|string ~ ';' }}",
                "{% for k, v in c.arguments|items %}\
                 {{ k ~ '=' ~ (v if v is string else v | tojson) ~ ';' }}",
            ),
        ] {
            assert_eq!(edited(before, &of_arguments(&Source::new(before))), after);
        }
        let before = "{% set v = v | tojson | safe if v is mapping or (v is sequence and v is not \
                      string) else v | string %}";
        assert_eq!(
            edited(before, &choices(&Source::new(before))),
            "{% set v = v if v is string else v | tojson | safe %}"
        );
    }

    #[test]
    fn defaults_become_json_unless_they_are_texts() {
        let before = "{% set d = p.get('default') %}{{ '// ' ~ d }}{{ p.default }}";
        assert_eq!(
            edited(before, &defaults(&Source::new(before))),
            "{% set d = p.get('default') %}{{ '// ' ~ (d if d is string else d | tojson) }}\
             {{ p.default if p.default is string else p.default | tojson }}"
        );
    }
}
