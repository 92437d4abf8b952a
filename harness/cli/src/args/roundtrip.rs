//! The arguments of the commands about the answers of models: `roundtrip`, `infer` and `mock-model`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::common::{LimitsArguments, SetArguments};
use crate::completion;

#[derive(Debug, Args)]
pub(crate) struct RoundtripArguments {
    /// Templates with a response template, as `check` takes them; default: the suite's own
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) paths: Vec<PathBuf>,
    /// Read with the response template in this JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) with: Option<PathBuf>,
    /// Let this program read: a name such as `transformers`, the name of an engine that
    /// `scripts/setup-engines` has set up, or a command line. If it has parsers of its own, it reads
    /// the answers of all templates of its dialect
    #[arg(long, value_name = "ENGINE", add = ArgValueCompleter::new(completion::engines))]
    pub(crate) engine: Option<String>,
    /// With --engine: read with the templates' response templates, even if the program has parsers
    /// of its own
    #[arg(long, requires = "engine")]
    pub(crate) response_templates: bool,
    /// Instead of the suite's answers, read those of this folder or YAML file, and compare with what is
    /// recorded of them: fixtures-unified-v2 of Dynamo
    #[arg(long, value_name = "PATH")]
    pub(crate) recorded: Option<PathBuf>,
    /// Write the answers that come back into this folder, in the form of fixtures-unified-v2 of
    /// Dynamo: a folder for each template, with texts, pieces and the expected parts
    #[arg(long, value_name = "DIR", conflicts_with_all = ["engine", "recorded", "all"])]
    pub(crate) write_recorded: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// Threads to render on; default: one a core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Also print the messages that come back, and those that the template does not write
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InferArguments {
    /// The chat template, as `check` takes it
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) template: PathBuf,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
}

#[derive(Debug, Args)]
pub(crate) struct MockModelArguments {
    /// The text that the model answers with, without an end token
    #[arg(required_unless_present = "file")]
    pub(crate) text: Option<String>,
    /// Take the text from a file, with all its bytes
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    /// Give the model a chat template, with its special tokens: a Jinja template as `check` takes it
    #[arg(long, value_name = "TEMPLATE", add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) template: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
}
