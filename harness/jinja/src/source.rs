//! What happens to a template's text before minijinja sees it.

use std::ops::Range;

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Error, ErrorKind};
use rolecall_model::Limit;

use super::library::{GENERATION, ONE};
use super::meter::exceeded;

/// What parsing and compiling a template is going to cost, counted on its tokens.
#[derive(Default)]
struct Bulk {
    tokens: usize,
    /// Of the tag that is being read.
    in_tag: usize,
    /// Tokens once for every token in their tag: minijinja looks for constants at every
    /// level of an expression, each time down to its leaves.
    in_tags: usize,
    /// Tokens once for every macro, call block and loop around them: the names in each are
    /// looked for beforehand.
    in_scopes: usize,
    /// The open tags: whether names are looked for, and how many `elif` there were.
    open: Vec<(bool, usize)>,
    scopes: usize,
    branches: usize,
    blocks: usize,
    longest_name: usize,
}

impl Bulk {
    /// Tokens in all.
    const MOST_TOKENS: usize = 300_000;
    /// Tokens in one tag, each of which may be a level of an expression.
    const MOST_IN_TAG: usize = 10_000;
    const MOST_IN_TAGS: usize = 100_000_000;
    const MOST_IN_SCOPES: usize = 1_500_000;
    /// Branches of conditions that are open: each is within the one before it.
    const MOST_BRANCHES: usize = 1_000;
    /// Named blocks: each is a program of its own.
    const MOST_BLOCKS: usize = 2_000;
    /// The length of a name in bytes: it is sought wherever it is used.
    const LONGEST_NAME: usize = 200;

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

    /// The work of looking for a name among the variables of a scope: they are in a tree,
    /// and may all begin alike.
    fn of_lookup(&self) -> usize {
        let steps = self.tokens.checked_ilog2().unwrap_or(0) as usize;
        (1 + self.longest_name / 16) * (1 + steps)
    }

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
///
/// Also gives the work of looking for a name among the variables of a scope.
pub(super) fn prepare(
    source: &str,
    syntax: &SyntaxConfig,
    is_folded: bool,
) -> Result<(String, usize), Error> {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let opening = format!("call {GENERATION}()");
    let factor = format!(" {ONE} *");
    let mut bulk = Bulk::default();
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    let mut before = None;
    let mut tuple = BareTuple::default();
    let mut test = ChainedTest::default();
    for token in tokenize(&source, false, syntax.clone()) {
        // What cannot be read as tokens is refused by the parser, with a better message.
        let Ok((token, span)) = token else {
            return Ok((source.clone(), bulk.of_lookup()));
        };
        bulk.sees(before.as_ref(), &token)?;
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
    Ok((prepared, bulk.of_lookup()))
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
