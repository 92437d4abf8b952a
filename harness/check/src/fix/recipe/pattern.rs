//! What recipes look for in tags: patterns of code, and where they match.

use rolecall_core::Cut;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};

use regex::{Captures, Regex};

use crate::fix::tag::{Edit, Tag, TagKind, tags};

/// A name with its fields: `message`, `call.function`, `messages[0]['content']`.
pub(super) const NAME: &str = r#"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\['\w+'\]|\["\w+"\]|\[-?\d+\]|\[loop\.index0(?: ?[-+] ?\d+)?\])*"#;

/// A pattern of code. Whatever is not ASCII may be a part of a name: outside of its texts, a template
/// has it nowhere else. Unicode's own list of letters takes much longer to compile than to search.
///
/// Most patterns are the same for every template, so they are kept. Those with names of a template
/// are kept, too; the limits are for templates with very many, or very long ones.
pub(super) fn compiled(pattern: &str) -> Option<Regex> {
    const MOST_KEPT: usize = 64;
    const LONGEST_KEPT: usize = 2048;
    static KEPT: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept().get(pattern) {
        return Some(known.clone());
    }
    let spelt_out = pattern.replace(r"\w", r"[0-9A-Za-z_\x{80}-\x{10FFFF}]");
    let compiled = Regex::new(&spelt_out.replace(r"\d", "[0-9]")).ok()?;
    if pattern.len() <= LONGEST_KEPT {
        let mut kept = kept();
        if kept.len() == MOST_KEPT {
            kept.clear();
        }
        kept.insert(pattern.to_owned(), compiled.clone());
    }
    Some(compiled)
}

/// A pattern for a field of something, by its names in a regular expression: `content|name`.
pub(super) fn field(names: &str) -> String {
    format!(r#"{NAME}(?:\.(?:{names})\b|\['(?:{names})'\]|\["(?:{names})"\])"#)
}

pub(in crate::fix) struct Source<'s> {
    pub(super) text: &'s str,
    pub(super) tags: Vec<Tag<'s>>,
}

/// A match of a pattern in a tag.
pub(super) struct Place<'p> {
    pub(super) tag: &'p Tag<'p>,
    /// Where the whole match is in the inside of the tag.
    pub(super) range: Range<usize>,
    captures: &'p Captures<'p>,
}

impl<'s> Source<'s> {
    /// Finds the tags of a source.
    pub(in crate::fix) fn new(text: &'s str) -> Source<'s> {
        Source {
            text,
            tags: tags(text),
        }
    }

    pub(in crate::fix) fn text(&self) -> &'s str {
        self.text
    }

    /// Whether a name is anywhere in the code of the tags.
    pub(super) fn has_name(&self, name: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        self.tags.iter().any(|tag| {
            tag.code.match_indices(name).any(|(at, _)| {
                !tag.code.cut(..at).ends_with(is_part)
                    && !tag.code.cut(at + name.len()..).starts_with(is_part)
            })
        })
    }

