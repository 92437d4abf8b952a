//! The arguments, as they are typed.

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use rolecall::contract::Contract;
use rolecall::front::{Front, UnknownFront};
use rolecall::known;
use rolecall::problem::closest;
use rolecall::reference::Reference;
use rolecall::selection::Filter;
use rolecall::shard::Shard;
use rolecall::suite::Pair;
use rolecall_model::Dialect;
use serde_json::Value;

use crate::failure::Failure;
use crate::limits::ChosenLimits;

/// Conformance tests for LLM chat templates.
///
/// Renders conversation cases across chat templates and compares the results, expected
/// error messages included, byte by byte.
#[derive(Debug, Parser)]
#[command(name = "rolecall", version, long_version = long_version(), max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// How everything is printed.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    #[command(flatten)]
    pub(crate) color: colorchoice_clap::Color,
    /// Print only the result's last line, and nothing on standard error but errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Write the result into a file, whole or not at all, instead of printing it
    #[arg(long, short, value_name = "FILE", global = true)]
    pub(crate) output: Option<PathBuf>,
}

/// What filters are.
const FILTERS: &str = "TEMPLATE_GLOB or TEMPLATE_GLOB:CASE_GLOB, such as 'qwen*:bad-roles/*'; all \
                       pairs without one";

/// Which program this is, which suite is in it, and which references that was recorded with.
fn long_version() -> String {
    let references: Vec<_> = Reference::ALL
        .iter()
        .map(|reference| reference.identity().to_string())
        .collect();
    format!(
        "{}\nsuite {} of {}\nrecorded with {}",
        env!("CARGO_PKG_VERSION"),
        rolecall_builtin::FINGERPRINT,
        ByteSize::b(rolecall_builtin::SIZE as u64).display().si(),
        references.join(" and ")
    )
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Render every case across every template and compare with what was accepted
    Run(RunArguments),
    /// Render, and print the outcomes only
    Render(RenderArguments),
    /// The report card of a template: what it can do, and which contracts it breaks
    Check(CheckArguments),
    /// Print the transcript of one pair
    Show(ShowArguments),
    /// Compare templates that are meant to give the same prompts, such as a Jinja template
    /// and its port to Ollama
    Parity(ParityArguments),
    /// Write what came of pairs down as what is expected of them
    Accept(AcceptArguments),
    /// Make a suite of one's own: rolecall.toml, a first case, a workflow for CI
    Init(InitArguments),
    /// Write the suite as plain data, for engines in any language
    Export(ExportArguments),
    /// Compare two templates, engines, fronts or saved runs, of which neither is what the other
    /// should be
    Diff(DiffArguments),
    /// How engines do over the whole suite: the table, from what is kept of each
    Matrix(MatrixArguments),
    /// List what there is
    List(ListArguments),
    /// Say what a contract means: a template that breaks it, one that holds it, how to mend one
    Explain(ExplainArguments),
    /// Check the suite itself: orphans, pending reviews, stale records, unused tools
    Lint(LintArguments),
    /// Print what a shell needs to complete commands and options
    Completions(CompletionsArguments),
    /// Print the manual page
    Man,
    /// Be an engine: answer the engine protocol on standard input and output
    Serve(ServeArguments),
    /// Try a program as an engine, and say what is wrong with it
    ProbeEngine(ProbeEngineArguments),
    /// Ask the real references: transformers for Jinja, Ollama's Go templates for Go
    #[command(subcommand)]
    Reference(ReferenceCommand),
}

impl Command {
    /// Whether the result ends with a line that sums it up. Of the others the result is what
    /// was asked for.
    pub(crate) fn ends_with_its_result(&self) -> bool {
        match self {
            Command::Render(_)
            | Command::Show(_)
            | Command::List(_)
            | Command::Explain(_)
            | Command::Completions(_)
            | Command::Man
            | Command::Serve(_) => false,
            Command::Run(_)
            | Command::Accept(_)
            | Command::Diff(_)
            | Command::Init(_)
            | Command::Export(_)
            | Command::Check(_)
            | Command::Parity(_)
            | Command::Lint(_)
            | Command::Matrix(_)
            | Command::ProbeEngine(_)
            | Command::Reference(_) => !self.is_exact(),
        }
    }

