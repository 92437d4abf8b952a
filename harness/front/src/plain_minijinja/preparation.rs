//! Prepares a template's text for minijinja's own parser.

use rolecall_core::Cut;
use std::ops::Range;

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use crate::plain_minijinja::functions::{GENERATION, ONE};

/// Normalises newlines (`\r\n` and `\r` become `\n`), and rewrites constructs that minijinja does
/// not know or runs without limits:
///
/// - `{% generation %}` blocks become call blocks.
/// - `{% raw %}` becomes `{% raw +%}`: minijinja's `trim_blocks` would remove the newline after it,
///   Jinja2's does not (`lexer.py`, `TOKEN_RAW_BEGIN`).
/// - `a * b` becomes `a * one * b`, where `one` is a variable. minijinja evaluates constants when
///   it compiles, without limits: it would build the text of `'x' * 99999999` before any limit
///   could stop it.
///
/// Only real tags change, not their likeness in a string, a comment or a raw block. Line numbers
/// stay the same.
pub(crate) fn prepare(source: &str, syntax: &SyntaxConfig) -> String {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let opening = format!("call {GENERATION}()");
    let factor = format!(" {ONE} *");
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    let mut before = None;
    for token in tokenize(&source, false, syntax.clone()) {
        // The parser refuses this text with a better message.
        let Ok((token, span)) = token else {
            return source.clone();
        };
        let place = span.start_offset as usize..span.end_offset as usize;
        match (&before, &token) {
            (Some(Token::BlockStart), Token::Ident("generation")) => edits.push((place, &opening)),
            (Some(Token::BlockStart), Token::Ident("endgeneration")) => {
                edits.push((place, "endcall"));
            }
            (Some(before), Token::Mul) if ends_an_operand(before) => {
                edits.push((place.end..place.end, &factor));
            }
            // A raw block is one token with its text; there is no token for its tag.
            (_, Token::TemplateData(_)) if ends_with_raw_tag(source.cut(..place.start)) => {
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
        prepared.push_str(source.cut(copied..place.start));
        prepared.push_str(replacement);
        copied = place.end;
    }
    prepared.push_str(source.cut(copied..));
    prepared
}

/// Whether an operand ends with this token. A `*` after an operand multiplies; elsewhere it unpacks
/// a list into arguments.
fn ends_an_operand(token: &Token<'_>) -> bool {
    const KEYWORDS: [&str; 8] = ["and", "elif", "else", "if", "in", "is", "not", "or"];
    matches!(token, Token::Ident(name) if !KEYWORDS.contains(name))
        || matches!(
            token,
            Token::Str(_)
                | Token::String(_)
                | Token::Int(_)
                | Token::Int128(_)
                | Token::Float(_)
                | Token::ParenClose
                | Token::BracketClose
                | Token::BraceClose
        )
}

/// Whether a text ends with `{% raw %}`, without a `-` or `+` before its end.
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
        assert_eq!(prepared("{{ a * 3 }}"), format!("{{{{ a * {ONE} * 3 }}}}"));
        let raw = "a{% raw  +%}\n{% generation %}{% endraw %}\nb";
        assert_eq!(prepared("a{% raw %}\n{% generation %}{% endraw %}\nb"), raw);
        for text in [
            "{{ '{% generation %}' }}",
            "{# {% generation %} #}",
            "{% raw -%}{% generation %}{% endraw %}",
            "{{ 'raw %}' }}text",
            "{{ f(*args) }}{{ 2 ** 3 }}",
            "{# {% raw %} #}\ntext",
            "{% set generation = 1 %}{{ generation }}",
            "{% if generation %}{% endif %}",
        ] {
            assert_eq!(prepared(text), text);
        }
    }
}
