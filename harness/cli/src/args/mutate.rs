//! The arguments of `mutate`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rolecall::report::format::Format;

use super::common::{DialectArguments, LimitsArguments, SetArguments};
use super::formats::{MUTANTS, format};
use crate::completion;

#[derive(Debug, Args)]
pub(crate) struct MutateArguments {
    /// Templates, as `check` takes them; default: the suite's own
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) paths: Vec<PathBuf>,
    /// Cases to use instead of the suite's: a case file or a folder of case files (repeatable)
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
    /// Fail if the cases notice less than this share of a template's mutants, in per cent
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) fail_under: Option<u8>,
    /// The format of the result
    #[arg(long, value_parser = format(&MUTANTS), default_value_t = Format::Human)]
    pub(crate) format: Format,
}