    /// Whether the result is for a program: bytes, without any style.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Command::Run(arguments) => arguments.format == Format::Jsonl,
            Command::Render(arguments) => arguments.format == Format::Jsonl,
            Command::Show(arguments) => arguments.raw,
            Command::Serve(_) | Command::Completions(_) | Command::Man => true,
            Command::List(arguments) => arguments.format == ListFormat::Json,
            Command::Matrix(arguments) => arguments.shown.format == ListFormat::Json,
            Command::ProbeEngine(arguments) => arguments.format == ListFormat::Json,
            Command::Check(arguments) => arguments.format != CheckFormat::Human,
            Command::Diff(arguments) => arguments.format != DiffFormat::Human,
            Command::Parity(_)
            | Command::Accept(_)
            | Command::Init(_)
            | Command::Export(_)
            | Command::Explain(_)
            | Command::Lint(_)
            | Command::Reference(_) => false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) selection: SelectionArguments,
    #[command(flatten)]
    pub(crate) front: FrontArguments,
    #[command(flatten)]
    pub(crate) dialect: DialectArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
    /// Take the verdicts from an engine that is asked now, not from the records: a name such
    /// as `transformers`, or a command line (repeatable, one for each dialect)
    #[arg(long, value_name = "ENGINE")]
    pub(crate) against: Vec<String>,
    #[command(flatten)]
    pub(crate) shard: ShardArguments,
    /// Render nothing, and judge what was rendered elsewhere: a file that `run` or `render` printed
    /// with `--format jsonl` (repeatable: the parts of a run, each pair in one of them)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engine", "shard"])]
    pub(crate) results: Vec<PathBuf>,
    /// Write a page with everything to look through, too: one file, without a network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print the outcome of every pair, not only the summary
    #[arg(long)]
    pub(crate) pairs: bool,
    /// Show all differences and name all pairs that share one, not only the first few
    #[arg(long)]
    pub(crate) all: bool,
    /// How to print the results
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct RenderArguments {
    #[command(flatten)]
    pub(crate) selection: SelectionArguments,
    #[command(flatten)]
    pub(crate) front: FrontArguments,
    #[command(flatten)]
    pub(crate) dialect: DialectArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
    #[command(flatten)]
    pub(crate) shard: ShardArguments,
    /// How to print the outcomes
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // each is an option
pub(crate) struct ShowArguments {
    /// The template's name; with probe/NAME what `check` takes will do
    pub(crate) template: String,
    /// The case: family/name; or probe/NAME, a conversation of the report card by its name there
    pub(crate) case: String,
    /// Print the exact bytes of the prompt, or of the refusal's message
    #[arg(long, conflicts_with = "diff")]
    pub(crate) raw: bool,
    /// Print the tokens that the prompt becomes, one a line, where the model's vocabulary is known:
    /// in a folder with tokenizer.json, or a GGUF file, given with --templates; with --raw, their
    /// numbers alone
    #[arg(long, conflicts_with = "diff")]
    pub(crate) tokens: bool,
    /// Print what the reference did instead of what the engine does
    #[arg(long)]
    pub(crate) reference: bool,
    /// Print how the transcript differs from the accepted snapshot, or with --reference
    /// from what the reference did
    #[arg(long)]
    pub(crate) diff: bool,
    /// Print long lines of a difference in whole, not only around what differs
    #[arg(long, requires = "diff")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    #[command(flatten)]
    pub(crate) front: FrontArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Templates: .jinja, .gotmpl, Modelfile and GGUF files, model folders, Ollama models or
    /// stores, models by name as hf:ORG/NAME[@REVISION][:FILE] and ollama:NAME[:TAG], or - for a
    /// template on standard input (Jinja, or Go where it looks so); the suite's own without one
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(flatten)]
    pub(crate) dialect: DialectArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
    /// Print every card and all evidence, with what differs
    #[arg(long)]
    pub(crate) all: bool,
    /// Let warnings fail, too
    #[arg(long)]
    pub(crate) strict: bool,
    /// Judge by these contracts only, parted by commas: `rolecall list contracts` names them
    #[arg(long, value_name = "CONTRACT", value_delimiter = ',', value_parser = known::find)]
    pub(crate) select: Vec<&'static Contract>,
    /// Judge by all contracts but these
    #[arg(long, value_name = "CONTRACT", value_delimiter = ',', value_parser = known::find)]
    pub(crate) ignore: Vec<&'static Contract>,
    /// Count what stands in this file as known: only what is new or worse fails
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write down what is broken now, for --baseline
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Write a page with everything to look through, too: one file, without a network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// How to print the cards
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}

/// How report cards are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For a person
    Human,
    /// One JSON object
    Json,
    /// XML as `JUnit` has it, for CI servers
    Junit,
    /// Annotations for GitHub
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

