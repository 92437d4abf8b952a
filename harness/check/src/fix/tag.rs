//! The tags of a Jinja source, and changes of their content.

use rolecall_core::Cut;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagKind {
    /// It prints an expression: `{{ … }}`.
    Print,
    /// It is a statement: `{% … %}`.
    Statement,
}

#[derive(Debug, Clone)]
pub(super) struct Tag<'s> {
    pub(super) kind: TagKind,
    /// The byte of the source at which the tag begins, and the one after it.
    pub(super) place: Range<usize>,
    /// The byte of the source at which its expression begins.
    pub(super) start: usize,
    /// Its content, without the signs that strip white space.
    pub(super) inside: &'s str,
    /// The same, of the same length, with other characters for the words in its texts. So a pattern
    /// finds code only. A text that is one word, such as the key in `message['content']`, is kept.
    pub(super) code: String,
}

/// A change of a source: the text of a range is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// The tags of a source, in their order. Comments and raw blocks have none.
pub(super) fn tags(source: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut at = 0;
    while let Some(found) = source.cut(at..).find('{') {
        let open = at + found;
        let rest = source.cut(open..);
        if rest.starts_with("{#") {
            let end = rest.find("#}").map_or(source.len(), |end| open + end + 2);
            at = end;
            continue;
        }
        let (kind, close) = if rest.starts_with("{{") {
            (TagKind::Print, "}}")
        } else if rest.starts_with("{%") {
            (TagKind::Statement, "%}")
        } else {
            at = open + 1;
            continue;
        };
        // The tag has no end. No engine reads such a template, and no patch helps.
        let Some(tag) = tag(source, open, kind, close) else {
            break;
        };
        at = tag.place.end;
        if kind == TagKind::Statement && tag.inside.trim() == "raw" {
            at = raw_end(source, at);
        }
        tags.push(tag);
    }
    tags
}

/// The tag that opens at a byte. None if nothing closes it.
fn tag<'s>(source: &'s str, open: usize, kind: TagKind, close: &str) -> Option<Tag<'s>> {
    // Jinja2 has two signs at the edges of a tag: `-` strips white space, and `+` keeps what
    // `lstrip_blocks` would strip.
    let strips = source.cut(open + 2..).starts_with(['-', '+']);
    let start = open + 2 + usize::from(strips);
    let mut code = String::new();
    let mut depth = 0_usize;
    let mut rest = source.cut(start..);
    let inside = loop {
        if depth == 0 {
            let signs = rest.strip_prefix(['-', '+']).unwrap_or(rest);
            if signs.starts_with(close) {
                break source.cut(start..source.len() - rest.len());
            }
        }
        let first = rest.chars().next()?;
        if matches!(first, '\'' | '"') {
            let text = rest.cut(..text_end(rest, first)?);
            code.push_str(&hidden(text));
            rest = rest.cut(text.len()..);
            continue;
        }
        // A dictionary may end in the braces that would close the tag.
        match first {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        code.push(first);
        rest = rest.cut(first.len_utf8()..);
    };
    let after = source.cut(start + inside.len()..).find(close)?;
    let end = start + inside.len() + after + close.len();
    Some(Tag {
        kind,
        place: open..end,
        start,
        inside,
        code,
    })
}

/// The length of the text that a source begins with, quotation marks included.
fn text_end(source: &str, mark: char) -> Option<usize> {
    let mut chars = source.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == mark {
            return Some(at + 1);
        }
    }
    None
}

/// A text of the same length with other characters in it, unless it is one word.
fn hidden(text: &str) -> String {
    let mark = text.cut(..1);
    let words = text.cut(1..text.len() - 1);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if words.chars().all(is_word) {
        return text.to_owned();
    }
    format!("{mark}{}{mark}", "\u{1}".repeat(words.len()))
}

/// The byte after a raw block that begins at a byte.
fn raw_end(source: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(found) = source.cut(at..).find("{%") {
        let open = at + found;
        let Some(end) = source.cut(open..).find("%}") else {
            break;
        };
        let inside = source.cut(open + 2..open + end);
        if inside.trim_matches(['-', '+']).trim() == "endraw" {
            return open + end + 2;
        }
        at = open + 2;
    }
    source.len()
}

/// A source with some changes. They must not overlap.
pub(super) fn edited<'e>(source: &str, edits: impl IntoIterator<Item = &'e Edit>) -> String {
    let mut edits: Vec<&Edit> = edits.into_iter().collect();
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut text = String::with_capacity(source.len() + 64);
    let mut at = 0;
    for edit in edits {
        text.push_str(source.cut(at..edit.range.start));
        text.push_str(&edit.text);
        at = edit.range.end;
    }
    text.push_str(source.cut(at..));
    text
}

/// Changes of one list and then those of others that overlap with none before them.
pub(super) fn together(lists: impl IntoIterator<Item = Vec<Edit>>) -> Vec<Edit> {
    let mut all: Vec<Edit> = Vec::new();
    for edit in lists.into_iter().flatten() {
        let overlaps = |known: &Edit| {
            *known == edit
                || known.range.start < edit.range.end && edit.range.start < known.range.end
        };
        if !all.iter().any(overlaps) {
            all.push(edit);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insides(source: &str) -> Vec<&str> {
        tags(source).iter().map(|tag| tag.inside).collect()
    }

    #[test]
    fn tags_are_found_and_nothing_else() {
        assert_eq!(
            insides("a {{- b -}} { {% if c %}{#- {{ d }} -#}{% raw %}{{ e }}{%- endraw -%}{{ f }}"),
            [" b ", " if c ", " raw ", " f "]
        );
        assert_eq!(
            insides("{{ '}}' ~ \"%}\" }}{{ {'a': {}} }}"),
            [" '}}' ~ \"%}\" ", " {'a': {}} "]
        );
        assert_eq!(insides("{{ 'it\\'s' }}{{ open"), [" 'it\\'s' "]);
        assert_eq!(insides("{{ 'open }}"), [""; 0]);
    }

    #[test]
    fn a_tag_knows_its_place() {
        let source = "x{%- if tools -%}y";
        let [tag] = &tags(source)[..] else { panic!() };
        assert_eq!(&source[tag.place.clone()], "{%- if tools -%}");
        assert!(source[tag.start..].starts_with(tag.inside));
        assert_eq!(tag.kind, TagKind::Statement);
    }

    #[test]
    fn the_code_of_a_tag_has_no_words_of_texts() {
        let source = "{{ m['content'] + 'tools is none – so' }}";
        let [tag] = &tags(source)[..] else { panic!() };
        assert_eq!(tag.code.len(), tag.inside.len());
        assert!(
            tag.code.starts_with(" m['content'] + '\u{1}"),
            "{:?}",
            tag.code
        );
        assert!(!tag.code.contains("tools"), "{:?}", tag.code);
    }

    #[test]
    fn changes_are_made_together() {
        let edit = |range: Range<usize>, text: &str| Edit {
            range,
            text: text.to_owned(),
        };
        let edits = together([
            vec![edit(2..3, "C")],
            vec![edit(0..1, "A"), edit(1..3, "X"), edit(2..3, "C")],
        ]);
        assert_eq!(edited("abcd", &edits), "AbCd");
        assert_eq!(edited("abcd", []), "abcd");
    }
}
