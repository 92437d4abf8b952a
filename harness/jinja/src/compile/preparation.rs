//! The preparation of a template's text, before minijinja parses it.

use std::ops::Range;

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Error, ErrorKind};
use rolecall_model::Limit;

use crate::library::functions::{GENERATION, ONE};
use crate::meter::exceeded;

/// The size of a template, counted in tokens: what it costs to parse and compile it.
#[derive(Default)]
struct TemplateSize {
    /// The tokens until now.
    tokens: usize,
    /// The tokens until now of the tag that is being read.
    in_tag: usize,
    /// The tokens, each as often as there are tokens before it in its tag: minijinja looks
    /// for constants at every level of an expression, each time down to its leaves.
    in_tags: usize,
    /// The tokens, each as often as there are macros, call blocks and loops around it: the
    /// names in each of them are collected before it is compiled.
    in_scopes: usize,
    /// The open tags: whether the tag is such a macro, call block or loop, and how many
    /// `elif` it has.
    open: Vec<(bool, usize)>,
    /// The open macros, call blocks and loops.
    scopes: usize,
    /// The `elif` of open conditions.
    branches: usize,
    /// The named blocks.
    blocks: usize,
    /// The length of the longest name.
    longest_name: usize,
}

impl TemplateSize {
    /// The most tokens of a template.
    const MOST_TOKENS: usize = 300_000;
    /// The most tokens of a tag, each of which may be a level of an expression.
    const MOST_IN_TAG: usize = 10_000;
    /// The most of `in_tags`.
    const MOST_IN_TAGS: usize = 100_000_000;
    /// The most of `in_scopes`.
    const MOST_IN_SCOPES: usize = 1_500_000;
    /// The most `elif` of open conditions: each is within the one before it.
    const MOST_BRANCHES: usize = 1_000;
    /// The most named blocks: each is a program of its own.
    const MOST_BLOCKS: usize = 2_000;
    /// The greatest length of a name in bytes: it is looked for wherever it is used.
    const LONGEST_NAME: usize = 200;

    /// Counts the next token, or fails where the template is too large.
    fn sees(&mut self, before: Option<&Token<'_>>, token: &Token<'_>) -> Result<(), Error> {
        self.tokens += 1;
        match token {
            Token::TemplateData(_) | Token::BlockStart | Token::VariableStart => self.in_tag = 0,
            _ => self.in_tag += 1,
        }
        self.in_tags += self.in_tag;
        self.in_scopes += self.scopes;
        if let (Some(Token::BlockStart), Token::Ident(tag)) = (before, token) {
            self.tag(tag);
        }
        if let Token::Ident(name) = token {
            self.longest_name = self.longest_name.max(name.len());
        }
        if self.in_tag > Self::MOST_IN_TAG || self.branches > Self::MOST_BRANCHES {
            return Err(exceeded(Limit::Recursion));
        }
        if self.tokens > Self::MOST_TOKENS
            || self.in_tags > Self::MOST_IN_TAGS
            || self.in_scopes > Self::MOST_IN_SCOPES
            || self.blocks > Self::MOST_BLOCKS
            || self.longest_name > Self::LONGEST_NAME
        {
            return Err(exceeded(Limit::Fuel));
        }
        Ok(())
    }

    /// The work of looking for a name among the variables of a scope: they stand in a tree,
    /// and the names may all begin with the same letters.
    fn of_lookup(&self) -> usize {
        let steps = self.tokens.checked_ilog2().unwrap_or(0) as usize;
        (1 + self.longest_name / 16) * (1 + steps)
    }

    /// Notes that a tag begins.
    fn tag(&mut self, tag: &str) {
        match tag {
            "for" | "macro" | "call" | "generation" => {
                self.open.push((true, 0));
                self.scopes += 1;
            }
            "block" => self.blocks += 1,
            "if" => self.open.push((false, 0)),
            "elif" => {
                if let Some((_, branches)) = self.open.last_mut() {
                    *branches += 1;
                    self.branches += 1;
                }
            }
            "endfor" | "endmacro" | "endcall" | "endgeneration" | "endif" => {
                if let Some((is_scope, branches)) = self.open.pop() {
                    self.scopes -= usize::from(is_scope);
                    self.branches -= branches;
                }
            }
            _ => {}
        }
    }
}

/// Normalises newlines as Jinja2's lexer does (`\r\n` and `\r` become `\n`), and rewrites
/// what minijinja would read in another way than Jinja2:
///
/// - `{% generation %}` blocks become call blocks, as transformers' `AssistantTracker`
///   makes them (`chat_template_utils.py`): they have a scope of their own and give their
///   body.
/// - `{% raw %}` becomes `{% raw +%}`: minijinja's `trim_blocks` would take away the newline
///   after it, Jinja2's does not (`lexer.py`, `TOKEN_RAW_BEGIN`).
/// - `{{ a, b }}` gets the parentheses of its tuple.
/// - `+a` becomes `- -a`: minijinja has no sign `+`.
/// - Where constants are folded, `a * b` becomes `a * one * b`, and `one` is a variable.
///   minijinja evaluates constants when it compiles, without limits: it would make the text
///   of `'x' * 99999999` before any limit could stop it.
///
/// Only real tags are rewritten, not what looks like one in a string, a comment or a raw
/// block; lines stay where they are.
///
/// Also gives the work of looking for a name among the variables of a scope.
pub(crate) fn prepare(
    source: &str,
    syntax: &SyntaxConfig,
    is_folded: bool,
) -> Result<(String, usize), Error> {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let opening = format!("call {GENERATION}()");
    let factor = format!(" {ONE} *");
    let mut size = TemplateSize::default();
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    let mut before = None;
    let mut tuple = BareTuple::default();
    let mut test = ChainedTest::default();
    for token in tokenize(&source, false, syntax.clone()) {
        // The parser refuses what cannot be read as tokens, with a better message.
        let Ok((token, span)) = token else {
            return Ok((source.clone(), size.of_lookup()));
        };
        size.sees(before.as_ref(), &token)?;
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
            // A raw block is one token with its text; there is no token for its tag.
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
    Ok((prepared, size.of_lookup()))
}

/// Finds `{{ a, b }}`, `{% if a, b %}` and `{% for x in a, b %}`: tuples that minijinja
/// only reads with parentheses (Jinja2's parser.py, `parse_tuple`).
#[derive(Default)]
struct BareTuple {
    /// Where the expression begins that may be a tuple.
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

    /// The place of the expression that ends here, if it is a tuple.
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
    /// The last token was `is`, or the last two `is not`.
    Is,
    /// The last token was the test's name.
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

    /// Takes the next token, and tells whether it chains a test to another.
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
        prepare(source, &SyntaxConfig::default(), true).unwrap().0
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
