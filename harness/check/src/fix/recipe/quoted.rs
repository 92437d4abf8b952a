//! Quotation marks that a template writes by hand: a mark in the value ends the text too early.

use super::pattern::{NAME, Source, compiled};
use crate::fix::tag::{Edit, TagKind};
use rolecall_core::Cut;

/// Lets the filter write the marks round a value: `"{{ v }}"` becomes `{{ v | tojson }}`.
pub(super) fn as_json(source: &Source<'_>) -> Vec<Edit> {
    escaped(source, '"', &|value| {
        Some(format!("{value}{}", source.to_json()))
    })
}

/// The same for values that may be no texts, and stand in marks nevertheless.
pub(super) fn as_json_text(source: &Source<'_>) -> Vec<Edit> {
    escaped(source, '"', &|value| {
        let value = value.split('|').next().unwrap_or(value).trim_end();
        Some(format!("{value} | string{}", source.to_json()))
    })
}

/// Escapes what stands in single marks, as calls in the form of Python have it.
pub(super) fn as_python(source: &Source<'_>) -> Vec<Edit> {
    // The backslash comes first: later it would double those that the other two filters write.
    let signs = [
        (r"'\\'", r"'\\\\'"),
        ("\"'\"", "\"\\\\'\""),
        (r"'\n'", r"'\\n'"),
    ];
    let filters = signs.map(|(sign, escaped)| format!(" | replace({sign}, {escaped})"));
    escaped(source, '\'', &|value| {
        Some(format!("{value} | string{}", filters.concat()))
    })
}

/// Changes each value that stands alone between two marks of the template. In JSON, the value brings
/// its own marks.
fn escaped(source: &Source<'_>, mark: char, change: &dyn Fn(&str) -> Option<String>) -> Vec<Edit> {
    let value = format!(r"{NAME}(?:\s*\|\s*(?:string|trim))*");
    let mut edits = Vec::new();
    // `"{{ value }}"`
    if let Some(whole) = compiled(&format!(r"^\s*({value})\s*$")) {
        for tag in source.tags.iter().filter(|tag| tag.kind == TagKind::Print) {
            let around = [
                source.text.cut(..tag.place.start).ends_with(mark),
                source.text.cut(tag.place.end..).starts_with(mark),
            ];
            let found = whole.captures(&tag.code).and_then(|found| found.get(1));
            let new = found.and_then(|found| change(tag.inside.cut(found.range())));
            if let ([true, true], Some(new)) = (around, new) {
                let wide = usize::from(mark == '"');
                edits.push(Edit {
                    range: tag.place.start - wide..tag.place.end + wide,
                    text: format!("{{{{ {new} }}}}"),
                });
            }
        }
    }
    edits.extend(in_expressions(source, mark, &value, change));
    edits
}

/// The same for texts that are joined in a tag: `'"a": "' + value + '"'`.
fn in_expressions(
    source: &Source<'_>,
    mark: char,
    value: &str,
    change: &dyn Fn(&str) -> Option<String>,
) -> Vec<Edit> {
    let quote = if mark == '"' { '\'' } else { '"' };
    let Some(joined) = compiled(&format!(
        r"{mark}{quote}(\s*[+~]\s*)({value})(\s*[+~]\s*){quote}{mark}"
    )) else {
        return Vec::new();
    };
    let mut edits = Vec::new();
    for tag in &source.tags {
        for found in joined.captures_iter(tag.inside) {
            let (Some(whole), Some(new)) = (found.get(0), change(&found[2])) else {
                continue;
            };
            let kept = if mark == '"' {
                String::new()
            } else {
                mark.to_string()
            };
            // A text of the mark alone is no more.
            let is_empty = [
                mark == '"' && tag.inside.cut(..whole.start()).ends_with(quote),
                mark == '"' && tag.inside.cut(whole.end()..).starts_with(quote),
            ];
            let [open, close] = [
                format!("{kept}{quote}{}", &found[1]),
                format!("{}{quote}{kept}", &found[3]),
            ];
            let [wide, wider] = is_empty.map(usize::from);
            edits.push(Edit {
                range: tag.start + whole.start() - wide..tag.start + whole.end() + wider,
                text: [
                    if is_empty[0] { "" } else { &open },
                    &new,
                    if is_empty[1] { "" } else { &close },
                ]
                .concat(),
            });
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::tag::edited;

    #[test]
    fn a_value_brings_its_own_marks() {
        for (before, after) in [
            (r#"{"a": "{{ v }}"}"#, r#"{"a": {{ v | tojson }}}"#),
            (
                r#"{{ '{"a": "' + v + '"}' }}"#,
                r#"{{ '{"a": ' + v | tojson + '}' }}"#,
            ),
            (
                r#"{{ '"' + k + '": "' + v + '"' }}"#,
                r"{{ k | tojson + ': ' + v | tojson }}",
            ),
            (r#"{{ v }}"{{ w }}"#, r#"{{ v }}"{{ w }}"#),
        ] {
            assert_eq!(edited(before, &as_json(&Source::new(before))), after);
        }
    }
}
