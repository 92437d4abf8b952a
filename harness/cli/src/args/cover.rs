//! The arguments of `cover`.

use std::path::PathBuf;

use crate::report::format::Format;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::common::{DialectArguments, LimitsArguments, SetArguments};
use super::formats::{COVERAGE, format};
use crate::completion;

#[derive(Debug, Args)]
pub(crate) struct CoverArguments {
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
    /// Fail if the cases reach less than this share of a template, in per cent of all branches
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) fail_under: Option<u8>,
    /// Show every place that is not reached, not only the first of several that follow each other
    #[arg(long)]
    pub(crate) all: bool,
    /// Also write a page: the source in colours, and at each place the cases that reach it
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The format of the coverage
    #[arg(long, value_parser = format(&COVERAGE), default_value_t = Format::Human)]
    pub(crate) format: Format,
}
