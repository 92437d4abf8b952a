//! The tokens of a template, as the parser takes them.

use minijinja::Error;
use minijinja::machinery::Span;
use minijinja::machinery::ast::Spanned;
use rolecall_core::Limit;

use crate::compile::grammar::lexer::Lexer;
use crate::compile::grammar::tokens::Token;
use crate::compile::properties::names_no_number;
use crate::compile::size::TemplateSize;
use crate::meter::exceeded;
use crate::refusal::syntax_error_at;

/// How deeply expressions and statements may be nested.
const DEEPEST: usize = 150;

/// The tokens that are left, with the next two in sight.
pub(super) struct Stream<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    current: (Token<'s>, Span),
    next: Option<(Token<'s>, Span)>,
    /// Where the last token was that was taken.
    last: Span,
    size: TemplateSize,
    depth: usize,
    has_infinity: bool,
    pub(super) special: Vec<&'s str>,
}

impl<'s> Stream<'s> {
    pub(super) fn new(source: &'s str) -> Result<Stream<'s>, Error> {
        let mut stream = Stream {
            source,
            lexer: Lexer::new(source),
            current: (Token::End, Span::default()),
            next: None,
            last: Span::default(),
            size: TemplateSize::default(),
            depth: 0,
            has_infinity: false,
            special: Vec::new(),
        };
        stream.current = stream.read()?;
        Ok(stream)
    }

    /// Whether a number was too large for a float, or a text may become such a number.
    pub(super) fn has_infinity(&self) -> bool {
        self.has_infinity
    }

    #[inline]
    fn read(&mut self) -> Result<(Token<'s>, Span), Error> {
        let read = self.lexer.next();
        if let Ok((token, _)) = &read {
            self.size.sees(token.piece())?;
            self.has_infinity |= match token {
                Token::Float(float) => float.is_infinite(),
                Token::String(text) => names_no_number(text),
                _ => false,
            };
        }
        read
    }

    /// The next token, which is not taken.
    pub(super) fn current(&self) -> &Token<'s> {
        &self.current.0
    }

    /// The token after the next one.
    pub(super) fn look(&mut self) -> Result<&Token<'s>, Error> {
        if self.next.is_none() {
            self.next = Some(self.read()?);
        }
        Ok(self.next.as_ref().map_or(&Token::End, |(token, _)| token))
    }

    pub(super) fn take(&mut self) -> Result<Token<'s>, Error> {
        let next = match self.next.take() {
            Some(next) => next,
            None => self.read()?,
        };
        let (token, span) = std::mem::replace(&mut self.current, next);
        self.last = span;
        Ok(token)
    }

    /// Takes a token that is of no more use.
    #[inline(never)]
    pub(super) fn advance(&mut self) -> Result<(), Error> {
        let next = match self.next.take() {
            Some(next) => next,
            None => self.read()?,
        };
        self.last = self.current.1;
        self.current = next;
        Ok(())
    }

    /// Where the next token is.
    pub(super) fn span(&self) -> Span {
        self.current.1
    }

    /// From the beginning of a place to the token that was taken last.
    pub(super) fn until_here(&self, from: Span) -> Span {
        Span {
            end_line: self.last.end_line,
            end_offset: self.last.end_offset,
            ..from
        }
    }

    /// A node that goes from the beginning of a place to the token that was taken last.
    pub(super) fn node<T>(&self, node: T, from: Span) -> Spanned<T> {
        Spanned::new(node, self.until_here(from))
    }

    pub(super) fn text(&self, place: Span) -> &'s str {
        let place = place.start_offset as usize..place.end_offset as usize;
        self.source.get(place).unwrap_or_default()
    }

    /// Whether a sign is next.
    #[inline]
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.current(), Token::Sign(current) if *current == sign)
    }

    /// Whether a name is next.
    #[inline]
    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self.current(), Token::Name(current) if *current == name)
    }

    /// Takes a sign, if it is next.
    #[inline]
    pub(super) fn skip_sign(&mut self, sign: &str) -> Result<bool, Error> {
        let is_next = self.is_sign(sign);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    /// Takes a name, if it is next.
    #[inline]
    pub(super) fn skip_name(&mut self, name: &str) -> Result<bool, Error> {
        let is_next = self.is_name(name);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    /// Takes a sign, or fails where it is not next.
    pub(super) fn expect_sign(&mut self, sign: &str) -> Result<(), Error> {
        if self.skip_sign(sign)? {
            return Ok(());
        }
        Err(self.expected(sign))
    }

    /// Takes a keyword, or fails where it is not next.
    pub(super) fn expect_keyword(&mut self, name: &str) -> Result<(), Error> {
        if self.skip_name(name)? {
            return Ok(());
        }
        Err(self.expected(name))
    }

    /// Takes any name, or fails where there is none.
    pub(super) fn expect_name(&mut self) -> Result<&'s str, Error> {
        let Token::Name(name) = *self.current() else {
            return Err(self.expected("name"));
        };
        self.advance()?;
        Ok(name)
    }

    /// Takes the end of a tag, or fails where it is not next.
    pub(super) fn expect_end(&mut self, end: &Token<'_>) -> Result<(), Error> {
        if self.current() != end {
            return Err(self.expected(end.description()));
        }
        self.advance()
    }

    /// The error of a token that is not the one that has to come.
    pub(super) fn expected(&self, what: &str) -> Error {
        let found = self.current().description();
        if *self.current() == Token::End {
            return self.error(format!("unexpected end of template, expected '{what}'."));
        }
        self.error(format!("expected token '{what}', got '{found}'"))
    }

    /// An error at the next token.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        syntax_error_at(message, self.span())
    }

    /// Goes a level deeper, or fails where it is too deep.
    pub(super) fn deeper(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(exceeded(Limit::Recursion));
        }
        Ok(())
    }

    /// Goes back from the level that is the deepest.
    pub(super) fn shallower(&mut self) {
        self.depth -= 1;
    }
}
