//! What happens to a template's text before minijinja sees it.

use std::ops::Range;

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Error, ErrorKind};

use super::library::{GENERATION, ONE};
use super::meter::exceeded;
use crate::outcome::Limit;

/// Tokens that one tag may hold. minijinja looks for constants at every level of an
/// expression, each time down to its leaves: a long one takes a time that grows with the
/// square of its length.
const MOST_TOKENS: usize = 10_000;

/// Normalises newlines as Jinja2's lexer does (`\r\n` and `\r` become `\n`), and rewrites
/// what minijinja reads otherwise:
///
/// - `{% generation %}` blocks become call blocks, as transformers' `AssistantTracker`
///   makes them (`chat_template_utils.py`): they have a scope of their own and give their
///   body.
/// - `{% raw %}` keeps the newline after it, which `trim_blocks` takes away in minijinja
///   but not in Jinja2 (`lexer.py`, `TOKEN_RAW_BEGIN`).
/// - `{{ a, b }}` gets the parentheses of its tuple.
/// - `+a` becomes `- -a`: minijinja has no such sign.
/// - Where constants are folded, `a * b` gets a factor of one that is no constant. minijinja
///   works constants out when it compiles, without limits: `'x' * 99999999` would be there
///   before anyone could say no.
///
/// Only real tags are rewritten, not what looks like one in a string, a comment or a raw
/// block; lines stay where they are.
pub(super) fn prepare(
    source: &str,
    syntax: &SyntaxConfig,
    is_folded: bool,
) -> Result<String, Error> {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let opening = format!("call {GENERATION}()");
    let factor = format!(" {ONE} *");
    let mut in_tag = 0;
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    let mut before = None;
    let mut tuple = BareTuple::default();
    let mut test = ChainedTest::default();
    for token in tokenize(&source, false, syntax.clone()) {
        // What cannot be read as tokens is refused by the parser, with a better message.
        let Ok((token, span)) = token else {
            return Ok(source.clone());
        };
        in_tag = match token {
            Token::TemplateData(_) | Token::BlockStart | Token::VariableStart => 0,
            _ => in_tag + 1,
        };
        if in_tag > MOST_TOKENS {
            return Err(exceeded(Limit::Recursion));
        }
        let place = span.start_offset as usize..span.end_offset as usize;
        if !is_folded {
            if test.ends_before_sign(&token) {
                edits.push((place.start..place.start, "() "));
            }
            if test.sees(&token) {
                return Err(Error::new(
                    ErrorKind::SyntaxError,
                    "tests cannot be chained with is",
                ));
            }
            if let Some(bare) = tuple.sees(before.as_ref(), &token, &place) {
                edits.push((bare.start..bare.start, " ("));
                edits.push((bare.end..bare.end, ") "));
            }
        }
        match (&before, &token) {
            (Some(Token::BlockStart), Token::Ident("generation")) => edits.push((place, &opening)),
            (Some(Token::BlockStart), Token::Ident("endgeneration")) => {
                edits.push((place, "endcall"));
            }
            (Some(before), Token::Plus) if !is_folded && !ends_an_operand(before) => {
                edits.push((place, "- -"));
            }
            (Some(before), Token::Mul) if is_folded && ends_an_operand(before) => {
                edits.push((place.end..place.end, &factor));
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
    edits.sort_by_key(|(place, _)| place.start);
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

/// Finds `{{ a, b }}`, `{% if a, b %}` and `{% for x in a, b %}`: tuples that minijinja
/// knows with parentheses only (Jinja2's parser.py, `parse_tuple`).
#[derive(Default)]
struct BareTuple {
    /// Where the expression begins that may be one.
    start: Option<usize>,
    has_comma: bool,
    depth: usize,
    in_for: bool,
}

impl BareTuple {
    /// Takes the next token, and gives the place of a tuple that ends before it.
    fn sees(
        &mut self,
        before: Option<&Token<'_>>,
        token: &Token<'_>,
        place: &Range<usize>,
    ) -> Option<Range<usize>> {
        match token {
            Token::BlockStart | Token::VariableStart => {
                *self = BareTuple::default();
                if matches!(token, Token::VariableStart) {
                    self.start = Some(place.end);
                }
            }
            Token::Ident("if" | "elif") if matches!(before, Some(Token::BlockStart)) => {
                self.start = Some(place.end);
            }
            Token::Ident("for") if matches!(before, Some(Token::BlockStart)) => self.in_for = true,
            Token::Ident("in") if self.in_for && self.depth == 0 && self.start.is_none() => {
                self.start = Some(place.end);
            }
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => self.depth += 1,
            Token::ParenClose | Token::BracketClose | Token::BraceClose => {
                self.depth = self.depth.saturating_sub(1);
            }
            Token::Comma if self.depth == 0 && self.start.is_some() => self.has_comma = true,
            Token::BlockEnd | Token::VariableEnd => return self.end(place.start),
            Token::Ident("if" | "recursive") if self.in_for && self.depth == 0 => {
                return self.end(place.start);
            }
            _ => {}
        }
        None
    }

    fn end(&mut self, end: usize) -> Option<Range<usize>> {
        let start = self.start.take()?;
        std::mem::take(&mut self.has_comma).then_some(start..end)
    }
}

/// Finds `a is b is c`, which Jinja2 refuses (parser.py, `parse_test`).
#[derive(Default)]
enum ChainedTest {
    #[default]
    None,
    /// After `is`, or `is not`.
    Is,
    /// After the test's name.
    Name,
}

impl ChainedTest {
    /// Whether the test is complete and a sign follows: Jinja2 takes `a is b - 1` for a
    /// difference, minijinja for a test of `-1`.
    fn ends_before_sign(&self, token: &Token<'_>) -> bool {
        matches!(
            (self, token),
            (ChainedTest::Name, Token::Plus | Token::Minus)
        )
    }

    fn sees(&mut self, token: &Token<'_>) -> bool {
        *self = match (&self, token) {
            (ChainedTest::Name, Token::Ident("is")) => return true,
            (_, Token::Ident("is")) | (ChainedTest::Is, Token::Ident("not")) => ChainedTest::Is,
            (ChainedTest::Is, Token::Ident(_)) => ChainedTest::Name,
            _ => ChainedTest::None,
        };
        false
    }
}

/// Whether an operand ends with this token: a `*` after it multiplies, else it hands a
/// list over as arguments.
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
        prepare(source, &SyntaxConfig::default(), true).unwrap()
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
