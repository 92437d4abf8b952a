//! The arguments of `infer`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rolecall::report::format::Format;

use super::common::{LimitsArguments, SetArguments};
use super::formats::{LISTS, format};
use crate::completion;

#[derive(Debug, Args)]
pub(crate) struct InferArguments {
    /// Prove the response template in this JSON file, alone or under the key `response_template`;
    /// default: write a first draft for one template
    #[arg(long, value_name = "FILE")]
    pub(crate) prove: Option<PathBuf>,
    /// Chat templates, as `check` takes them: what they write has to be read back
    #[arg(required = true, add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// The format of the proof
    #[arg(long, requires = "prove", value_parser = format(&LISTS), default_value_t = Format::Human)]
    pub(crate) format: Format,
}
