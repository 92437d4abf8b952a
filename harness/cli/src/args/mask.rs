//! The arguments of `mask`.

use std::path::PathBuf;

use crate::report::format::Format;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::common::{LimitsArguments, SetArguments};
use super::formats::{MASKS, format};
use crate::completion;

#[derive(Debug, Args)]
pub(crate) struct MaskArguments {
    /// The template, as `check` takes it
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) template: PathBuf,
    /// The case: family/name; default: all cases that have an answer, as a summary
    #[arg(add = ArgValueCompleter::new(completion::cases_and_probes))]
    pub(crate) case: Option<String>,
    /// Show the tokens of the prompt, each with 1 if the model writes it and 0 if not. The model's
    /// vocabulary has to be known: name a folder with tokenizer.json, or a GGUF file
    #[arg(long, requires = "case")]
    pub(crate) tokens: bool,
    /// Write the template with `{% generation %}` marks into a file, if marks can be found that
    /// change no prompt and mark what the model writes in every case
    #[arg(long, value_name = "FILE", conflicts_with_all = ["case", "tokens", "format"])]
    pub(crate) write: Option<PathBuf>,
    /// Cases to use instead of the suite's: a case file or a folder of case files (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) cases: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// Threads to render on; default: one a core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// The format of the mask
    #[arg(long, value_parser = format(&MASKS), default_value_t = Format::Human)]
    pub(crate) format: Format,
}
