//! Texts that are lost: what an assistant says beside its calls, and system messages that are not the
//! first one.
//!
//! Where a text belongs, and with which signs, the source does not say. So there are several ways,
//! and the proof picks the one that writes the text as the template does elsewhere.

use super::pattern::{NAME, Source, compiled, field};
use crate::fix::tag::{Edit, Tag, TagKind};
use rolecall_core::Cut;

/// How many tags after the test for calls may come before the text.
const MOST_TAGS: usize = 14;

/// The signs that may come before a text and after it, as texts of the template.
const SIGNS: [[&str; 2]; 5] = [
    ["", ""],
    ["", "\\n"],
    ["\\n", ""],
    [" ", ""],
    ["\\n", "\\n"],
];

/// The ways to print the content of a message before its calls.
pub(super) fn beside_calls(source: &Source<'_>) -> Vec<Vec<Edit>> {
    let calls = format!(
        r#"(?:({NAME}?)(?:\.tool_calls\b|\[['"]tool_calls['"]\]|\.get\(['"]tool_calls['"]\))|['"]tool_calls['"] in ({NAME}))"#
    );
    let Some(calls) = compiled(&calls) else {
        return Vec::new();
    };
    let mut all: Vec<Vec<Edit>> = Vec::new();
    for (at, tag) in source.tags.iter().enumerate() {
        let code = tag.code.trim_start();
        let is_test = code.starts_with("if ") || code.starts_with("elif ");
        let is_loop = code.starts_with("for ");
        let message = calls.captures(&tag.code).and_then(|found| {
            let name = found.get(1).or(found.get(2))?;
            Some(tag.inside.cut(name.range()))
        });
        let Some(message) = message.filter(|_| is_test || is_loop) else {
            continue;
        };
        let content = content_of(source, message);
        let tags = if is_loop {
            at..at + 1
        } else {
            at + 1..at + MOST_TAGS
        };
        for signs in SIGNS {
            let value = joined(&content, signs);
            let before = tags
                .clone()
                .map(|tag| before_tags_like(source, tag, &content, &value));
            let within = tags
                .clone()
                .flat_map(|tag| within_text(source, tag, &content, &value));
            for edits in before.chain(within) {
                if !edits.is_empty() && !all.contains(&edits) {
                    all.push(edits);
                }
            }
        }
    }
    all
}

/// The content of a message as the source writes it, trimmed if it trims the others.
fn content_of(source: &Source<'_>, message: &str) -> String {
    let is_field = source.text.contains(".content");
    let content = if is_field {
        format!("{message}.content")
    } else {
        format!("{message}['content']")
    };
    let trims = compiled(r#"content(?:['"]\])?\s*\|\s*trim\b"#);
    if trims.is_some_and(|trims| trims.is_match(source.text)) {
        content + " | trim"
    } else {
        content
    }
}

/// A content between signs.
fn joined(content: &str, [before, after]: [&str; 2]) -> String {
    let sign = |sign: &str| (!sign.is_empty()).then(|| format!("'{sign}'"));
    let all = [sign(before), Some(content.to_owned()), sign(after)];
    all.into_iter().flatten().collect::<Vec<_>>().join(" + ")
}

/// Whether there is a text, as a condition. A list of parts is none.
fn is_text(content: &str) -> String {
    let value = content.split(" | ").next().unwrap_or(content);
    format!("{value} is string and {value} | trim")
}

/// Prints a value before a tag, and before the others that follow upon the same text.
fn before_tags_like(source: &Source<'_>, at: usize, content: &str, value: &str) -> Vec<Edit> {
    let tags = &source.tags;
    let before = at.checked_sub(1).and_then(|at| tags.get(at));
    let Some(before) = before.filter(|_| at < tags.len()) else {
        return Vec::new();
    };
    let is_like = |other: usize| {
        let known = tags.get(other - 1);
        known.is_some_and(|known| known.kind == TagKind::Print && known.inside == before.inside)
    };
    let like = (1..tags.len()).filter(|other| *other == at || is_like(*other));
    let test = is_text(content);
    like.filter_map(|at| Some(before_tag(source, tags.get(at)?, &test, value)))
        .collect()
}

/// Prints a value before a tag if a condition does.
pub(super) fn before_tag(source: &Source<'_>, tag: &Tag<'_>, condition: &str, value: &str) -> Edit {
    let at = tag.place.start;
    let indentation = source
        .text
        .cut(..at)
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    let is_stripped = source.text.cut(at + 2..).starts_with('-');
    let text = if is_stripped && indentation.trim().is_empty() {
        let end = format!("{}{indentation}", source.newline());
        let inner = if indentation.ends_with('\t') {
            "\t"
        } else {
            "    "
        };
        format!("{{%- if {condition} %}}{end}{inner}{{{{- {value} }}}}{end}{{%- endif %}}{end}")
    } else {
        let strip = if is_stripped { "-" } else { "" };
        format!("{{%{strip} if {condition} %}}{{{{ {value} }}}}{{% endif %}}")
    };
    Edit {
        range: at..at,
        text,
    }
}

/// Joins a value with the texts that a tag prints, before each sign that may begin the calls.
fn within_text(source: &Source<'_>, at: usize, content: &str, value: &str) -> Vec<Vec<Edit>> {
    let tag = source.tags.get(at).filter(|tag| tag.kind == TagKind::Print);
    let Some(tag) = tag else {
        return Vec::new();
    };
    let mut mark = None;
    let mut edits = Vec::new();
    let mut is_escaped = false;
    for (byte, sign) in tag.inside.char_indices() {
        match mark {
            _ if is_escaped => is_escaped = false,
            Some(_) if sign == '\\' => is_escaped = true,
            None if matches!(sign, '\'' | '"') => mark = Some((sign, byte)),
            Some((open, _)) if sign == open => mark = None,
            Some((open, start)) if matches!(sign, '<' | '[') && byte > start + 1 => {
                let condition = is_text(content);
                let text = format!("{open} + ({value} if {condition} else '') + {open}");
                let place = tag.start + byte;
                edits.push(vec![Edit {
                    range: place..place,
                    text,
                }]);
            }
            _ => {}
        }
    }
    edits
}

/// The ways to print system messages that are not the first one: as the template prints questions,
/// with the other role.
pub(super) fn later_system(source: &Source<'_>) -> Vec<Vec<Edit>> {
    let question = r#"^(\s*)(if|elif)(\s+)\(?((?:\w+\.)?role|\w+\[['"]role['"]\]|\w+\.get\(['"]role['"]\)) == (['"])user['"]\)?\s*$"#;
    let (Some(question), Some(word)) = (compiled(question), compiled(r"\b([Uu])ser\b")) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (at, tag) in source.tags.iter().enumerate() {
        let Some(found) = question.captures(&tag.code) else {
            continue;
        };
        let (role, mark) = (
            tag.inside
                .cut(found.get(4).map_or(0..0, |role| role.range())),
            &found[5],
        );
        let Some(end) = branch_end(source.tags.get(at + 1..).unwrap_or_default()) else {
            continue;
        };
        let branch = source.text.cut(tag.place.end..end.place.start);
        let other = word.replace(
            branch,
            |found: &regex::Captures<'_>| {
                if &found[1] == "U" { "System" } else { "system" }
            },
        );
        for guard in ["", " and not loop.first"] {
            let is_system = format!("{role} == {mark}system{mark}{guard}");
            if word.is_match(branch) {
                let opening = source.text.cut(tag.place.start..tag.start);
                let closing = source.text.cut(tag.start + tag.inside.len()..tag.place.end);
                let keyword = &found[2];
                let text = format!(
                    "{opening}{}{keyword} {is_system} {closing}{other}",
                    &found[1]
                );
                let keyword = tag.start + found[1].len();
                let mut edits = vec![Edit {
                    range: tag.place.start..tag.place.start,
                    text,
                }];
                if &found[2] == "if" {
                    edits.push(Edit {
                        range: keyword..keyword + 2,
                        text: "elif".to_owned(),
                    });
                }
                all.push(edits);
            } else if branch.contains("role") {
                let at = tag.start + tag.inside.trim_end().len();
                let text = format!(" or {is_system}");
                all.push(vec![Edit {
                    range: at..at,
                    text,
                }]);
            }
        }
    }
    all
}

