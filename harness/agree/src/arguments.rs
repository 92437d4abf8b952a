//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use rolecall_model::Dialect;

/// Asks the engines and the real references what they do with templates that nobody wrote,
/// and says where they differ.
///
/// Templates are made by the grammar of their language, and out of those of the suite, of the
/// language tables and of FOLDER by changing some of their tokens. Each is rendered with a few
/// conversations. What differs is made as small as it can be and told by its cause.
///
/// Exit codes: 0 there is no difference, or every one is known; 1 there are others; 2 the
/// request cannot be carried out.
#[derive(Debug, Parser)]
#[command(name = "scripts/fuzz agree", max_term_width = 100)]
pub(crate) struct Arguments {
    /// A folder or file with templates to make others of, beside those of the suite.
    pub(crate) folder: Option<PathBuf>,

    /// Seconds for each dialect.
    #[arg(
        long,
        value_name = "N",
        default_value = "60",
        conflicts_with = "templates"
    )]
    pub(crate) seconds: u64,

    /// Templates for each dialect, however long that takes: the same ones every time.
    #[arg(long, value_name = "N")]
    pub(crate) templates: Option<u64>,

    /// The number that decides which templates are made. Without it every run has another.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// One template of the seed alone, by the number that a report names.
    #[arg(long, value_name = "N", requires = "seed", conflicts_with_all = ["seconds", "templates"])]
    pub(crate) only: Option<u64>,

    /// One dialect instead of both.
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<Language>,

    /// Templates that are asked about at a time: as many as there are cores unless said.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// A dialect, as it is named.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Language {
    /// Asked of transformers.
    Jinja,
    /// Asked of Ollama.
    Go,
}

impl Arguments {
    /// The dialects to ask about.
    pub(crate) fn dialects(&self) -> Vec<Dialect> {
        match self.dialect {
            None => Dialect::ALL.to_vec(),
            Some(Language::Jinja) => vec![Dialect::Jinja],
            Some(Language::Go) => vec![Dialect::Go],
        }
    }
}
