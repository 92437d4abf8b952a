//! The grammar of templates: their text becomes the syntax tree that minijinja runs.
//!
//! minijinja's own parser accepts other templates than Jinja2. This parser accepts exactly the
//! templates that Jinja2 3.1.6 accepts with transformers' settings.

pub(super) mod escapes;
pub(super) mod tokens;

pub(crate) mod lexer;

pub(crate) mod constructs;

mod stream;

pub(super) mod expressions;

mod statements;

use minijinja::Error;

use crate::library;

pub(crate) use statements::Parsed;

/// Parses a template whose lines are [`lexer::normalised`].
pub(crate) fn parse(source: &str) -> Result<Parsed<'_>, Error> {
    library::add();
    statements::template(source)
}