    /// The filter for JSON, spaced as the source has it.
    pub(super) fn to_json(&self) -> &'static str {
        let count = |filter| self.text.matches(filter).count();
        if count("|tojson") > count("| tojson") {
            "|tojson"
        } else {
            " | tojson"
        }
    }

    /// The names that are given to a field or to the result of a method, by the end of the value.
    pub(super) fn names_of(&self, end: &str) -> Vec<String> {
        let Some(set) = compiled(&format!(
            r"^\s*set\s+([A-Za-z_]\w*)\s*=\s*{NAME}(?:\.(?:{end})|\[.(?:{end}).\])\s*$"
        )) else {
            return Vec::new();
        };
        let found = self.tags.iter().filter_map(|tag| set.captures(&tag.code));
        let mut names: Vec<String> = found.map(|found| found[1].to_owned()).collect();
        names.dedup();
        names
    }

    /// The line ending of the source.
    pub(super) fn newline(&self) -> &'static str {
        let first = self.text.find('\n').map(|at| self.text.cut(..at));
        match first {
            Some(line) if line.ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// Changes every match of a pattern in the tags of some kinds. A match that is the end of a
    /// longer name is none.
    pub(super) fn changes(
        &self,
        kinds: &[TagKind],
        pattern: &str,
        change: impl Fn(&Place<'_>) -> Option<(Range<usize>, String)>,
    ) -> Vec<Edit> {
        // Patterns are written here, and a test reads them all.
        let Some(pattern) = compiled(pattern) else {
            return Vec::new();
        };
        let mut edits = Vec::new();
        for tag in self.tags.iter().filter(|tag| kinds.contains(&tag.kind)) {
            for captures in pattern.captures_iter(&tag.code) {
                let Some(whole) = captures.get(0) else {
                    continue;
                };
                let begins_in_name = tag
                    .code
                    .cut(..whole.start())
                    .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ']' | ')'));
                let is_name = whole
                    .as_str()
                    .starts_with(|c: char| c.is_alphabetic() || c == '_');
                if begins_in_name && is_name {
                    continue;
                }
                let place = Place {
                    tag,
                    range: whole.range(),
                    captures: &captures,
                };
                if let Some((range, text)) = change(&place) {
                    edits.push(Edit {
                        range: tag.start + range.start..tag.start + range.end,
                        text,
                    });
                }
            }
        }
        edits
    }
}

impl Place<'_> {
    /// The source of a group of the pattern. Empty if the group is not in the match.
    pub(super) fn group(&self, number: usize) -> &str {
        let group = self.captures.get(number);
        group.map_or("", |group| self.tag.inside.cut(group.range()))
    }

    /// Where a group of the pattern is in the inside of the tag.
    pub(super) fn range_of(&self, number: usize) -> Option<Range<usize>> {
        Some(self.captures.get(number)?.range())
    }

    /// The code before a byte of the tag, without white space at its end.
    pub(super) fn before(&self, at: usize) -> &str {
        self.tag.code.cut(..at).trim_end()
    }

    /// The code after a byte of the tag, without white space at its beginning.
    pub(super) fn after(&self, at: usize) -> &str {
        self.tag.code.cut(at..).trim_start()
    }

    /// Whether a range is the whole expression of the tag.
    pub(super) fn is_whole(&self, range: &Range<usize>) -> bool {
        self.before(range.start).is_empty() && self.after(range.end).is_empty()
    }

    /// Whether a range is the whole value of a `set` tag.
    pub(super) fn is_value(&self, range: &Range<usize>) -> bool {
        let before = self.before(range.start);
        let name = before.trim_start().strip_prefix("set ");
        let name = name.and_then(|rest| rest.strip_suffix('=')).map(str::trim);
        let is_name = |name: &str| {
            name.chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
        };
        name.is_some_and(is_name) && self.after(range.end).is_empty()
    }

    /// Whether an expression with `if` needs no parentheses in a range: it is everything, or it is
    /// in some already.
    pub(super) fn is_alone(&self, range: &Range<usize>) -> bool {
        if self.is_whole(range) || self.is_value(range) {
            return true;
        }
        // The parentheses of a call are none.
        let before = self.before(range.start);
        let opens = before.strip_suffix('(').is_some_and(|rest| {
            !rest.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'))
        });
        opens && self.after(range.end).starts_with(')')
    }

    /// Whether a range is an operand of texts that are joined, or is taken alone.
    pub(super) fn is_joined(&self, range: &Range<usize>) -> bool {
        let (before, after) = (self.before(range.start), self.after(range.end));
        let is_start = self.tag.kind == TagKind::Print && before.is_empty()
            || before.ends_with(['+', '~'])
            || self.is_value(&(range.start..self.tag.code.len()));
        let is_end = after.is_empty() || after.starts_with(['+', '~', '|']);
        is_start && is_end
    }
}
