//! Arguments of calls: a text is JSON already, and an object is to become JSON.

use super::lost::before_tag;
use super::pattern::{NAME, Place, Source, compiled, field};
use crate::fix::tag::{Edit, Tag, TagKind};
use rolecall_core::Cut;

const BOTH: &[TagKind] = &[TagKind::Print, TagKind::Statement];

/// The filter that makes JSON, and the filters after it.
const JSON: &str = r"(\s*\|\s*tojson\b(?:\([^()]*\))?(?:\s*\|\s*\w+(?:\([^()]*\))?)*)";

/// Arguments in the code of a source: the field of a call, and the names that it is given.
pub(super) fn arguments(source: &Source<'_>) -> String {
    let names = source.names_of("arguments");
    let names = names.iter().map(|name| format!(r"\b{name}\b"));
    let all: Vec<String> = std::iter::once(field("arguments")).chain(names).collect();
    all.join("|")
}

/// Leaves out the filter where the arguments are a text.
pub(super) fn encoded_twice(source: &Source<'_>) -> Vec<Edit> {
    let pattern = format!("({}){JSON}", arguments(source));
    source.changes(BOTH, &pattern, |place| {
        if is_tested(place) {
            return None;
        }
        let (value, filter) = (place.group(1), place.group(2));
        let text = format!("{value} if {} else {value}{filter}", is_json(value));
        Some((place.range.clone(), parenthesized(place, text)))
    })
}

/// A test for a text that is the JSON of an object already, by its first and its last character.
/// Other texts, such as an empty one, are no JSON before they are encoded.
fn is_json(value: &str) -> String {
    // Slices, because an empty text has no first character: `value[0]` would be undefined.
    format!("{value} is string and {value}[:1] ~ {value}[-1:] == '{{}}'")
}

/// A text with `if`, in parentheses where it needs some.
fn parenthesized(place: &Place<'_>, text: String) -> String {
    if place.is_alone(&place.range) {
        text
    } else {
        format!("({text})")
    }
}

/// Makes JSON of arguments that are no text.
pub(super) fn not_encoded(source: &Source<'_>) -> Vec<Edit> {
    printed(source, &|place| text_or_json(place, source.to_json()))
}

/// The same for templates that also take calls without arguments, which no filter makes JSON of.
pub(super) fn objects(source: &Source<'_>) -> Vec<Edit> {
    printed(source, &|place| {
        let (value, json) = (place.group(1), source.to_json());
        let text = format!("{value}{json} if {value} is mapping else {value}");
        (place.range.clone(), parenthesized(place, text))
    })
}

/// Refuses a text where a loop takes single arguments: no template can read JSON.
pub(super) fn refused(source: &Source<'_>) -> Vec<Edit> {
    let Some(loops) = compiled(&format!(r"^\s*for\b.*\bin\s+({})", arguments(source))) else {
        return Vec::new();
    };
    let words = "raise_exception('The arguments of a call must be an object, not a text.')";
    let of_loop = |tag: &Tag<'_>| {
        let value = loops.captures(&tag.code)?.get(1)?;
        let test = format!("{} is string", tag.inside.cut(value.range()));
        Some(before_tag(source, tag, &test, words))
    };
    source.tags.iter().filter_map(of_loop).collect()
}

