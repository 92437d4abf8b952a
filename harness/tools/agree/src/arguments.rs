//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use rolecall_core::Dialect;

/// Gives random templates to the engines and to the real references, and reports where they differ.
///
/// The templates come from the grammar of their language, and from the suite, the language tables
/// and FOLDER with a few changed tokens. Both sides render each one with a few conversations. The
/// program reduces every difference to a small example and groups the examples by cause.
///
/// Exit codes: 0 every difference is known, or there is none; 1 there are unknown differences; 2
/// the program cannot run the request.
#[derive(Debug, Parser)]
#[command(name = "scripts/fuzz agree", max_term_width = 100)]
pub(crate) struct Arguments {
    /// A folder or file with templates to change, besides those of the suite.
    pub(crate) folder: Option<PathBuf>,

    /// Seconds for each dialect.
    #[arg(
        long,
        value_name = "N",
        default_value = "60",
        conflicts_with = "templates"
    )]
    pub(crate) seconds: u64,

    /// Templates for each dialect, however long they take. With the same seed they are the same
    /// templates.
    #[arg(long, value_name = "N")]
    pub(crate) templates: Option<u64>,

    /// The number that determines the templates. Without it every run has a new seed.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Only one template of the seed, by its number in a report.
    #[arg(long, value_name = "N", requires = "seed", conflicts_with_all = ["seconds", "templates"])]
    pub(crate) only: Option<u64>,

    /// One dialect instead of both.
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<Language>,

    /// Answers instead of prompts: Go templates, with the text of answers to read. The reference has
    /// to be built with Ollama's readers.
    #[arg(long, conflicts_with_all = ["dialect", "jobs"])]
    pub(crate) answers: bool,

    /// The engines compared with themselves: the prompt that comes with the origins of its bytes
    /// has to be the plain one. The references are not asked.
    #[arg(long, conflicts_with = "answers")]
    pub(crate) traces: bool,

    /// Templates at a time. The default is the number of cores.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// A dialect on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Language {
    /// The reference is transformers.
    Jinja,
    /// The reference is Ollama.
    Go,
}

impl Arguments {
    pub(crate) fn dialects(&self) -> Vec<Dialect> {
        match self.dialect {
            None => Dialect::ALL.to_vec(),
            Some(Language::Jinja) => vec![Dialect::Jinja],
            Some(Language::Go) => vec![Dialect::Go],
        }
    }
}