#[derive(Debug, Args)]
pub(crate) struct ParityArguments {
    /// The family: the name that the twins share in their sidecars; all families without
    /// one. Templates of which no two share a name are taken for twins
    pub(crate) family: Option<String>,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
    /// Show every difference, those that are explained too
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArguments {
    /// Which pairs; all that the reference confirms with --verified
    #[arg(
        value_name = "FILTER",
        required_unless_present = "verified",
        help = "TEMPLATE_GLOB or TEMPLATE_GLOB:CASE_GLOB, such as 'qwen*:bad-roles/*'; may be left out with --verified"
    )]
    pub(crate) filters: Vec<Filter>,
    /// Only what the reference confirms: by its records, or where those say nothing by asking it
    /// now, if it is installed
    #[arg(long)]
    pub(crate) verified: bool,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show all differences and name all pairs that share one, not only the first few
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// Threads to render on; one a core unless said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The folder: a new or an empty one, or an export, which is replaced
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Which pairs
    #[arg(value_name = "FILTER", help = FILTERS)]
    pub(crate) filters: Vec<Filter>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The folder; the current one unless said
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "rolecall diff [OPTIONS] A B [CASE_GLOB…]\n       \
                      rolecall diff [OPTIONS] --engines A,B [FILTER…]\n       \
                      rolecall diff [OPTIONS] --fronts A,B [FILTER…]",
    after_help = "Examples:\n  \
        rolecall diff old.jinja new.jinja\n  \
        rolecall diff HEAD~1:model model 'tools/*'       the folder as it was, and as it is\n  \
        rolecall diff before.jsonl after.jsonl           two runs, saved with --format jsonl\n  \
        rolecall diff --engines minijinja,minijinja-plain 'qwen*'\n  \
        rolecall diff --fronts transformers,raw\n\n\
        Exit codes: 0 nothing differs, 1 something does, 2 the request or an input is wrong."
)]
pub(crate) struct DiffArguments {
    /// A and B: templates, as `check` takes them, names of the suite's, or either as it was in a
    /// revision of a Git repository, REVISION:PATH; or two files of `run` or `render --format
    /// jsonl`. Then globs over cases, such as 'tools/*'. With --engines or --fronts: filters
    #[arg(value_name = "A B [CASE_GLOB…] | FILTER…")]
    pub(crate) operands: Vec<String>,
    /// Two engines, parted by a comma; where the command line of one has a comma, the option
    /// is given twice
    #[arg(long, value_name = "A,B", conflicts_with_all = ["engine", "fronts"])]
    pub(crate) engines: Vec<String>,
    /// Two fronts, parted by a comma
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        value_parser = front,
        conflicts_with = "name"
    )]
    pub(crate) fronts: Vec<Front>,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    #[command(flatten)]
    pub(crate) front: FrontArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
    /// Show every difference in whole, not only the beginning of the first ones
    #[arg(long)]
    pub(crate) all: bool,
    /// Write a page with every case to look through, too: one file, without a network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// How to print what differs
    #[arg(long, value_enum, default_value_t = DiffFormat::Human)]
    pub(crate) format: DiffFormat,
}

/// How comparisons are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// For a person
    Human,
    /// One JSON object
    Json,
    /// For the comment on a pull request
    Markdown,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MatrixArguments {
    #[command(subcommand)]
    pub(crate) command: Option<MatrixCommand>,
    #[command(flatten)]
    pub(crate) shown: ShownArguments,
}

/// What to do with the measurements of engines.
#[derive(Debug, Subcommand)]
pub(crate) enum MatrixCommand {
    /// Ask engines for everything, and write down what they do
    Update(MeasuringArguments),
    /// Ask engines for everything, and compare with what is written down
    Verify(MeasuringArguments),
}

#[derive(Debug, Args)]
pub(crate) struct MeasuringArguments {
    /// The engines: names, see `list engines`, those of engines that `scripts/setup-engines` has
    /// set up, or command lines of programs that speak the engine protocol
    #[arg(value_name = "ENGINE", required = true)]
    pub(crate) engines: Vec<String>,
    /// Take the pairs from files that `run --engine ENGINE --shard K/N --format jsonl` printed, all
    /// parts of it, and ask the engine for the constructs alone
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Vec<PathBuf>,
    /// Threads to render on; one a core unless said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
}

