//! Looking for fixes of templates, and applying them to their files.

use rolecall::card::Card;
use rolecall::engines::Engines;
use rolecall::file::{read_text, write_whole};
use rolecall::fix::{Fixer, Fixes};
use rolecall::problem::Problem;
use rolecall::suite::Suite;
use rolecall::tokenizer::Tokenizers;
use rolecall_model::Template;

use crate::failure::Failure;
use crate::home;

/// The conversations whose prompts a fix must not change: those of the built-in suite.
pub(crate) fn conversations() -> Result<Suite, Failure> {
    let builtin = home::builtin()?;
    Ok(Suite::load(
        &[],
        &[builtin.conversations()],
        &[builtin.tools()],
    ))
}

/// The fixes of a template.
pub(crate) fn find(
    engines: &Engines,
    suite: &Suite,
    (template, card): (&Template, &Card),
    tokenizers: &Tokenizers,
    unsafe_too: bool,
) -> Option<Fixes> {
    let engine = engines.for_dialect(template.dialect)?;
    let fixer = Fixer {
        engine,
        cases: &suite.cases,
        tokenizer: tokenizers.of(template),
    };
    Some(fixer.fixes(template, card, unsafe_too))
}

/// Writes the mended source into the template's file, whole or not at all.
pub(crate) fn apply(template: &Template, fixes: &Fixes) -> Result<(), Failure> {
    let text = read_text(&template.path)?;
    if text != *template.source {
        return Err(
            Problem::new(&template.path, "is not the template's source alone")
                .help("nothing was written: apply the patch by hand")
                .into(),
        );
    }
    Ok(write_whole(&template.path, fixes.source.as_bytes())?)
}
