//! The grammar of templates: their text becomes the syntax tree that minijinja runs.
//!
//! minijinja's own parser reads other templates than Jinja2 does. This one reads exactly those
//! that Jinja2 3.1.6 reads with transformers' settings.

mod escapes;
mod tokens;

pub(crate) mod lexer;

mod stream;

pub(super) mod expressions;

mod statements;

use minijinja::Error;

pub(crate) use statements::{Parsed, Rarities};

/// Parses a template whose lines are [`lexer::normalised`].
pub(crate) fn parse(source: &str) -> Result<Parsed<'_>, Error> {
    statements::template(source)
}
