//! The tokens of a template.

use std::borrow::Cow;

use minijinja::Value;

use crate::compile::size::Piece;

/// A token of a template, as the lexer of Jinja2 3.1.6 (`lexer.py`) tells them apart.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::compile) enum Token<'s> {
    /// Text outside of tags.
    Text(&'s str),
    /// `{{`
    PrintBegin,
    /// `}}`
    PrintEnd,
    /// `{%`
    BlockBegin,
    /// `%}`
    BlockEnd,
    /// A name, a keyword too.
    Name(&'s str),
    /// A string, with its escapes replaced.
    String(Cow<'s, str>),
    Integer(Value),
    /// A number with a point or an exponent.
    Float(f64),
    /// An operator, a bracket or a mark between expressions.
    Sign(&'static str),
    End,
}

impl<'s> Token<'s> {
    /// The token in the words of Jinja2's messages (`lexer.py`, `describe_token`).
    pub(super) fn description(&self) -> &'s str {
        match self {
            Token::Text(_) => "template data / text",
            Token::PrintBegin => "begin of print statement",
            Token::PrintEnd => "end of print statement",
            Token::BlockBegin => "begin of statement block",
            Token::BlockEnd => "end of statement block",
            Token::Name(name) => name,
            Token::String(_) => "string",
            Token::Integer(_) => "integer",
            Token::Float(_) => "float",
            Token::Sign(sign) => sign,
            Token::End => "end of template",
        }
    }

    /// What the size of a template knows of the token.
    pub(super) fn piece(&self) -> Piece<'s> {
        match self {
            Token::Text(_) | Token::PrintBegin => Piece::Outside,
            Token::BlockBegin => Piece::Tag,
            Token::Name(name) => Piece::Name(name),
            _ => Piece::Other,
        }
    }
}
