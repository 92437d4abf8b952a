//! Text parts in the place of a text: `[{"type": "text", "text": "Hi"}]` is printed as a list.
//!
//! The patch puts a macro at the top of the source and calls it where a content is used. What is no
//! list of text parts stays as it was. The macro uses what Jinja2, minijinja and
//! `@huggingface/jinja` have.

use super::pattern::{NAME, Place, Source, compiled};
use crate::fix::tag::{Edit, TagKind};
use rolecall_core::Cut;

const METHODS: [&str; 7] = [
    ".split(",
    ".strip(",
    ".lstrip(",
    ".rstrip(",
    ".replace(",
    ".startswith(",
    ".endswith(",
];

/// A content: the message, and the field.
fn content() -> String {
    format!(r#"({NAME}?)(\.content\b|\['content'\]|\["content"\])"#)
}

/// Prints the text of parts where a content is printed. Another content is printed by the macro.
pub(super) fn printed(source: &Source<'_>) -> Vec<Edit> {
    let name = name(source);
    source.changes(&[TagKind::Print], &content(), |place| {
        is_printed(place).then(|| {
            let content = place.group(0);
            (place.range.clone(), format!("{name}({content})"))
        })
    })
}

/// Takes the text of parts where a content is printed, joined with texts, named, or where a method
/// of it is called. The macro is empty for another content, which is taken as it is.
pub(super) fn taken(source: &Source<'_>) -> Vec<Edit> {
    let name = name(source);
    let taken = |place: &Place<'_>, is_whole: bool| {
        let content = place.group(0);
        let text = format!("{name}({content}) or {content}");
        let text = if is_whole { text } else { format!("({text})") };
        (place.range.clone(), text)
    };
    let mut edits = source.changes(&[TagKind::Print], &content(), |place| {
        let (before, rest) = around(place);
        let is_chosen = before.ends_with('(') && rest.starts_with("if ");
        let is_joined = before.ends_with('+') || rest.starts_with('+') || is_chosen;
        (is_printed(place) || is_joined || is_asked(place)).then(|| {
            taken(
                place,
                place.is_whole(&place.range) || rest.starts_with("if "),
            )
        })
    });
    edits.extend(source.changes(&[TagKind::Statement], &content(), |place| {
        let (before, rest) = around(place);
        let is_value = place.is_value(&place.range);
        let is_set = before.trim_start().starts_with("set ");
        let is_joined = before.ends_with(['+', '~']) || rest.starts_with(['+', '~', '|']);
        (is_value || is_set && (is_asked(place) || is_joined)).then(|| taken(place, is_value))
    }));
    edits.extend(forgotten(source, &name));
    edits
}

/// The same, also where a content is tested before a method of it is called, or for a text in it:
/// `message.content is string and message.content.startswith(…)`.
pub(super) fn taken_and_tested(source: &Source<'_>) -> Vec<Edit> {
    let name = name(source);
    let mut edits = taken(source);
    edits.extend(source.changes(&[TagKind::Statement], &content(), |place| {
        let code = place.tag.code.trim_start();
        let is_condition = code.starts_with("if ") || code.starts_with("elif ");
        let content = place.group(0);
        let is_asked = METHODS.iter().any(|method| {
            let call = format!("{content}{method}");
            place.tag.inside.contains(&call)
        }) || place.tag.inside.contains(&format!("' in {content}"));
        (is_condition && is_asked).then(|| {
            let text = format!("({name}({content}) or {content})");
            (place.range.clone(), text)
        })
    }));
    edits
}

/// Branches that take everything but texts for nothing: `{% else %}{% set content = '' %}`.
fn forgotten(source: &Source<'_>, name: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let empty = |code: &str| {
        let value = code.trim().strip_prefix("set ")?;
        let (target, value) = value.split_once('=')?;
        matches!(value.trim(), "''" | "\"\"").then(|| target.trim().to_owned())
    };
    let content = content();
    for window in source.tags.windows(3) {
        let [first, between, last] = window else {
            continue;
        };
        let (Some(target), "else") = (empty(&last.code), between.code.trim()) else {
            continue;
        };
        let value = first.code.trim().strip_prefix("set ");
        let value = value.and_then(|value| value.split_once('='));
        let Some((_, value)) = value.filter(|(known, _)| known.trim() == target) else {
            continue;
        };
        let whole = compiled(&format!("^{content}$"));
        if !whole.is_some_and(|whole| whole.is_match(value.trim())) {
            continue;
        }
        let value = value.trim();
        let place = first.code.rfind(value).map(|at| at..at + value.len());
        let value = place.map_or("", |place| first.inside.cut(place));
        let Some(at) = last.code.find(['\'', '"']) else {
            continue;
        };
        edits.push(Edit {
            range: last.start + at..last.start + at + 2,
            text: format!("{name}({value})"),
        });
    }
    let pattern = format!(r#"{content} is string else (''|"")"#);
    edits.extend(
        source.changes(&[TagKind::Print, TagKind::Statement], &pattern, |place| {
            let content = format!("{}{}", place.group(1), place.group(2));
            Some((place.range_of(3)?, format!("{name}({content})")))
        }),
    );
    edits
}

/// The macro for [`printed`], as a change at the beginning of the source.
pub(super) fn printing_macro(source: &Source<'_>) -> Edit {
    let end = "{{- whole.text if whole.is_text else content -}}";
    macro_of(source, end)
}