/// The tag that ends a branch which begins before some tags.
fn branch_end<'t>(tags: &'t [Tag<'t>]) -> Option<&'t Tag<'t>> {
    let mut depth = 0_usize;
    tags.iter()
        .filter(|tag| tag.kind == TagKind::Statement)
        .find(|tag| {
            let word = tag.code.split_whitespace().next().unwrap_or_default();
            match word {
                "if" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                _ => return depth == 0 && matches!(word, "elif" | "else" | "endif"),
            }
            false
        })
}

/// Joins texts that a loop collects in the place of the last one: `set ns.system = message.content`.
pub(super) fn overwritten(source: &Source<'_>) -> Vec<Edit> {
    let set = format!(r"\bset\s+(\w+\.\w+)\s*=\s*({})\s*$", field("content"));
    source.changes(&[TagKind::Statement], &set, |place| {
        let (known, content) = (place.group(1), place.group(2));
        let text = format!("({known} ~ '\\n\\n' if {known} else '') ~ {content}");
        Some((place.range_of(2)?, text))
    })
}

/// Looks for the last question, where a system message before it waits for the end of the
/// conversation.
pub(super) fn waiting(source: &Source<'_>) -> Vec<Edit> {
    let known = "user_messages";
    source.changes(&[TagKind::Statement], r"\bloop\.last\b", |place| {
        let is_meant = place.tag.code.contains("system") && source.has_name(known);
        is_meant.then(|| (place.range.clone(), format!("message == {known}[-1]")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::tag::edited;

    #[test]
    fn a_loop_over_calls_has_the_content_before_it() {
        let before = "{{ h }}\n  {%- for c in m.tool_calls %}{{ m.content }}{% endfor %}";
        let ways = beside_calls(&Source::new(before));
        let first = ways.first().map(|edits| edited(before, edits));
        let expected = before.replace(
            "{%- for",
            "{%- if m.content is string and m.content | trim %}\n      {{- m.content }}\n  \
             {%- endif %}\n  {%- for",
        );
        assert_eq!(first.as_deref(), Some(expected.as_str()));
    }

    #[test]
    fn collected_texts_are_joined() {
        let before = "{% set ns.system = m['content'] %}";
        assert_eq!(
            edited(before, &overwritten(&Source::new(before))),
            "{% set ns.system = (ns.system ~ '\\n\\n' if ns.system else '') ~ m['content'] %}"
        );
    }
}