/// What of the measurements to show.
#[derive(Debug, Args)]
pub(crate) struct ShownArguments {
    /// Engines to show in detail: NAME, or NAME@VERSION; a table of all without one
    #[arg(value_name = "ENGINE")]
    pub(crate) engines: Vec<String>,
    /// Where two engines part, or two versions of one
    #[arg(long, num_args = 2, value_names = ["X", "Y"], conflicts_with_all = ["engines", "common", "html", "format"])]
    pub(crate) differ: Vec<String>,
    /// What all engines get wrong, and what one of them alone does
    #[arg(long, conflicts_with_all = ["engines", "html", "format"])]
    pub(crate) common: bool,
    /// Write a site with everything to look through into a folder, instead: pages and badges,
    /// without a network
    #[arg(long, value_name = "DIR", conflicts_with_all = ["engines", "format"])]
    pub(crate) html: Option<PathBuf>,
    /// Show all differences, not only the commonest
    #[arg(long)]
    pub(crate) all: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = ListFormat::Human)]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// What to list
    #[arg(value_enum)]
    pub(crate) what: Listed,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    /// How to print the list
    #[arg(long, value_enum, default_value_t = ListFormat::Human)]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The contracts: `rolecall list contracts` names them
    #[arg(value_name = "CONTRACT", required = true, value_parser = known::find)]
    pub(crate) contracts: Vec<&'static Contract>,
}

/// What to do with the references.
#[derive(Debug, Subcommand)]
pub(crate) enum ReferenceCommand {
    /// Install them, with Python 3.10 or later: into .references in a checkout of Rolecall, else
    /// into a folder of the user's
    Setup(SetupArguments),
    /// Run them, and write down what they do
    Update(ReferenceArguments),
    /// Run them, and compare with what is written down and with the engines
    Verify(ReferenceArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SetupArguments {
    /// Which: transformers, ollama; both unless said
    #[arg(value_parser = ["transformers", "ollama"])]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// Which pairs; all without a filter
    #[arg(
        value_name = "FILTER",
        help = FILTERS
    )]
    pub(crate) filters: Vec<Filter>,
    /// Programs to run beside each other; one a core unless said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The engine: a name, see `list engines`
    pub(crate) engine: String,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing is wrong, 1 something is, 2 there is no such program."
)]
pub(crate) struct ProbeEngineArguments {
    /// The command line of a program that speaks the engine protocol, such as 'node adapter.mjs';
    /// or the name of an engine, see `list engines`
    pub(crate) command: String,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = ListFormat::Human)]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct LintArguments {
    /// Write the JSON Schemas of the input files anew first
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Which pairs.
#[derive(Debug, Args)]
pub(crate) struct SelectionArguments {
    /// Which pairs; all without a filter
    #[arg(
        value_name = "FILTER",
        help = FILTERS
    )]
    pub(crate) filters: Vec<Filter>,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
}

/// Where templates and cases come from.
#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    /// A template, a folder of templates, a model folder, a GGUF file, a Modelfile or an
    /// Ollama store, a model by name as hf:ORG/NAME[@REVISION][:FILE] or ollama:NAME[:TAG], or -
    /// for a template on standard input (Jinja, or Go where it looks so), instead of the suite's
    /// (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) templates: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    /// A case file or a folder of case files, instead of the suite's (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) cases: Vec<PathBuf>,
}

/// What is set on the templates that the arguments name.
#[derive(Debug, Default, Args)]
pub(crate) struct SetArguments {
    /// A special token of the templates that are named, such as `bos_token=<s>`, over what their
    /// sources say (repeatable)
    #[arg(long = "special-token", value_name = "NAME=VALUE", value_parser = special_token)]
    pub(crate) special_tokens: Vec<(String, String)>,
    /// A variable that the templates that are named see, such as `enable_thinking=false` or
    /// `'date="today"'`, over what their sources say (repeatable)
    #[arg(long = "variable", value_name = "NAME=JSON", value_parser = variable)]
    pub(crate) variables: Vec<(String, Value)>,
}

impl SetArguments {
    /// Refuses a name that is said twice, and anything where no template is named.
    pub(crate) fn check(&self, is_own_suite: bool) -> Result<(), Failure> {
        let tokens = self.special_tokens.iter().map(|(name, _)| name).collect();
        let variables = self.variables.iter().map(|(name, _)| name).collect();
        let said: [(&str, Vec<&String>); 2] =
            [("--special-token", tokens), ("--variable", variables)];
        for (option, names) in said {
            let twice = (1..names.len()).find(|at| names[..*at].contains(&names[*at]));
            if let Some(at) = twice {
                let message = format!("{option} {} is given twice\n  give it once", names[at]);
                return Err(Failure::Request(message));
            }
            if is_own_suite && !names.is_empty() {
                return Err(Failure::Request(format!(
                    "{option} is for templates that you name, and the suite's own have theirs\n  \
                     name a template"
                )));
            }
        }
        Ok(())
    }
}

