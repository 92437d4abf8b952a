//! What happens to a template's text before minijinja sees it.

use std::ops::Range;

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::library::GENERATION;

/// Normalises newlines as Jinja2's lexer does (`\r\n` and `\r` become `\n`), and rewrites
/// two tags:
///
/// - `{% generation %}` blocks become call blocks, as transformers' `AssistantTracker`
///   makes them (`chat_template_utils.py`): they have a scope of their own and give their
///   body.
/// - `{% raw %}` keeps the newline after it, which `trim_blocks` takes away in minijinja
///   but not in Jinja2 (`lexer.py`, `TOKEN_RAW_BEGIN`).
///
/// Only real tags are rewritten, not what looks like one in a string, a comment or a raw
/// block; lines stay where they are.
pub(super) fn prepare(source: &str, syntax: &SyntaxConfig) -> String {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    if !source.contains("generation") && !source.contains("raw") {
        return source;
    }
    let opening = format!("call {GENERATION}()");
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    let mut before = None;
    for token in tokenize(&source, false, syntax.clone()) {
        // What cannot be read as tokens is refused by the parser, with a better message.
        let Ok((token, span)) = token else {
            return source.clone();
        };
        let place = span.start_offset as usize..span.end_offset as usize;
        match (&before, &token) {
            (Some(Token::BlockStart), Token::Ident("generation")) => edits.push((place, &opening)),
            (Some(Token::BlockStart), Token::Ident("endgeneration")) => {
                edits.push((place, "endcall"));
            }
            // A raw block is one piece of text; the tag itself gives no token.
            (_, Token::TemplateData(_)) if ends_with_raw_tag(&source[..place.start]) => {
                let end_of_tag = place.start - "%}".len();
                edits.push((end_of_tag..end_of_tag, " +"));
            }
            _ => {}
        }
        before = Some(token);
    }
    let mut prepared = String::with_capacity(source.len() + 64);
    let mut copied = 0;
    for (place, replacement) in edits {
        prepared.push_str(&source[copied..place.start]);
        prepared.push_str(replacement);
        copied = place.end;
    }
    prepared.push_str(&source[copied..]);
    prepared
}

/// Whether a text ends with `{% raw %}`, with nothing said about the white space after it.
fn ends_with_raw_tag(text: &str) -> bool {
    text.strip_suffix("%}")
        .and_then(|text| text.trim_end().strip_suffix("raw"))
        .map(str::trim_end)
        .is_some_and(|text| ["{%", "{%-", "{%+"].iter().any(|open| text.ends_with(open)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(source: &str) -> String {
        prepare(source, &SyntaxConfig::default())
    }

    #[test]
    fn newlines_are_normalised() {
        assert_eq!(prepared("a\r\nb\rc\n\r"), "a\nb\nc\n\n");
    }

    #[test]
    fn only_real_tags_are_rewritten() {
        let call = format!("{{%- call {GENERATION}() -%}}x{{% endcall %}}");
        assert_eq!(prepared("{%- generation -%}x{% endgeneration %}"), call);
        let raw = "a{% raw  +%}\n{% generation %}{% endraw %}\nb";
        assert_eq!(prepared("a{% raw %}\n{% generation %}{% endraw %}\nb"), raw);
        for text in [
            "{{ '{% generation %}' }}",
            "{# {% generation %} #}",
            "{% raw -%}{% generation %}{% endraw %}",
            "{{ 'raw %}' }}text",
            "{# {% raw %} #}\ntext",
            "{% set generation = 1 %}{{ generation }}",
            "{% if generation %}{% endif %}",
        ] {
            assert_eq!(prepared(text), text);
        }
    }
}
