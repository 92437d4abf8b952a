//! The preparation of a template's text for minijinja's own parser, where minijinja is taken
//! as it is.

use std::ops::Range;

use minijinja::Error;
use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use crate::compile::size::{Piece, TemplateSize};
use crate::library::functions::{OWN_GENERATION, OWN_ONE};

/// Normalises newlines (`\r\n` and `\r` become `\n`), and rewrites what minijinja does not
/// know or does without limits:
///
/// - `{% generation %}` blocks become call blocks.
/// - `{% raw %}` becomes `{% raw +%}`: minijinja's `trim_blocks` would take away the newline
///   after it, Jinja2's does not (`lexer.py`, `TOKEN_RAW_BEGIN`).
/// - `a * b` becomes `a * one * b`, and `one` is a variable. minijinja evaluates constants
///   when it compiles, without limits: it would make the text of `'x' * 99999999` before any
///   limit could stop it.
///
/// Only real tags are rewritten, not what looks like one in a string, a comment or a raw
/// block; lines stay where they are.
pub(crate) fn prepare(source: &str, syntax: &SyntaxConfig) -> Result<String, Error> {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let opening = format!("call {OWN_GENERATION}()");
    let factor = format!(" {OWN_ONE} *");
    let mut size = TemplateSize::default();
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    let mut before = None;
    for token in tokenize(&source, false, syntax.clone()) {
        // The parser refuses what cannot be read as tokens, with a better message.
        let Ok((token, span)) = token else {
            return Ok(source.clone());
        };
        size.sees(piece(&token))?;
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
    Ok(prepared)
}

/// What the size of a template knows of a token of minijinja's.
fn piece<'t>(token: &Token<'t>) -> Piece<'t> {
    match token {
        Token::TemplateData(_) | Token::VariableStart => Piece::Outside,
        Token::BlockStart => Piece::Tag,
        Token::Ident(name) => Piece::Name(name),
        _ => Piece::Other,
    }
}

/// Whether an operand ends with this token. A `*` after an operand multiplies; anywhere else
/// it hands over a list as arguments.
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
        prepare(source, &SyntaxConfig::default()).unwrap()
    }

    #[test]
    fn newlines_are_normalised() {
        assert_eq!(prepared("a\r\nb\rc\n\r"), "a\nb\nc\n\n");
    }

    #[test]
    fn only_real_tags_are_rewritten() {
        let call = format!("{{%- call {OWN_GENERATION}() -%}}x{{% endcall %}}");
        assert_eq!(prepared("{%- generation -%}x{% endgeneration %}"), call);
        assert_eq!(
            prepared("{{ a * 3 }}"),
            format!("{{{{ a * {OWN_ONE} * 3 }}}}")
        );
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