/// The macro for [`taken`].
pub(super) fn taking_macro(source: &Source<'_>) -> Edit {
    let end = "{{- whole.text if whole.is_text else '' -}}";
    macro_of(source, end)
}

fn macro_of(source: &Source<'_>, end: &str) -> Edit {
    // A byte order mark stays the first character of the prompt.
    let at = if source.text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let name = name(source);
    // White space at the beginning of the source must not be stripped. Where it is, the engines of
    // chat templates drop the line break after the tag (`trim_blocks`).
    let is_stripped = !source.text.cut(at..).starts_with(char::is_whitespace);
    let last = if is_stripped { "-%}" } else { "%}" };
    // A `set` in a loop of Jinja2 ends with its iteration. Only a namespace keeps the text from part to
    // part.
    let lines = [
        &format!("{{%- macro {name}(content) -%}}"),
        "    {%- set whole = namespace(text='', is_text=content is iterable and content is not string) -%}",
        "    {%- if whole.is_text -%}",
        "        {%- for part in content -%}",
        "            {%- if part is mapping and part.type == 'text' and part.text is string -%}",
        "                {%- set whole.text = whole.text + part.text -%}",
        "            {%- else -%}",
        "                {%- set whole.is_text = false -%}",
        "            {%- endif -%}",
        "        {%- endfor -%}",
        "    {%- endif -%}",
        &format!("    {end}"),
        &format!("{{%- endmacro {last}"),
    ];
    Edit {
        range: at..at,
        text: lines
            .map(|line| format!("{line}{}", source.newline()))
            .concat(),
    }
}

/// A name for the macro that the source does not use.
fn name(source: &Source<'_>) -> String {
    let names = ["text_of", "text_of_parts", "joined_text"];
    let free = names.into_iter().find(|name| !source.has_name(name));
    free.map_or_else(
        || {
            let mut numbers = 2..;
            let free = numbers.find(|number| !source.has_name(&format!("text_of_{number}")));
            format!("text_of_{}", free.unwrap_or(0))
        },
        str::to_owned,
    )
}

/// The code around a match, without white space next to it.
fn around<'p>(place: &'p Place<'_>) -> (&'p str, &'p str) {
    (
        place.before(place.range.start),
        place.after(place.range.end),
    )
}

/// Whether a content is printed as it is: alone, joined by `~`, or trimmed.
fn is_printed(place: &Place<'_>) -> bool {
    let (before, rest) = around(place);
    let rest = match rest.strip_prefix('|').map(str::trim_start) {
        Some(filter) => filter.strip_prefix("trim").map_or("?", str::trim_start),
        None => rest,
    };
    let is_chosen = before.is_empty() && rest.starts_with("if ");
    (before.is_empty() || before.ends_with('~')) && (rest.is_empty() || rest.starts_with('~'))
        || is_chosen
}

/// Whether a method of a content is called that texts have.
fn is_asked(place: &Place<'_>) -> bool {
    let (_, rest) = around(place);
    METHODS.iter().any(|method| rest.starts_with(method))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::tag::edited;

    #[test]
    fn a_content_is_printed_by_the_macro() {
        for (before, after) in [
            ("{{ m.content }}", "{{ text_of(m.content) }}"),
            (
                "{{ 'a' ~ m['content'] | trim ~ 'b' }}",
                "{{ 'a' ~ text_of(m['content']) | trim ~ 'b' }}",
            ),
            (
                "{{ m.content if m.content is not none else '' }}",
                "{{ text_of(m.content) if m.content is not none else '' }}",
            ),
            ("{{ 'a' + m.content }}", "{{ 'a' + m.content }}"),
            ("{{ f(m.content) }}", "{{ f(m.content) }}"),
            ("{% if m.content %}", "{% if m.content %}"),
        ] {
            assert_eq!(edited(before, &printed(&Source::new(before))), after);
        }
    }

    #[test]
    fn a_content_that_is_used_is_taken_with_the_macro() {
        for (before, after) in [
            (
                "{{ 'a' + messages[0].content }}",
                "{{ 'a' + (text_of(messages[0].content) or messages[0].content) }}",
            ),
            (
                "{% set text = m.content %}",
                "{% set text = text_of(m.content) or m.content %}",
            ),
            (
                "{% if c %}{% set c = m.content %}{% else %}{% set c = '' %}",
                "{% if c %}{% set c = text_of(m.content) or m.content %}{% else %}\
                 {% set c = text_of(m.content) %}",
            ),
            (
                "{% set c = m.content if m.content is string else '' %}",
                "{% set c = m.content if m.content is string else text_of(m.content) %}",
            ),
        ] {
            assert_eq!(edited(before, &taken(&Source::new(before))), after);
        }
    }

    #[test]
    fn the_macro_has_a_name_of_its_own_and_the_file_s_line_endings() {
        let text = "\u{feff}{{ text_of }}\r\n";
        let edit = printing_macro(&Source::new(text));
        assert_eq!(edit.range, 3..3);
        assert!(
            edit.text
                .starts_with("{%- macro text_of_parts(content) -%}\r\n")
        );
        assert!(edit.text.ends_with("{%- endmacro -%}\r\n"));
        let edit = printing_macro(&Source::new("\n{{ x }}"));
        assert!(edit.text.ends_with("{%- endmacro %}\n"), "{}", edit.text);
    }
}
