//! The arguments of `generate`.

use std::path::PathBuf;

use crate::report::format::Format;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rolecall_explore::generation::Effort;

use super::common::{DialectArguments, LimitsArguments, SetArguments};
use super::formats::{LISTS, format};
use crate::completion;

#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    /// Templates, as `check` takes them; default: the suite's own
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) paths: Vec<PathBuf>,
    /// Cases to begin with instead of the suite's: a case file or a folder of case files (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) cases: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(flatten)]
    pub(crate) dialect: DialectArguments,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// Threads to render on; default: one a core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// The seed of the search: the same one makes the same conversations
    #[arg(long, value_name = "N", default_value_t = Effort::SEED)]
    pub(crate) seed: u64,
    /// The most conversations to try for each template
    #[arg(long, value_name = "N", default_value_t = Effort::TRIES)]
    pub(crate) tries: usize,
    /// Write the new cases: into this file, if it ends with .json and there is one template; else
    /// into this folder, a file for each template
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Option<PathBuf>,
    /// Replace case files that are already there
    #[arg(long, requires = "write")]
    pub(crate) overwrite: bool,
    /// Show every place that is not reached, not only the first of several that follow each other
    #[arg(long)]
    pub(crate) all: bool,
    /// The format of the report
    #[arg(long, value_parser = format(&LISTS), default_value_t = Format::Human)]
    pub(crate) format: Format,
}
