//! The arguments that several commands share.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rolecall_core::Dialect;
use rolecall_core::problem::with_did_you_mean;
use rolecall_front::front::{Front, UnknownFront};
use rolecall_io::settings::Settings;
use rolecall_suite::selection::Filter;
use serde_json::Value;

use crate::completion;
use crate::limits::ChosenLimits;

/// How a filter is written.
pub(super) const FILTERS: &str = "TEMPLATE_GLOB or TEMPLATE_GLOB:CASE_GLOB, such as 'qwen*:bad-roles/*'; \
                       default: all pairs";

/// Which cases a command takes.
pub(super) const CASES: &str = "Cases to use instead of the suite's: a case file, a folder of case files, \
                     or conversations of your own: requests of clients, lists of messages, files for \
                     training, JSON Lines of any of these (repeatable)";

// Not `///`: clap would begin the help of each command that has them with these words.

// Which pairs.
#[derive(Debug, Args)]
pub(crate) struct SelectionArguments {
    /// Which pairs; default: all
    #[arg(value_name = "FILTER", help = FILTERS, add = ArgValueCompleter::new(completion::filters))]
    pub(crate) filters: Vec<Filter>,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
}

// Where templates and cases come from.
#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    /// Templates to use instead of the suite's: a template, a folder of templates, a model folder,
    /// a GGUF file, a Modelfile, an Ollama store, a model by name as hf:ORG/NAME[@REVISION][:FILE]
    /// or ollama:NAME[:TAG], or - for a template on standard input (Jinja, or Go if it looks like
    /// Go); repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) templates: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    /// Cases to use instead of the suite's
    #[arg(long, value_name = "PATH", visible_alias = "conversations", help = CASES)]
    pub(crate) cases: Vec<PathBuf>,
}

// The templates and the cases that a command looks into, and how it renders them.
#[derive(Debug, Args)]
pub(crate) struct SubjectArguments {
    /// Templates, as `check` takes them; default: the suite's own
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) paths: Vec<PathBuf>,
    /// Cases to use instead of the suite's
    #[arg(long, value_name = "PATH", visible_alias = "conversations", help = CASES)]
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
}

// Settings of the templates that the arguments name.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct SetArguments {
    /// Set a special token of the templates that you name, such as `'bos_token=<s>'`; overrides their
    /// sources (repeatable)
    #[arg(long = "special-token", value_name = "NAME=VALUE", value_parser = special_token)]
    pub(crate) special_tokens: Vec<(String, String)>,
    /// Set a variable of the templates that you name, such as `enable_thinking=false` or
    /// `'date="today"'`; overrides their sources (repeatable)
    #[arg(long = "variable", value_name = "NAME=JSON", value_parser = variable)]
    pub(crate) variables: Vec<(String, Value)>,
}

impl SetArguments {
    pub(crate) fn is_empty(&self) -> bool {
        self.special_tokens.is_empty() && self.variables.is_empty()
    }

    /// The settings, as libraries take them.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            special_tokens: self.special_tokens.clone(),
            variables: self.variables.clone(),
        }
    }
}

fn special_token(text: &str) -> Result<(String, String), String> {
    named(text, "'bos_token=<s>'").map(|(name, value)| (name, value.to_owned()))
}

fn variable(text: &str) -> Result<(String, Value), String> {
    let (name, value) = named(text, "enable_thinking=false")?;
    match serde_json::from_str(value) {
        Ok(value) => Ok((name, value)),
        Err(_) if matches!(value, "True" | "False" | "None") => {
            // Python's word, which as a text would be true.
            let meant = match value {
                "True" => "true",
                "False" => "false",
                _ => "null",
            };
            Err(format!(
                "the value is not JSON\n  did you mean {name}={meant}? A text needs quotes: \
                 '{name}={}'",
                Value::from(value)
            ))
        }
        Err(error) => Err(format!(
            "the value is not JSON: {error}\n  a text needs quotes: '{name}={}'",
            Value::from(value)
        )),
    }
}

/// The name and the value of an argument `NAME=VALUE`.
fn named<'t>(text: &'t str, example: &str) -> Result<(String, &'t str), String> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    match text.split_once('=') {
        Some((name, value)) if is_name(name) => Ok((name.to_owned(), value)),
        Some((name, _)) => Err(format!(
            "{name:?} is not a name that a template can use: letters, digits and underscores"
        )),
        None => Err(format!("there is no `=` in it; write it as {example}")),
    }
}

// How to render.
#[derive(Debug, Args)]
pub(crate) struct RenderingArguments {
    /// The engine for templates of its dialect: a name (see `list engines`), the name of an engine
    /// that `scripts/setup-engines` has set up, the command line of a program that speaks the
    /// engine protocol, or a server as KIND=URL or KIND:MODEL=URL; the kinds are llama-server,
    /// vllm, sglang, ollama and tgi
    #[arg(long, value_name = "ENGINE", add = ArgValueCompleter::new(completion::engines))]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// Threads to render on; default: one a core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

// Which language the templates are in.
#[derive(Debug, Args)]
pub(crate) struct DialectArguments {
    /// Use only templates of this dialect, jinja or go; with --engine the default is the engine's
    #[arg(long = "dialect", value_name = "DIALECT", value_parser = dialect, add = ArgValueCompleter::new(completion::dialects))]
    pub(crate) only: Option<Dialect>,
}

fn dialect(name: &str) -> Result<Dialect, String> {
    Dialect::named(name).ok_or_else(|| "there are `jinja` and `go`".to_owned())
}

// The application for whose users to render.
#[derive(Debug, Args)]
pub(crate) struct FrontArguments {
    /// Render as one application's users get it (see `list fronts`), overriding each template's own
    /// front; `raw` is the template alone. By default each template has its own front, and if that
    /// changes a case, the case is rendered with both. Comparisons with records use only recorded
    /// pairs
    #[arg(long = "front", value_name = "NAME", value_parser = front, add = ArgValueCompleter::new(completion::fronts))]
    pub(crate) name: Option<Front>,
}

pub(super) fn front(name: &str) -> Result<Front, String> {
    name.parse().map_err(|error: UnknownFront| {
        let names = Front::ALL.map(Front::name);
        let listed = names.map(|name| format!("`{name}`")).join(", ");
        let error = with_did_you_mean(error.to_string(), name, names);
        format!("{error}\n  there are {listed}")
    })
}

// The resources that a render may use.
#[derive(Debug, Clone, Args)]
pub(crate) struct LimitsArguments {
    /// Override resource limits. Templates: fuel=STEPS, work=UNITS, output=BYTES, prompt=BYTES,
    /// recursion=DEPTH. External engines: time=TIME and answer=BYTES for one answer, start=TIME for
    /// the first
    #[arg(long, value_name = "NAME=VALUE,…")]
    limits: Option<ChosenLimits>,
}

impl LimitsArguments {
    /// The chosen limits, or the defaults.
    pub(crate) fn chosen(&self) -> ChosenLimits {
        self.limits.clone().unwrap_or_default()
    }
}
