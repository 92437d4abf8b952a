//! Mutations: small changes of a template that good cases notice.
//!
//! The tokens of the lexer have places, so most changes replace a token. Where a condition begins and
//! ends only the tree knows.

use std::collections::BTreeSet;
use std::ops::Range;

use minijinja::machinery::ast::{BinOpKind, Expr, Stmt, UnaryOpKind};
use rolecall_core::{Mutation, MutationKind};

use crate::compile::grammar;
use crate::compile::grammar::lexer::Lexer;
use crate::compile::grammar::tokens::Token;
use crate::compile::nodes::{all_within, bodies, expressions};
use crate::compile::sites::{extent, is_literal, is_logical};

/// What a tag has inside that does nothing, whatever is around it.
const NOTHING: &str = "if false %}{% endif";

/// The mutations of a template whose lines are normalised, in the order of their places. None of them
/// has the tokens of the template itself. None if the template cannot be read.
pub(crate) fn mutations(source: &str) -> Option<Vec<Mutation>> {
    let parsed = grammar::parse(source).ok()?;
    let tokens = tokens(source)?;
    let mut changes = Changes {
        source,
        tokens: &tokens,
        found: BTreeSet::new(),
    };
    changes.of_statement(&parsed.template);
    changes.of_tokens();
    let original = meaning(&tokens);
    let mut sources = BTreeSet::new();
    let all = changes.found.into_iter();
    let kept = all.filter(|mutation| {
        let Some(mutated) = mutation.applied_to(source) else {
            return false;
        };
        let is_other = self::tokens(&mutated).is_some_and(|tokens| meaning(&tokens) != original);
        is_other && sources.insert(mutated)
    });
    Some(kept.collect())
}

#[derive(Debug)]
struct Placed<'s> {
    token: Token<'s>,
    span: Range<usize>,
}

impl Placed<'_> {
    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token, Token::Sign(own) if own == sign)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.token, Token::Name(own) if own == name)
    }

    fn opens(&self) -> bool {
        ["(", "[", "{"].iter().any(|sign| self.is_sign(sign))
    }

    fn closes(&self) -> bool {
        [")", "]", "}"].iter().any(|sign| self.is_sign(sign))
    }
}

/// All tokens of a template. None if it has no tokens.
fn tokens(source: &str) -> Option<Vec<Placed<'_>>> {
    let mut lexer = Lexer::new(source);
    let mut tokens = Vec::new();
    loop {
        let (token, span) = lexer.next().ok()?;
        if token == Token::End {
            return Some(tokens);
        }
        let span = span.start_offset as usize..span.end_offset as usize;
        tokens.push(Placed { token, span });
    }
}

/// A token as the parser sees it, with the texts that follow each other as one.
#[derive(Debug, PartialEq)]
enum Meaning<'t, 's> {
    Text(String),
    Token(&'t Token<'s>),
}

/// What the tokens of a template mean: without their places, and without text that is in no prompt.
/// After a tag that ends the render or leaves the loop, no render reaches it; before a tag that ends
/// the render, there is no prompt.
fn meaning<'t, 's>(tokens: &'t [Placed<'s>]) -> Vec<Meaning<'t, 's>> {
    let mut meant: Vec<Meaning<'t, 's>> = Vec::with_capacity(tokens.len());
    let mut is_unreached = false;
    for (at, placed) in tokens.iter().enumerate() {
        match &placed.token {
            Token::Text(_) if is_unreached => {}
            Token::Text(text) => match meant.last_mut() {
                Some(Meaning::Text(before)) => before.push_str(text),
                _ => meant.push(Meaning::Text((*text).to_owned())),
            },
            token => {
                if matches!(token, Token::PrintBegin | Token::BlockBegin) {
                    let inside = &tokens[at + 1..];
                    let raises = raises(inside);
                    is_unreached = raises || leaves(inside);
                    if raises && matches!(meant.last(), Some(Meaning::Text(_))) {
                        meant.pop();
                    }
                }
                meant.push(Meaning::Token(token));
            }
        }
    }
    meant
}