/// Changes arguments where they are printed or joined with texts.
fn printed(
    source: &Source<'_>,
    change: &dyn Fn(&Place<'_>) -> (std::ops::Range<usize>, String),
) -> Vec<Edit> {
    let pattern = format!("({})", arguments(source));
    source.changes(BOTH, &pattern, |place| {
        let is_filtered = place.after(place.range.end).starts_with('|');
        let is_changed =
            place.is_joined(&place.range) && !is_filtered && !place.is_value(&place.range);
        is_changed.then(|| change(place))
    })
}

/// Takes the text for its JSON where arguments become JSON within a larger object.
pub(super) fn within_call(source: &Source<'_>) -> Vec<Edit> {
    let of_call = format!("({}){JSON}", field("function"));
    let mut edits = source.changes(BOTH, &of_call, |place| {
        let call = place.group(1);
        let arguments = if call.ends_with(']') {
            let mark = if call.ends_with("\"]") { '"' } else { '\'' };
            format!("{call}[{mark}arguments{mark}]")
        } else {
            format!("{call}.arguments")
        };
        Some(replaced(place, &arguments))
    });
    let arguments = arguments(source);
    let of_object =
        format!(r"(dict\([^()]*?({arguments})[^()]*\)|\{{[^{{}}]*?({arguments})[^{{}}]*\}}){JSON}");
    edits.extend(source.changes(BOTH, &of_object, |place| {
        let arguments = [place.group(2), place.group(3)].concat();
        Some(replaced(place, &arguments))
    }));
    edits
}

/// JSON in which arguments that are a text are as they are.
fn replaced(place: &Place<'_>, arguments: &str) -> (std::ops::Range<usize>, String) {
    let json = place.group(0);
    let filter = json.cut(json.find("tojson").unwrap_or(0)..);
    // The filter with its own arguments, and nothing after it.
    let end = match filter.cut("tojson".len()..).strip_prefix('(') {
        Some(rest) => rest
            .find(')')
            .map_or(filter.len(), |at| "tojson".len() + at + 2),
        None => "tojson".len(),
    };
    let bar = if json.contains("|tojson") { "|" } else { " | " };
    let text = format!(
        "{json}{bar}replace({arguments}{bar}{}, {arguments}) if {} else {json}",
        filter.cut(..end),
        is_json(arguments)
    );
    (place.range.clone(), parenthesized(place, text))
}

/// Whether the place comes after a test for a text already.
fn is_tested(place: &Place<'_>) -> bool {
    let value = place.group(1);
    let tests = [
        format!("{value} if {value} is string else"),
        format!("{value} if {} else", is_json(value)),
        format!("{value} is not string else"),
    ];
    let around = place.tag.inside;
    tests.iter().any(|test| around.contains(test))
}

/// A value as it is if it is a text, and as JSON otherwise.
pub(super) fn text_or_json(place: &Place<'_>, filter: &str) -> (std::ops::Range<usize>, String) {
    let value = place.group(1);
    let text = format!("{value} if {value} is string else {value}{filter}");
    (place.range.clone(), parenthesized(place, text))
}

/// The names that loops give to the values of arguments.
pub(super) fn values(source: &Source<'_>) -> Vec<String> {
    let arguments = arguments(source);
    let pattern = format!(r"^\s*for\s+\w+\s*,\s*([A-Za-z_]\w*)\s+in\s+(?:{arguments}|{NAME})");
    let Some(pattern) = compiled(&pattern) else {
        return Vec::new();
    };
    let mut names: Vec<String> = Vec::new();
    for tag in &source.tags {
        if let Some(found) = pattern.captures(&tag.code)
            && !names.contains(&found[1].to_owned())
        {
            names.push(found[1].to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::tag::edited;

    #[test]
    fn a_text_is_not_encoded_again() {
        for (before, after) in [
            (
                "{{ c.arguments | tojson }}",
                "{{ c.arguments if c.arguments is string and c.arguments[:1] ~ c.arguments[-1:] == '{}' \
                 else c.arguments | tojson }}",
            ),
            (
                "{{ '\"' ~ c['arguments']|tojson(indent=4)|indent(8) ~ '}' }}",
                "{{ '\"' ~ (c['arguments'] if c['arguments'] is string and \
                 c['arguments'][:1] ~ c['arguments'][-1:] == '{}' else \
                 c['arguments']|tojson(indent=4)|indent(8)) ~ '}' }}",
            ),
            (
                "{% set a = c.arguments %}{{ a|tojson }}{{ data|tojson }}",
                "{% set a = c.arguments %}\
                 {{ a if a is string and a[:1] ~ a[-1:] == '{}' else a|tojson }}{{ data|tojson }}",
            ),
            (
                "{{ c.arguments if c.arguments is string else c.arguments | tojson }}",
                "{{ c.arguments if c.arguments is string else c.arguments | tojson }}",
            ),
        ] {
            assert_eq!(edited(before, &encoded_twice(&Source::new(before))), after);
        }
    }

    #[test]
    fn a_text_in_an_object_is_not_encoded_again() {
        for (before, after) in [
            (
                "{% set out = c.function|tojson %}",
                "{% set out = c.function|tojson|replace(c.function.arguments|tojson, \
                 c.function.arguments) if c.function.arguments is string and \
                 c.function.arguments[:1] ~ c.function.arguments[-1:] == '{}' else c.function|tojson %}",
            ),
            (
                "{{ 'a' + {'id': c['id'], 'arguments': c['arguments']} | tojson(indent=2) }}",
                "{{ 'a' + ({'id': c['id'], 'arguments': c['arguments']} | tojson(indent=2) | \
                 replace(c['arguments'] | tojson(indent=2), c['arguments']) if c['arguments'] is string \
                 and c['arguments'][:1] ~ c['arguments'][-1:] == '{}' else {'id': c['id'], 'arguments': c['arguments']} | tojson(indent=2)) }}",
            ),
            ("{{ dict(id=c.id)|tojson }}", "{{ dict(id=c.id)|tojson }}"),
        ] {
            assert_eq!(edited(before, &within_call(&Source::new(before))), after);
        }
    }

    #[test]
    fn an_object_becomes_json() {
        for (before, after) in [
            (
                "{{ '<' + c.arguments + '>' }}",
                "{{ '<' + (c.arguments if c.arguments is string else c.arguments | tojson) + '>' }}",
            ),
            (
                "{% set p = '<' + c.arguments %}{% set a = c.arguments %}",
                "{% set p = '<' + (c.arguments if c.arguments is string else c.arguments | tojson) %}\
                 {% set a = c.arguments %}",
            ),
            ("{{ c.arguments | items }}", "{{ c.arguments | items }}"),
            ("{{ f(c.arguments) }}", "{{ f(c.arguments) }}"),
        ] {
            assert_eq!(edited(before, &not_encoded(&Source::new(before))), after);
        }
    }

    #[test]
    fn the_values_of_arguments_have_names() {
        let source = "{% for k, v in c.arguments | items %}{% for name, value in x.items() %}";
        assert_eq!(values(&Source::new(source)), ["v", "value"]);
    }
}