fn special_token(text: &str) -> Result<(String, String), String> {
    named(text, "bos_token=<s>").map(|(name, value)| (name, value.to_owned()))
}

fn variable(text: &str) -> Result<(String, Value), String> {
    let (name, value) = named(text, "enable_thinking=false")?;
    match serde_json::from_str(value) {
        Ok(value) => Ok((name, value)),
        Err(error) => Err(format!(
            "the value is not JSON: {error}\n  a text needs quotes: '{name}={}'",
            Value::from(value)
        )),
    }
}

/// Name and value of what is given as `NAME=VALUE`.
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

/// How to render.
#[derive(Debug, Args)]
pub(crate) struct RenderingArguments {
    /// The engine for templates of its dialect: a name, see `list engines`, that of one which
    /// `scripts/setup-engines` has set up, the command line of a program that speaks the engine
    /// protocol, or a server as KIND=URL or KIND:MODEL=URL, of the kinds llama-server, vllm, ollama
    /// and tgi
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// Threads to render on; one a core unless said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

/// Which language the templates are in.
#[derive(Debug, Args)]
pub(crate) struct DialectArguments {
    /// Only templates of this dialect, jinja or go; with --engine without it, that of the engine
    #[arg(long = "dialect", value_name = "DIALECT", value_parser = dialect)]
    pub(crate) only: Option<Dialect>,
}

/// Which part of the pairs.
#[derive(Debug, Args)]
pub(crate) struct ShardArguments {
    /// Only the K-th of N parts, each about as large, so that several machines can share a run;
    /// `run --results` puts them together
    #[arg(long, value_name = "K/N")]
    pub(crate) shard: Option<Shard>,
}

impl ShardArguments {
    /// The pairs of the part that is asked for; all of them without one.
    pub(crate) fn of<'s>(&self, pairs: Vec<Pair<'s>>) -> Vec<Pair<'s>> {
        match self.shard {
            Some(shard) => shard.of(pairs),
            None => pairs,
        }
    }
}

fn dialect(name: &str) -> Result<Dialect, String> {
    let mut dialects = Dialect::ALL.into_iter();
    dialects
        .find(|dialect| dialect.name() == name)
        .ok_or_else(|| "there are `jinja` and `go`".to_owned())
}

/// For whom to render.
#[derive(Debug, Args)]
pub(crate) struct FrontArguments {
    /// What users of one application get, see `list fronts`, whichever front templates have;
    /// `raw` for what they give alone. Without it each has its own, and where that changes a
    /// case, both. What is compared with records is only what was recorded
    #[arg(long = "front", value_name = "NAME", value_parser = front)]
    pub(crate) name: Option<Front>,
}

fn front(name: &str) -> Result<Front, String> {
    name.parse().map_err(|error: UnknownFront| {
        let names = Front::ALL.map(Front::name);
        let help = closest(name, names)
            .map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
        let listed = names.map(|name| format!("`{name}`")).join(", ");
        format!("{error}{help}\n  there are {listed}")
    })
}

/// What a render may use up.
#[derive(Debug, Args)]
pub(crate) struct LimitsArguments {
    /// What a render may use up, where it is not the default: of a template fuel=STEPS,
    /// work=UNITS, output=BYTES, prompt=BYTES, recursion=DEPTH; of an engine that is a program
    /// time=TIME and answer=BYTES for one answer, start=TIME for the first
    #[arg(long, value_name = "NAME=VALUE,…")]
    limits: Option<ChosenLimits>,
}

impl LimitsArguments {
    /// The defaults, where nothing else was said.
    pub(crate) fn chosen(&self) -> ChosenLimits {
        self.limits.clone().unwrap_or_default()
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a person
    Human,
    /// One JSON object a line
    Jsonl,
}

/// How lists are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For a person
    Human,
    /// One JSON object
    Json,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    /// The templates
    Templates,
    /// The cases, by family
    Cases,
    /// The engines
    Engines,
    /// The fronts
    Fronts,
    /// The contracts of report cards, the worst first
    Contracts,
    /// The known differences from the references
    Divergences,
}
