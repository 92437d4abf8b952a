//! What happens to a template's text before minijinja sees it.

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::library::GENERATION;

/// Normalises newlines as Jinja2's lexer does (`\r\n` and `\r` become `\n`), and turns
/// `{% generation %}` blocks into call blocks, as transformers' `AssistantTracker` does
/// (`chat_template_utils.py`): they have a scope of their own and give their body.
///
/// Only real tags are rewritten, not what looks like one in a string, a comment or a
/// raw block; lines stay where they are.
pub(super) fn prepare(source: &str, syntax: &SyntaxConfig) -> String {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    if !source.contains("generation") {
        return source;
    }
    let opening = format!("call {GENERATION}()");
    let mut prepared = String::with_capacity(source.len() + 64);
    let mut copied = 0;
    let mut before = None;
    for token in tokenize(&source, false, syntax.clone()) {
        // What cannot be read as tokens is refused by the parser, with a better message.
        let Ok((token, span)) = token else {
            return source.clone();
        };
        let replacement = match (&before, &token) {
            (Some(Token::BlockStart), Token::Ident("generation")) => Some(opening.as_str()),
            (Some(Token::BlockStart), Token::Ident("endgeneration")) => Some("endcall"),
            _ => None,
        };
        if let Some(replacement) = replacement {
            let (start, end) = (span.start_offset as usize, span.end_offset as usize);
            prepared.push_str(&source[copied..start]);
            prepared.push_str(replacement);
            copied = end;
        }
        before = Some(token);
    }
    prepared.push_str(&source[copied..]);
    prepared
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
        for text in [
            "{{ '{% generation %}' }}",
            "{# {% generation %} #}",
            "{% raw %}{% generation %}{% endraw %}",
            "{% set generation = 1 %}{{ generation }}",
            "{% if generation %}{% endif %}",
        ] {
            assert_eq!(prepared(text), text);
        }
    }
}
