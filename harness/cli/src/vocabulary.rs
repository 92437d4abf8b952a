//! The tokenizers of models, if this program can read them.

use rolecall_check::tokenizer::Tokenizer;
use rolecall_core::Template;
use rolecall_core::problem::Problem;

use crate::failure::Failure;
#[cfg(feature = "tokens")]
use crate::program;

/// Reads the tokenizer of a template's model. A process of its own reads what is not a GGUF file.
#[cfg(feature = "tokens")]
pub(crate) fn read(template: &Template) -> Result<Option<Tokenizer>, Problem> {
    match program::again(&[WORKER]) {
        // The crate `tokenizers` may take any amount of memory and time for somebody else's file.
        // Another process can be limited.
        Ok(words) => rolecall_check::tokens::isolation::read(template, &words),
        Err(_) => rolecall_check::tokens::read(template),
    }
}

/// The command of that process.
#[cfg(feature = "tokens")]
const WORKER: &str = "tokenizer-worker";

/// Reads the tokenizer of a template's model from a GGUF file. This program has no feature
/// `tokens`, so it reads no others.
#[cfg(not(feature = "tokens"))]
pub(crate) fn read(template: &Template) -> Result<Option<Tokenizer>, Problem> {
    match template.vocabulary.as_slice() {
        [gguf, ..] if !is_left_out(template) => Tokenizer::of_gguf(gguf),
        _ => Ok(None),
    }
}

/// Whether the template's model has a tokenizer that this program cannot read.
pub(crate) fn is_left_out(template: &Template) -> bool {
    let files = template.vocabulary.first();
    cfg!(not(feature = "tokens")) && files.is_some_and(|first| first.ends_with("tokenizer.json"))
}

/// How to get a program that can read all tokenizers.
pub(crate) const HELP: &str = "this program was built without the feature `tokens`, which reads \
    tokenizer.json: in the repository, `cargo run --package rolecall-cli --` has it";

/// The tokenizer of a template's model. Without one it is an error, which says how to give one.
pub(crate) fn tokenizer(template: &Template) -> Result<Tokenizer, Failure> {
    read(template)?.ok_or_else(|| {
        let message = "the vocabulary of the model is not known";
        let help = if is_left_out(template) {
            HELP
        } else {
            "name a model folder with tokenizer.json, or a GGUF file with its tokens, with \
             --templates"
        };
        Problem::new(&template.path, message).help(help).into()
    })
}
