//! Guards that an empty list passes: `tools is not none` becomes `tools`.

use std::ops::Range;

use super::pattern::{Place, Source, field};
use crate::fix::tag::{Edit, TagKind};

const BOTH: &[TagKind] = &[TagKind::Print, TagKind::Statement];

/// The words with which templates ask whether something is there, and whether it is not.
const IS_THERE: &str =
    r"(?:is defined|is not none|is not None|is not undefined|!= ?none|!= ?None)\b";
const IS_NOT_THERE: &str = r"(?:is not defined|is undefined|is none|is None|== ?none|== ?None)\b";

/// Guards of the list of tools.
pub(super) fn of_tools(source: &Source<'_>) -> Vec<Edit> {
    asked(source, r"\btools\b")
}

/// Guards of the calls of a message, also those that ask whether the message has the key.
pub(super) fn of_calls(source: &Source<'_>) -> Vec<Edit> {
    // Compiling the patterns takes an eighth of the time of a short template's card.
    if !source.text.contains("tool_calls") {
        return Vec::new();
    }
    let mut edits = asked(source, &field("tool_calls"));
    let key = r#"(?:\bnot +)?(['"])tool_calls['"] (not )?in ([A-Za-z_]\w*)\b"#;
    edits.extend(source.changes(BOTH, key, |place| {
        // `'tool_calls' in message.keys()` is another expression.
        if place.after(place.range.end).starts_with(['.', '[', '(']) {
            return None;
        }
        let (mark, name) = (place.group(1), place.group(3));
        let calls = if place.tag.inside.contains('[') || !source.text.contains(".tool_calls") {
            format!("{name}[{mark}tool_calls{mark}]")
        } else {
            format!("{name}.tool_calls")
        };
        let is_negated = place.group(0).starts_with("not ") == place.group(2).is_empty();
        Some(guard(place, is_negated, &calls))
    }));
    let filter = r#"\bselectattr\((['"])tool_calls['"], ?['"]undefined['"]\)"#;
    edits.extend(source.changes(BOTH, filter, |place| {
        let mark = place.group(1);
        Some((
            place.range.clone(),
            format!("rejectattr({mark}tool_calls{mark})"),
        ))
    }));
    edits
}

/// Questions whether something is there, or not, where it may also be empty.
fn asked(source: &Source<'_>, what: &str) -> Vec<Edit> {
    let there = format!("({what}) {IS_THERE}(?: and ({what}) {IS_THERE})?");
    let mut edits = source.changes(BOTH, &there, |place| {
        let (one, other) = (place.group(1), place.group(2));
        if other.is_empty() || one == other {
            return Some(guard(place, false, one));
        }
        None
    });
    // `not x is none` is a question whether `x` is there.
    let not_there = format!(r"(\bnot +)?({what}) {IS_NOT_THERE}(?: or ({what}) {IS_NOT_THERE})?");
    edits.extend(source.changes(BOTH, &not_there, |place| {
        let (not, one, other) = (place.group(1), place.group(2), place.group(3));
        match (not, other) {
            ("", "") => Some(guard(place, true, one)),
            ("", other) if one == other => Some(guard(place, true, one)),
            (_, "") => Some(guard(place, false, one)),
            _ => None,
        }
    }));
    edits
}

/// The range of a guard with the parentheses that it does not need, and what takes its place.
fn guard(place: &Place<'_>, is_negated: bool, what: &str) -> (Range<usize>, String) {
    let not = if is_negated { "not " } else { "" };
    let text = format!("{not}{what}");
    let range = place.range.clone();
    let (before, following) = (place.before(range.start), place.after(range.end));
    let (Some(outside), Some(rest)) = (before.strip_suffix('('), following.strip_prefix(')'))
    else {
        return (range, text);
    };
    let ends_in = |words: &[&str]| {
        words.iter().any(|word| {
            let rest = outside.trim_end().strip_suffix(word);
            rest.is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    };
    let opens = outside.trim_end().is_empty()
        || outside.ends_with('(')
        || ends_in(&["and", "or", "if", "elif"])
        || !is_negated && ends_in(&["not"]);
    let rest_of = rest.trim_start();
    let closes = rest_of.is_empty()
        || rest_of.starts_with(')')
        || ["and", "or", "else"]
            .iter()
            .any(|word| rest_of.starts_with(word));
    if !opens || !closes {
        return (range, text);
    }
    let start = outside.len();
    let end = place.tag.code.len() - rest.len();
    // `and(…)` needs no space, and `and x` does; the same after it.
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = if outside.ends_with(is_word) { " " } else { "" };
    let following = if rest.starts_with(is_word) { " " } else { "" };
    (start..end, format!("{before}{text}{following}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::tag::edited;

    fn tools(source: &str) -> String {
        edited(source, &of_tools(&Source::new(source)))
    }

    fn calls(source: &str) -> String {
        edited(source, &of_calls(&Source::new(source)))
    }

    #[test]
    fn what_asks_for_something_asks_for_something_in_it() {
        for (before, after) in [
            (
                "{% if tools is defined and tools is not none %}",
                "{% if tools %}",
            ),
            ("{% if (tools is not none) and x %}", "{% if tools and x %}"),
            ("{% if not tools is defined %}", "{% if not tools %}"),
            ("{% if a and not tools is none %}", "{% if a and tools %}"),
            ("{% if not(tools is defined) %}", "{% if not tools %}"),
            (
                "{% if xml_tools is none or m.tools is none %}",
                "{% if xml_tools is none or m.tools is none %}",
            ),
            ("{{ f(tools is none) }}", "{{ f(not tools) }}"),
            (
                "tools is none {{ 'tools is none' }}",
                "tools is none {{ 'tools is none' }}",
            ),
        ] {
            assert_eq!(tools(before), after);
        }
    }

    #[test]
    fn both_ways_to_ask_for_calls_are_changed_together() {
        for (before, after) in [
            (
                "{% if 'tool_calls' in m %}{% elif 'tool_calls' not in m %}",
                "{% if m['tool_calls'] %}{% elif not m['tool_calls'] %}",
            ),
            (
                "{% if (\"tool_calls\" in m) %}{% for c in m.tool_calls %}",
                "{% if m.tool_calls %}{% for c in m.tool_calls %}",
            ),
            (
                "{% if a or (m['tool_calls'] is not defined or m['tool_calls'] is none) %}",
                "{% if a or not m['tool_calls'] %}",
            ),
            (
                "{% if not 'tool_calls' in m %}",
                "{% if not m['tool_calls'] %}",
            ),
            (
                "{% if 'tool_calls' in m.keys() %}",
                "{% if 'tool_calls' in m.keys() %}",
            ),
            (
                "{% if m.tool_calls is defined and n.tool_calls is not none %}",
                "{% if m.tool_calls is defined and n.tool_calls is not none %}",
            ),
            (
                "{% for m in messages | selectattr('tool_calls', 'undefined') %}",
                "{% for m in messages | rejectattr('tool_calls') %}",
            ),
        ] {
            assert_eq!(calls(before), after);
        }
    }
}