/// Whether a tag ends the render, by the tokens in it.
fn raises(inside: &[Placed<'_>]) -> bool {
    let inside = match inside {
        [first, rest @ ..] if first.is_name("do") => rest,
        all => all,
    };
    matches!(inside, [name, bracket, ..] if name.is_name("raise_exception") && bracket.is_sign("("))
}

/// Whether a tag leaves the loop or its turn, by the tokens in it.
fn leaves(inside: &[Placed<'_>]) -> bool {
    let first = inside.first();
    first.is_some_and(|first| first.is_name("break") || first.is_name("continue"))
}

/// Collects the changes of a template.
struct Changes<'t, 's> {
    source: &'s str,
    tokens: &'t [Placed<'s>],
    found: BTreeSet<Mutation>,
}

impl Changes<'_, '_> {
    fn add(&mut self, span: Range<usize>, kind: MutationKind, replacement: impl Into<String>) {
        self.found.insert(Mutation::new(span, kind, replacement));
    }

    /// The conditions of a statement, and of all within it.
    fn of_statement(&mut self, statement: &Stmt<'_>) {
        match statement {
            Stmt::IfCond(node) => self.negate(&node.expr),
            Stmt::ForLoop(node) => {
                if let Some(filter) = &node.filter_expr {
                    self.negate(filter);
                }
            }
            _ => {}
        }
        for expression in expressions(statement) {
            self.of_expression(expression);
        }
        for inner in bodies(statement).into_iter().flatten() {
            self.of_statement(inner);
        }
    }

    fn of_expression(&mut self, expression: &Expr<'_>) {
        match expression {
            Expr::BinOp(node) if is_logical(expression) => {
                for operand in [&node.left, &node.right] {
                    if !is_logical(operand) {
                        self.negate(operand);
                    }
                }
            }
            Expr::IfExpr(node) => self.negate(&node.test_expr),
            _ => {}
        }
        all_within(expression, |inner| {
            self.of_expression(inner);
            true
        });
    }

    /// The contrary of a condition, unless another change makes it: `==` becomes `!=`.
    fn negate(&mut self, condition: &Expr<'_>) {
        let has_own = match condition {
            Expr::BinOp(node) => {
                matches!(node.op, BinOpKind::Eq | BinOpKind::Ne | BinOpKind::In)
            }
            Expr::UnaryOp(node) => matches!(node.op, UnaryOpKind::Not),
            Expr::Test(_) => true,
            other => is_literal(other),
        };
        let span = self.balanced(extent(condition));
        if let Some(text) = self.source.get(span.clone()).filter(|_| !has_own) {
            let text = format!("not ({text})");
            self.add(span, MutationKind::Negation, text);
        }
    }

    /// A place with the brackets around it that it has only one side of.
    fn balanced(&self, span: Range<usize>) -> Range<usize> {
        let first = self
            .tokens
            .partition_point(|token| token.span.start < span.start);
        let end = self
            .tokens
            .partition_point(|token| token.span.end <= span.end);
        let (mut before, mut open) = (0_usize, 0_usize);
        for token in self.tokens.get(first..end).unwrap_or_default() {
            if token.opens() {
                open += 1;
            } else if token.closes() {
                match open.checked_sub(1) {
                    Some(left) => open = left,
                    None => before += 1,
                }
            }
        }
        let start = first.checked_sub(before).and_then(|at| self.tokens.get(at));
        let last = (end + open)
            .checked_sub(1)
            .and_then(|at| self.tokens.get(at));
        let start = start.map_or(span.start, |token| token.span.start);
        start..last.map_or(span.end, |token| token.span.end)
    }

    fn of_tokens(&mut self) {
        let mut tag = Tag::default();
        for at in 0..self.tokens.len() {
            let placed = &self.tokens[at];
            let span = placed.span.clone();
            match &placed.token {
                Token::Text(_) => self.plain_text(span),
                Token::PrintBegin | Token::BlockBegin => {
                    tag = self.tag(at);
                    self.begin_mark(span);
                    self.inside(&tag);
                }
                Token::PrintEnd | Token::BlockEnd => self.end_mark(span),
                Token::Name(name) => self.name(at, name, &mut tag),
                Token::String(text) => self.string(at, text, &tag),
                Token::Integer(_) => self.number(span),
                Token::Sign(sign) => self.sign(at, sign),
                Token::Float(_) | Token::End => {}
            }
        }
    }

    /// The tag that begins at a token.
    fn tag(&self, at: usize) -> Tag {
        let is_end = |token: &&Placed<'_>| matches!(token.token, Token::PrintEnd | Token::BlockEnd);
        let inside = self.tokens[at + 1..].iter();
        let len = inside.take_while(|token| !is_end(token)).count();
        Tag {
            inside: at + 1..at + 1 + len,
            is_print: self.tokens[at].token == Token::PrintBegin,
            has_loop_target: self
                .tokens
                .get(at + 1)
                .is_some_and(|first| first.is_name("for")),
        }
    }

    /// What a tag does is left out.
    fn inside(&mut self, tag: &Tag) {
        let tokens = self.tokens;
        let Some([first, rest @ ..]) = tokens.get(tag.inside.clone()) else {
            return;
        };
        let last = rest.last().unwrap_or(first);
        let span = first.span.start..last.span.end;
        if tag.is_print {
            let is_text = rest.is_empty() && matches!(first.token, Token::String(_));
            if !is_text {
                self.add(span, MutationKind::Print, "''");
            }
            return;
        }
        let is_set = first.is_name("set") && self.assigns(&tag.inside);
        let is_removed = is_set
            || ["do", "break", "continue"]
                .iter()
                .any(|name| first.is_name(name));
        if is_removed {
            self.add(span, MutationKind::Statement, NOTHING);
        }
    }

    /// Whether a tag has a `=` outside of brackets.
    fn assigns(&self, inside: &Range<usize>) -> bool {
        let mut depth = 0_usize;
        self.tokens[inside.clone()].iter().any(|token| {
            if token.opens() {
                depth += 1;
            } else if token.closes() {
                depth = depth.saturating_sub(1);
            }
            depth == 0 && token.is_sign("=")
        })
    }

    /// The white space before a tag.
    fn begin_mark(&mut self, span: Range<usize>) {
        let after = span.start + 2;
        if span.end > after {
            self.add(after..span.end, MutationKind::WhiteSpace, "");
        } else {
            self.add(after..after, MutationKind::WhiteSpace, "-");
        }
    }

    /// The white space after a tag. The place of its end has this white space in it.
    fn end_mark(&mut self, span: Range<usize>) {
        let start = span.start;
        if self.source[start..].starts_with(['-', '+']) {
            self.add(start..start + 1, MutationKind::WhiteSpace, "");
        } else {
            self.add(start..start, MutationKind::WhiteSpace, "-");
        }
    }

    fn plain_text(&mut self, span: Range<usize>) {
        let Some(text) = self.source.get(span.clone()) else {
            return;
        };
        self.shorten(text, span.clone());
        match text.trim_end_matches('\n').find('\n') {
            Some(inner) => {
                let at = span.start + inner;
                self.add(at..at + 1, MutationKind::Text, "");
            }
            None => self.add(span.end..span.end, MutationKind::Text, "\n"),
        }
    }

    /// A text is gone, or its last character.
    fn shorten(&mut self, text: &str, span: Range<usize>) {
        self.add(span.clone(), MutationKind::Text, "");
        if let Some((last, _)) = text.char_indices().next_back() {
            self.add(span.start + last..span.end, MutationKind::Text, "");
        }
    }

    fn string(&mut self, at: usize, text: &str, tag: &Tag) {
        let span = self.tokens[at].span.clone();
        let within = span.start + 1..span.end - 1;
        let Some(written) = self.source.get(within.clone()) else {
            return;
        };
        if text.is_empty() {
            return;
        }
        self.add(within.clone(), MutationKind::Text, "");
        if written.ends_with("\\n") && text.ends_with('\n') {
            self.add(within.end - 2..within.end, MutationKind::Text, "");
        } else if !written.contains('\\') || !ends_with_escape(written) {
            let last = written
                .char_indices()
                .next_back()
                .map_or(0, |(last, _)| last);
            self.add(within.start + last..within.end, MutationKind::Text, "");
        }
        let is_key = at
            .checked_sub(1)
            .is_some_and(|before| self.tokens[before].is_sign("["));
        if tag.is_print && !is_key && !text.ends_with('\n') {
            self.add(within.end..within.end, MutationKind::Text, "\\n");
        }
    }

    fn number(&mut self, span: Range<usize>) {
        let written = self.source.get(span.clone()).unwrap_or_default();
        if let Ok(number) = written.parse::<u64>() {
            self.add(
                span,
                MutationKind::Number,
                number.saturating_add(1).to_string(),
            );
        }
    }

    fn sign(&mut self, at: usize, sign: &str) {
        let (kind, other) = match sign {
            "==" => (MutationKind::Comparison, "!="),
            "!=" => (MutationKind::Comparison, "=="),
            "<" => (MutationKind::Comparison, "<="),
            "<=" => (MutationKind::Comparison, "<"),
            ">" => (MutationKind::Comparison, ">="),
            ">=" => (MutationKind::Comparison, ">"),
            "+" => (MutationKind::Arithmetic, "-"),
            "-" => (MutationKind::Arithmetic, "+"),
            "*" | "%" => (MutationKind::Arithmetic, "//"),
            "//" => (MutationKind::Arithmetic, "*"),
            "|" => return self.filter(at),
            _ => return,
        };
        self.add(self.tokens[at].span.clone(), kind, other);
    }

    /// The filter after a `|` is gone, with its arguments.
    fn filter(&mut self, at: usize) {
        let Some(before) = at.checked_sub(1).and_then(|before| self.tokens.get(before)) else {
            return;
        };
        let mut last = at + 1;
        while self.is_sign_at(last + 1, ".") {
            last += 2;
        }
        if self.is_sign_at(last + 1, "(") {
            let mut depth = 0_usize;
            for (token, place) in self.tokens[last + 1..].iter().zip(last + 1..) {
                if token.opens() {
                    depth += 1;
                } else if token.closes() {
                    depth -= 1;
                }
                if depth == 0 {
                    last = place;
                    break;
                }
            }
        }
        if let Some(end) = self.tokens.get(last) {
            self.add(before.span.end..end.span.end, MutationKind::Filter, "");
        }
    }

    fn is_sign_at(&self, at: usize, sign: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_sign(sign))
    }

    fn is_name_at(&self, at: usize, name: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_name(name))
    }

    fn name(&mut self, at: usize, name: &str, tag: &mut Tag) {
        let span = self.tokens[at].span.clone();
        let before = at.checked_sub(1).map(|before| &self.tokens[before]);
        if before.is_some_and(|before| before.is_sign(".")) {
            let is_of_loop = at >= 2 && self.is_name_at(at - 2, "loop");
            let other = match name {
                "first" => "last",
                "last" => "first",
                "index" => "index0",
                "index0" => "index",
                _ => return,
            };
            if is_of_loop {
                self.add(span, MutationKind::LoopPlace, other);
            }
            return;
        }
        // The name of an argument or of a variable that is assigned.
        if self.is_sign_at(at + 1, "=") {
            return;
        }
        let is_negated = before.is_some_and(|before| before.is_name("not"));
        let (kind, other) = match name {
            "and" => (MutationKind::Logic, "or"),
            "or" => (MutationKind::Logic, "and"),
            "true" => (MutationKind::Boolean, "false"),
            "True" => (MutationKind::Boolean, "False"),
            "false" => (MutationKind::Boolean, "true"),
            "False" => (MutationKind::Boolean, "True"),
            // The `in` of a loop compares nothing.
            "in" if std::mem::take(&mut tag.has_loop_target) => return,
            "in" if !is_negated => (MutationKind::Comparison, "not in"),
            "is" if !self.is_name_at(at + 1, "not") => (MutationKind::Comparison, "is not"),
            "not" => {
                // With the space after it: `not in`, `is not`, and `not` before a condition.
                let next = self.tokens.get(at + 1);
                let is_compared = before.is_some_and(|before| before.is_name("is"))
                    || next.is_some_and(|next| next.is_name("in"));
                let kind = if is_compared {
                    MutationKind::Comparison
                } else {
                    MutationKind::Negation
                };
                let end = next.map_or(span.end, |next| next.span.start);
                return self.add(span.start..end, kind, "");
            }
            _ => return,
        };
        self.add(span, kind, other);
    }
}

#[derive(Debug, Default)]
struct Tag {
    /// The tokens between its marks.
    inside: Range<usize>,
    is_print: bool,
    /// Whether the next `in` belongs to a loop.
    has_loop_target: bool,
}

/// Whether the last character of a string is written as an escape, such as `\n` or `\u0041`.
fn ends_with_escape(written: &str) -> bool {
    let Some(at) = written.rfind('\\') else {
        return false;
    };
    let escaped = &written[at + 1..];
    let long = match escaped.chars().next() {
        Some('u') => 5,
        Some('U') => 9,
        Some('x' | '0'..='7') => 3,
        Some('N') => return true,
        _ => 1,
    };
    escaped.chars().count() <= long
}
