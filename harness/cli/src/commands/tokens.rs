//! The command `show --tokens`.

use std::io::Write;

use rolecall::problem::Problem;
use rolecall::report::{tokens, transcripts};
use rolecall_model::{Outcome, Template};

use crate::args::ShowArguments;
use crate::failure::{Failure, Status};
use crate::vocabulary;

/// Writes the tokens of a prompt.
pub(super) fn show(
    arguments: &ShowArguments,
    template: &Template,
    outcome: &Outcome,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let Some(tokenizer) = vocabulary::read(template)? else {
        let message = "the vocabulary of the model is not known";
        let help = if vocabulary::is_left_out(template) {
            vocabulary::HELP
        } else {
            "name a model folder with tokenizer.json, or a GGUF file with its tokens, with \
             --templates"
        };
        return Err(Problem::new(&template.path, message).help(help).into());
    };
    let Outcome::Rendered { text } = outcome else {
        transcripts::write(out, outcome)?;
        return Ok(Status::Fine);
    };
    let refused = |why| Problem::new(&template.vocabulary[0], format!("cannot cut this: {why}"));
    let cut = tokenizer.encode(text).map_err(refused)?;
    if arguments.raw {
        tokens::write_numbers(out, &cut)?;
    } else {
        tokens::write(out, text, &cut)?;
    }
    Ok(Status::Fine)
}
