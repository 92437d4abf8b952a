//! Values that are null: `{{ message.content }}` prints `None`.

use super::pattern::{Place, Source, field};
use crate::fix::tag::{Edit, TagKind};

/// The fields whose value is a text, or null.
const TEXTS: &str = "content|name|tool_call_id|id|description|type";

/// Prints nothing where a text is null. Zero, false and an empty list stay what they are.
pub(super) fn printed(source: &Source<'_>) -> Vec<Edit> {
    let pattern = format!("({})", field(TEXTS));
    source.changes(&[TagKind::Print], &pattern, |place| {
        let range = place.range.clone();
        let (before, behind) = (place.before(range.start), place.behind(range.end));
        let is_operand = (before.is_empty() || before.ends_with(['+', '~']))
            && (behind.is_empty() || behind.starts_with(['+', '~', '|']));
        is_operand.then(|| (range.clone(), or_nothing(place, place.is_whole(&range))))
    })
}

/// The same where a text is first given a name.
pub(super) fn named(source: &Source<'_>) -> Vec<Edit> {
    let pattern = format!("({})", field(TEXTS));
    source.changes(&[TagKind::Statement], &pattern, |place| {
        let range = place.range.clone();
        place
            .is_value(&range)
            .then(|| (range, or_nothing(place, true)))
    })
}

/// A value, or nothing where it is null.
fn or_nothing(place: &Place<'_>, is_whole: bool) -> String {
    let value = place.group(1);
    let text = format!("{value} if {value} is not none else ''");
    if is_whole { text } else { format!("({text})") }
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
            ("{{ f(m.content) }}", "{{ f(m.content) }}"),
            ("{{ m.content.strip() }}", "{{ m.content.strip() }}"),
            ("{{ m.contents }}", "{{ m.contents }}"),
        ] {
            assert_eq!(edited(before, &printed(&Source::new(before))), after);
        }
        let set = "{% set text = m.content %}{% set two = m.content + 'x' %}{% if m.content %}";
        assert_eq!(
            edited(set, &named(&Source::new(set))),
            "{% set text = m.content if m.content is not none else '' %}\
             {% set two = m.content + 'x' %}{% if m.content %}"
        );
    }
}
