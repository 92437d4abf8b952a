//! Values that are null: `{{ message.content }}` prints `None`.

use super::pattern::{Source, field};
use crate::fix::tag::{Edit, TagKind};

/// The fields whose value is a text, or null.
const TEXTS: &str = "content|name|tool_call_id|id|description|type";

/// Prints nothing where a text is null. Zero, false and an empty list stay what they are.
pub(super) fn printed(source: &Source<'_>) -> Vec<Edit> {
    joined(source, &[TagKind::Print], &field(TEXTS))
}

/// The same where texts are joined and given a name.
pub(super) fn named(source: &Source<'_>) -> Vec<Edit> {
    joined(source, &[TagKind::Statement], &field(TEXTS))
}

/// The same for what a macro or a `set` names `content`.
pub(super) fn variables(source: &Source<'_>) -> Vec<Edit> {
    joined(source, &[TagKind::Print], r"\bcontent\b")
}

/// Takes something empty for what tools and calls may do without.
pub(super) fn missing(source: &Source<'_>) -> Vec<Edit> {
    let objects = "parameters|properties|items|additionalProperties";
    let pattern = format!(
        "({})(\\.\\w+\\()?",
        field(&format!("{objects}|description|type|id"))
    );
    source.changes(&[TagKind::Print, TagKind::Statement], &pattern, |place| {
        let (value, is_method) = (place.group(1), !place.group(2).is_empty());
        let range = place.range_of(1)?;
        let (before, rest) = (place.before(range.start), place.after(range.end));
        let is_object = objects
            .split('|')
            .any(|name| value.trim_end_matches(['\'', '"', ']']).ends_with(name));
        let is_used = is_method
            || rest.is_empty()
            || rest.starts_with(['.', '[', '|', '+', '~', ',', '}', ')'])
            || before.ends_with(['+', '~']);
        let is_tested = ["default", "| d("]
            .iter()
            .any(|known| rest.trim_start_matches(['|', ' ']).starts_with(known));
        let nothing = if is_object { "{}" } else { "''" };
        let text = format!("{value} | default({nothing})");
        let is_alone = place.is_alone(&range) || rest.starts_with('|') && before.is_empty();
        let text = if is_alone { text } else { format!("({text})") };
        (is_used && !is_tested && !before.ends_with("not")).then_some((range, text))
    })
}

/// Changes a value where it is printed, or joined with texts. It may be the argument of a macro, as
/// of the one that joins text parts.
fn joined(source: &Source<'_>, kinds: &[TagKind], value: &str) -> Vec<Edit> {
    let pattern = format!(r"([A-Za-z_]\w*\()?({value})(\))?(?: or ({value}))?");
    source.changes(kinds, &pattern, |place| {
        let (opens, closes) = (place.group(1), place.group(3));
        let (value, other) = (place.group(2), place.group(4));
        if opens.is_empty() != closes.is_empty() || !(other.is_empty() || other == value) {
            return None;
        }
        let range = &place.range;
        let is_alone = place.is_alone(range);
        if !(is_alone || place.is_joined(range)) {
            return None;
        }
        let text = format!("{} if {value} is not none else ''", place.group(0));
        let text = if is_alone { text } else { format!("({text})") };
        Some((range.clone(), text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::tag::edited;

    #[test]
    fn only_null_is_replaced() {
        for (before, after) in [
            (
                "{{ m.content }}",
                "{{ m.content if m.content is not none else '' }}",
            ),
            (
                "{{- '<' + m['content'] | trim -}}",
                "{{- '<' + (m['content'] if m['content'] is not none else '') | trim -}}",
            ),
            (
                "{{ f(m.content) + 'x' }}",
                "{{ (f(m.content) if m.content is not none else '') + 'x' }}",
            ),
            (
                "{{ 'x' ~ (f(m.content) or m.content) }}",
                "{{ 'x' ~ (f(m.content) or m.content if m.content is not none else '') }}",
            ),
            ("{{ f(m.content, 1) }}", "{{ f(m.content, 1) }}"),
            ("{{ m.content.strip() }}", "{{ m.content.strip() }}"),
            ("{{ m.contents }}", "{{ m.contents }}"),
        ] {
            assert_eq!(edited(before, &printed(&Source::new(before))), after);
        }
        let set =
            "{% set text = m.content %}{% set two = '<' + m.content + 'x' %}{% if m.content %}";
        assert_eq!(
            edited(set, &named(&Source::new(set))),
            "{% set text = m.content if m.content is not none else '' %}\
             {% set two = '<' + (m.content if m.content is not none else '') + 'x' %}\
             {% if m.content %}"
        );
    }
}
