//! The command `show --tokens`.

pub mod report;

use std::io::Write;

use crate::report::transcripts;
use report as tokens;
use rolecall_core::problem::Problem;
use rolecall_core::{Case, Dialect, Outcome, Template};
use rolecall_front::sanitizing;

use crate::args::ShowArguments;
use crate::failure::{Failure, Status};
use crate::vocabulary::tokenizer;

/// Writes the tokens of a prompt.
pub(crate) fn show(
    arguments: &ShowArguments,
    template: &Template,
    outcome: &Outcome,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let tokenizer = tokenizer(template)?;
    let Outcome::Rendered { text } = outcome else {
        transcripts::write(out, outcome)?;
        return Ok(Status::Fine);
    };
    let refused = |why| Problem::new(&template.vocabulary[0], format!("cannot cut this: {why}"));
    let cut = if arguments.sanitize_control_tokens {
        tokenizer.encode_marked(text)
    } else {
        tokenizer.encode(text)
    };
    let cut = cut.map_err(refused)?;
    if arguments.raw {
        tokens::write_numbers(out, &cut)?;
    } else if arguments.sanitize_control_tokens {
        tokens::write(out, &sanitizing::without_marks(text), &cut)?;
    } else {
        tokens::write(out, text, &cut)?;
    }
    Ok(Status::Fine)
}

/// A case whose texts have the control tokens of a template's model marked.
pub(crate) fn marked(template: &Template, case: &Case) -> Result<Case, Failure> {
    let tokens = match template.dialect {
        Dialect::Jinja => tokenizer(template)?.control_tokens(&template.source),
        Dialect::Go => None,
    };
    let tokens = tokens.ok_or_else(|| {
        let message = "--sanitize-control-tokens is an option of transformers: it is for Jinja \
                       templates that can be read";
        Failure::Request(message.to_owned())
    })?;
    Ok(tokens.mark(case))
}
