//! The arguments of `mutate`.

use std::path::PathBuf;

use crate::report::format::Format;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rolecall_explore::generation::Effort;

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
    /// The seed of the search for conversations: the same one finds the same
    #[arg(long, value_name = "N", default_value_t = Effort::SEED)]
    pub(crate) seed: u64,
    /// The most conversations to try at each place with mutants that no case notices; 0 for none
    #[arg(long, value_name = "N", default_value_t = Effort::TRIES_FOR_MUTANTS)]
    pub(crate) tries: usize,
    /// Show the mutants that no conversation tells apart, too
    #[arg(long)]
    pub(crate) all: bool,
    /// Fail if the cases notice less than this share of a template's mutants, in per cent; those
    /// that no conversation tells apart do not count
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) fail_under: Option<u8>,
    /// The format of the result
    #[arg(long, value_parser = format(&MUTANTS), default_value_t = Format::Human)]
    pub(crate) format: Format,
}
