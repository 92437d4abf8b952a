//! Runs without a single prompt: no engine can read the templates, or every pair failed.

use std::io::{self, Write};

use rolecall_core::{Dialect, Engine};

use crate::report::numbers::counted;
use crate::report::style::{BAD, Styled};
use crate::report::wrapping::{paragraph, wrapped};
use crate::report::{screen, syntax_error};
use rolecall_core::problem::shown;
use rolecall_io::syntax_error::SyntaxError;
use rolecall_suite::conclusion::Failures;

/// Writes that every template fails with the same words.
pub fn write_common_refusal(out: &mut dyn Write, words: &str) -> io::Result<()> {
    let text = format!(
        "{} every template fails to load with the same message: {} — is the engine set up?",
        Styled(BAD, "error"),
        shown(words)
    );
    writeln!(out, "{}\n", wrapped(&text, screen::width(), 2))
}

/// Writes why templates gave no result, each reason once. If every pair of a run failed for another
/// reason, writes the first one.
pub fn write<'e>(
    out: &mut dyn Write,
    failures: &Failures<'_>,
    engine: impl Fn(Dialect) -> &'e dyn Engine,
) -> io::Result<()> {
    for template in failures.unread() {
        if let Some(error) = SyntaxError::find(engine(template.dialect), template) {
            syntax_error::write(out, &error)?;
        }
    }
    let Some((pairs, name, outcome)) = failures.total() else {
        return Ok(());
    };
    let all = counted(pairs, "pair gave a prompt", "pairs gave a prompt");
    let text = format!(
        "{} none of {all}; the first, {name}, {}: {}",
        Styled(BAD, "error"),
        outcome.kind(),
        shown(outcome.text())
    );
    paragraph(out, &text, 2)
}
