//! The arguments of all commands, as they are typed.

mod common;
mod formats;

mod groups;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::report::explanation::Explained;
use crate::report::format::Format;
use bytesize::ByteSize;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::ArgValueCompleter;
use rolecall_check::contract::{self, Contract};
use rolecall_check::served;
use rolecall_explore::generation::Effort;
use rolecall_front::front::Front;
use rolecall_suite::accepting::AlsoAccepted;
use rolecall_suite::reference::Reference;
use rolecall_suite::selection::Filter;

use crate::completion;
use crate::data::Data;

use common::{CASES, FILTERS, front};
pub(crate) use common::{
    DialectArguments, FrontArguments, LimitsArguments, RenderingArguments, SelectionArguments,
    SetArguments, SourceArguments, SubjectArguments,
};

use formats::{CARDS, COMPARISONS, COVERAGE, DOCUMENTS, OUTCOMES, RUNS, format};

/// Conformance tests for LLM chat templates.
///
/// Renders conversations with chat templates and compares the results, prompts and refusals, byte
/// by byte.
#[derive(Debug, Parser)]
#[command(name = "rolecall", bin_name = "rolecall", version, max_term_width = 100, help_template = groups::template::<Command>(groups::columns()))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

// How everything is printed.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    #[command(flatten)]
    pub(crate) color: colorchoice_clap::Color,
    /// Print only the result's last line, and only errors on standard error
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Write the result into a file, whole or not at all, instead of printing it
    #[arg(long, short, value_name = "FILE", value_hint = WRITTEN, global = true)]
    pub(crate) output: Option<PathBuf>,
    /// Start the engines that the folder's files name: they are not started otherwise. In CI, the
    /// variable `ROLECALL_ALLOW_ENGINES=1` does the same
    #[arg(long, global = true)]
    pub(crate) allow_engines: bool,
    /// Use the suite that comes with Rolecall, whatever is in this folder
    #[arg(long, global = true)]
    pub(crate) builtin: bool,
}

/// What `render` takes.
const OPERANDS: &str = "TEMPLATE_GLOB or TEMPLATE_GLOB:CASE_GLOB, such as 'qwen*:bad-roles/*'; \
                        default: all pairs. Or a template as `check` takes it, and names of cases, or \
                        a file with conversations: a request, a list of messages, a file for \
                        training, JSON Lines of any of these, or - for standard input";

/// What `add` takes.
const CONVERSATION: &str = "The file with the conversation: a request, a list of messages, a file for \
                            training, JSON Lines of any of these, or - for standard input";

/// The parser of these arguments. The long version is made only for those who ask: in a checkout it
/// looks at each file of the suite.
pub(crate) fn parser(arguments: &[OsString]) -> clap::Command {
    let mut parser = Arguments::command();
    if arguments.iter().any(|one| one == "--version") {
        parser = parser.long_version(long_version());
    }
    parser
}

/// The version of this program, the suite in it, and the references of the suite's records.
fn long_version() -> String {
    let references: Vec<_> = Reference::ALL
        .iter()
        .map(|reference| reference.identity().to_string())
        .collect();
    let size = rolecall_suite::builtin::SIZE.map_or_else(String::new, |bytes| {
        format!(" of {}", ByteSize::b(bytes as u64).display().si())
    });
    format!(
        "{}\nsuite {}{size}\nrecorded with {}",
        env!("CARGO_PKG_VERSION"),
        rolecall_suite::builtin::fingerprint(),
        references.join(" and ")
    )
}

/// The hint of an option that names a file to be written. The files of all other arguments are inputs,
/// and `outputs` sees to it that none of them is replaced.
pub(crate) const WRITTEN: ValueHint = ValueHint::FilePath;

/// What to do. [`groups`] has them in the order of the help. The options of a command are made when
/// it is the one that was typed.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// See what a template can do, and which contracts it breaks
    Check(CheckArguments),
    /// See one prompt: its bytes, its tokens, or how it is not as expected
    Show(ShowArguments),
    /// See the prompts of a suite, or of conversations in a file
    Render(RenderArguments),
    /// See what differs between two templates, engines, fronts or saved runs
    Diff(DiffArguments),
    /// See which answers of a model survive the round trip
    Roundtrip(RoundtripArguments),
    /// Write a first draft of a response template
    Infer(InferArguments),
    /// See which places of a template no case reaches
    Cover(CoverArguments),
    /// See which small changes of a template no case notices
    Mutate(MutateArguments),
    /// Make conversations that reach what no case reaches
    Generate(GenerateArguments),
    /// See which bytes and tokens of a prompt the model writes, and put marks there
    Mask(MaskArguments),
    /// Read what a contract means, and how a template keeps it
    Explain {
        /// The contracts (`rolecall list contracts` names them), or fronts of served applications, such
        /// as vllm
        #[arg(value_name = "NAME", required = true, value_parser = explained, add = ArgValueCompleter::new(completion::contracts))]
        names: Vec<Explained>,
    },
    /// Begin a suite of your own: rolecall.toml, a first case, a workflow for CI
    Init {
        /// The folder; default: the current one
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Make a case of a conversation in a request, a file or a log
    Add(AddArguments),
    /// Test: render every case, and compare with the accepted prompts
    Run(RunArguments),
    /// Decide on results that changed, one question for each cause
    Review(ReviewArguments),
    /// Accept results without questions, all or some
    Accept(AcceptArguments),
    /// Find what is left over in a suite: orphans, stale records, unused tools
    Lint(LintArguments),
    /// List templates, cases, engines, fronts, contracts or divergences
    List(ListArguments),
    /// Write a model that gives one answer, to test a server without a real model
    MockModel(MockModelArguments),
    /// Find out what a hosted server makes of requests, from its counts of tokens
    Fingerprint(FingerprintArguments),
    /// Find the mistakes of an engine that you write
    ProbeEngine(ProbeEngineArguments),
    /// See how engines score on the whole suite, or measure one
    Matrix(MatrixArguments),
    /// Write the suite as plain data, to test an engine in any language
    Export {
        /// The folder: a new or an empty one, or an earlier export, which is replaced
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Which pairs
        #[arg(value_name = "FILTER", help = FILTERS, add = ArgValueCompleter::new(completion::filters))]
        filters: Vec<Filter>,
    },
    /// Let another program ask an engine of Rolecall's
    Serve {
        /// The engine's name (see `list engines`)
        #[arg(add = ArgValueCompleter::new(completion::engines))]
        engine: String,
        #[command(flatten)]
        limits: LimitsArguments,
    },
    /// Ask transformers and Ollama themselves
    #[command(subcommand)]
    Reference(ReferenceCommand),
    /// Print a script with which a shell completes commands, options and names
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Watch over the engines of another process; its words come on standard input
    #[command(hide = true)]
    WatchGroups,
    /// Read a tokenizer and cut texts for another process
    #[cfg(feature = "tokens")]
    #[command(hide = true)]
    TokenizerWorker,
}

impl Command {
    /// Whether the result ends with a line that sums it up. The other commands print only what
    /// the user asked for.
    pub(crate) fn ends_with_its_result(&self) -> bool {
        let is_summed_up = matches!(
            self,
            Command::Run(_)
                | Command::Render(_)
                | Command::Cover(_)
                | Command::Fingerprint(_)
                | Command::Review(_)
                | Command::Accept(_)
                | Command::Diff(_)
                | Command::Init { .. }
                | Command::Export { .. }
                | Command::Check(_)
                | Command::Lint(_)
                | Command::Matrix(_)
                | Command::ProbeEngine(_)
                | Command::Reference(_)
        );
        is_summed_up && self.data().is_none()
    }

    /// Whether the command is to be done again when a file changes.
    pub(crate) fn is_watched(&self) -> bool {
        match self {
            Command::Run(arguments) => arguments.watch,
            Command::Check(arguments) => arguments.watch,
            Command::Diff(arguments) => arguments.watch,
            _ => false,
        }
    }

    /// What the output is made of, if it is for programs. `None` is text for people.
    pub(crate) fn data(&self) -> Option<Data> {
        let format = match self {
            Command::Render(RenderArguments { raw: true, .. })
            | Command::Show(ShowArguments { raw: true, .. })
            | Command::MockModel(_) => return Some(Data::Bytes),
            Command::Serve { .. } | Command::Infer(_) => return Some(Data::Json),
            Command::Completions { .. } => return Some(Data::Own),
            #[cfg(feature = "tokens")]
            Command::TokenizerWorker => return Some(Data::Own),
            Command::Run(arguments) => arguments.format,
            Command::Render(arguments) => arguments.format,
            Command::Show(arguments) => arguments.format,
            Command::Lint(arguments) => arguments.format,
            Command::List(arguments) => arguments.format,
            Command::Matrix(arguments) => arguments.shown.format,
            Command::ProbeEngine(arguments) => arguments.format,
            Command::Check(arguments) => arguments.format,
            Command::Diff(arguments) => arguments.format,
            Command::Cover(arguments) => arguments.format,
            Command::Mutate(arguments) => arguments.format,
            Command::Generate(arguments) => arguments.format,
            Command::Mask(arguments) => arguments.format,
            Command::Fingerprint(arguments) => arguments.format,
            _ => return None,
        };
        Data::of(format)
    }
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // each is an option
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) selection: SelectionArguments,
    #[command(flatten)]
    pub(crate) front: FrontArguments,
    #[command(flatten)]
    pub(crate) dialect: DialectArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
    /// Take the verdicts from this engine instead of the records: a name such as `transformers`,
    /// or a command line (repeatable, one for each dialect)
    #[arg(long, value_name = "ENGINE", add = ArgValueCompleter::new(completion::engines))]
    pub(crate) against: Vec<String>,
    /// Test a whole server, prompt and parser: it renders its prompt, a model writes the text that
    /// the template gives a message, and the server reads it. --engine names the program, such as
    /// 'llama-server=llama-server'; default: the cases answer*/* with all Jinja templates
    #[arg(long, requires = "engine", conflicts_with_all = ["against", "html", "pairs", "watch"])]
    pub(crate) roundtrip: bool,
    /// Also write a page with everything: one file that needs no network
    #[arg(long, value_name = "FILE", value_hint = WRITTEN)]
    pub(crate) html: Option<PathBuf>,
    /// Print the outcome of every pair, not only the summary
    #[arg(long)]
    pub(crate) pairs: bool,
    /// Show all differences and name all pairs that share one, not only the first few
    #[arg(long)]
    pub(crate) all: bool,
    /// The format of the results
    #[arg(long, value_parser = format(&RUNS), default_value = "human")]
    pub(crate) format: Format,
    /// Do it again whenever one of the files changes, until Ctrl-C
    #[arg(long, conflicts_with = "output")]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RenderArguments {
    /// Which pairs; or a template, and a file with conversations
    #[arg(value_name = "FILTER", help = OPERANDS, add = ArgValueCompleter::new(completion::filters_or_paths))]
    pub(crate) operands: Vec<String>,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    /// Print the exact bytes of the only prompt, or of the refusal's message
    #[arg(long)]
    pub(crate) raw: bool,
    #[command(flatten)]
    pub(crate) front: FrontArguments,
    #[command(flatten)]
    pub(crate) dialect: DialectArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
    /// Fail if a pair gives no prompt
    #[arg(long)]
    pub(crate) fail: bool,
    /// The format of the outcomes
    #[arg(long, value_parser = format(&OUTCOMES), default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// The file with the conversation
    #[arg(value_name = "CONVERSATION", help = CONVERSATION)]
    pub(crate) conversations: PathBuf,
    /// The line at which the conversation begins, as `render` names it
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<String>,
    /// Add the smallest conversation of each cause that `check TEMPLATE` finds in the file
    #[arg(long, value_name = "TEMPLATE", conflicts_with_all = ["line", "name", "about"])]
    pub(crate) each_cause: Option<PathBuf>,
    /// The name of the case; default: one made of the file's name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// What the case is for, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub(crate) about: Option<String>,
    /// The case file, below the suite's folder of cases; default: added.json
    #[arg(long, value_name = "FILE", default_value = "added.json")]
    pub(crate) to: String,
    /// Replace what may be private by texts of the same kind
    #[arg(long)]
    pub(crate) redact: bool,
    /// Add it although something in it may be private
    #[arg(long, conflicts_with = "redact")]
    pub(crate) keep_private: bool,
    /// Print the case, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // each is an option
pub(crate) struct ShowArguments {
    /// The template's name; with probe/NAME anything that `check` accepts
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) template: String,
    /// The case: family/name; a file and a line, such as log.jsonl:17, for a conversation of your
    /// own; or probe/NAME for a conversation of the report card, by its name there
    #[arg(add = ArgValueCompleter::new(completion::cases_and_probes))]
    pub(crate) case: String,
    /// Print the exact bytes of the prompt, or of the refusal's message
    #[arg(long, conflicts_with = "diff")]
    pub(crate) raw: bool,
    /// Print the tokens of the prompt, one a line; with --raw only their numbers. The model's
    /// vocabulary has to be known: give a folder with tokenizer.json, or a GGUF file, with
    /// --templates
    #[arg(long, conflicts_with = "diff")]
    pub(crate) tokens: bool,
    /// With --tokens: take the control tokens that users wrote for ordinary text, as transformers
    /// does with `sanitize_control_tokens=True`
    #[arg(long, requires = "tokens", conflicts_with = "reference")]
    pub(crate) sanitize_control_tokens: bool,
    /// Show where each byte of the prompt comes from: a text of the template, a field of the
    /// conversation, a variable, or an operation
    #[arg(long, group = "examined", conflicts_with_all = ["raw", "tokens", "reference", "diff"])]
    pub(crate) trace: bool,
    /// Show what each condition of the template looked at, and with what it compared it
    #[arg(long, group = "examined", conflicts_with_all = ["raw", "tokens", "reference", "diff"])]
    pub(crate) decisions: bool,
    /// With --trace: also write a page on which a text of the prompt leads to its source, and a field to
    /// its places
    #[arg(long, value_name = "FILE", value_hint = WRITTEN, requires = "trace")]
    pub(crate) html: Option<PathBuf>,
    /// Print the reference's result instead of the engine's
    #[arg(long)]
    pub(crate) reference: bool,
    /// Print how the transcript differs from the accepted snapshot, or with --reference from the
    /// reference's result
    #[arg(long)]
    pub(crate) diff: bool,
    /// Print the whole of long lines in a difference, not only the part that differs
    #[arg(long, requires = "diff")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    #[command(flatten)]
    pub(crate) front: FrontArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
    /// With --trace or --decisions: the format. JSON has the sources and the decisions
    #[arg(long, value_parser = format(&DOCUMENTS), default_value = "human", requires = "examined")]
    pub(crate) format: Format,
}

/// The word for the nearest published template, which `--like` without a word means.
pub(crate) const NEAREST: &str = "nearest";

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // each is an option
pub(crate) struct CheckArguments {
    /// Templates: .jinja, .gotmpl, Modelfile and GGUF files, model folders, Ollama models or
    /// stores, models by name as hf:ORG/NAME[@REVISION][:FILE] and ollama:NAME[:TAG], or - for a
    /// template on standard input (Jinja, or Go if it looks like Go); default: the suite's own
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) paths: Vec<PathBuf>,
    /// Also say what is wrong with these conversations, by cause: requests, lists of messages, files
    /// for training, JSON Lines of any of these, or case files (repeatable). A path that ends with
    /// .jsonl is one of them, too
    #[arg(long, value_name = "PATH", visible_alias = "conversations")]
    pub(crate) cases: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(flatten)]
    pub(crate) dialect: DialectArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
    /// Print every card and all evidence, with the differences
    #[arg(long)]
    pub(crate) all: bool,
    /// Fail on warnings as well as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// What may fail the check, separated by commas; default: both. `log` is a gate for training data
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) fail_on: Vec<FailOn>,
    /// Judge by these contracts only, separated by commas: `rolecall list contracts` names them
    #[arg(long, value_name = "CONTRACT", value_delimiter = ',', value_parser = contract::find_chosen, add = ArgValueCompleter::new(completion::contracts))]
    pub(crate) select: Vec<&'static Contract>,
    /// Judge by all contracts but these
    #[arg(long, value_name = "CONTRACT", value_delimiter = ',', value_parser = contract::find_chosen, add = ArgValueCompleter::new(completion::contracts))]
    pub(crate) ignore: Vec<&'static Contract>,
    /// Also compare with the template that this one was made from: any template or model, or `base`
    /// for the one that rolecall.toml, the model card or the GGUF file names. Without a value, or with
    /// `nearest`: the published template to which it is nearest, from the hub
    #[arg(long, value_name = "BASE", num_args = 0..=1, default_missing_value = NEAREST, conflicts_with_all = ["fix", "write_baseline"])]
    pub(crate) like: Option<String>,
    /// With --like: a control token of the base and the one that the template has for the same
    /// thing, as `'<|im_end|>=<end>'` (repeatable)
    #[arg(long, value_name = "TOKEN=TOKEN", requires = "like", value_parser = tokens)]
    pub(crate) same: Vec<(String, String)>,
    /// Also say what applications that serve the model make of conversations: all that are known, or
    /// those with these fronts, separated by commas, as --served=vllm,sglang
    #[arg(long, value_name = "FRONTS", num_args = 0..=1, require_equals = true, value_delimiter = ',', default_missing_value = "", value_parser = served_front)]
    pub(crate) served: Option<Vec<Option<Front>>>,
    /// Fix the template files where a fix is proven to change no prompt that was right
    #[arg(long)]
    pub(crate) fix: bool,
    /// With --fix: also apply fixes that change prompts which held everything
    #[arg(long, requires = "fix")]
    pub(crate) unsafe_fixes: bool,
    /// With --fix: show what would change, in the chosen format, and write nothing
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,
    /// Count the findings in this file as known: fail only on new or worse ones
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the current findings into a file for --baseline
    #[arg(long, value_name = "FILE", value_hint = WRITTEN, conflicts_with = "baseline")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Compare with the published templates of this index, and not with those that Rolecall knows
    #[arg(long, value_name = "FILE")]
    pub(crate) index: Option<PathBuf>,
    /// Write an index of these templates for --index: hashes of parts of their prompts, and no texts
    #[arg(long, value_name = "FILE", value_hint = WRITTEN, conflicts_with_all = ["fix", "index", "select", "ignore"])]
    pub(crate) write_index: Option<PathBuf>,
    /// Also write a page with everything: one file that needs no network
    #[arg(long, value_name = "FILE", value_hint = WRITTEN)]
    pub(crate) html: Option<PathBuf>,
    /// The format of the cards
    #[arg(long, value_parser = format(&CARDS), default_value = "human")]
    pub(crate) format: Format,
    /// Do it again whenever one of the files changes, until Ctrl-C
    #[arg(long, conflicts_with = "output")]
    pub(crate) watch: bool,
}

/// What may fail a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Templates, and what they make of conversations
    Template,
    /// The conversations themselves
    Log,
}

/// A front after `--served`. None stands for all of them.
fn served_front(name: &str) -> Result<Option<Front>, String> {
    let front = (!name.is_empty()).then(|| served::front(name));
    front.transpose()
}

fn tokens(text: &str) -> Result<(String, String), String> {
    let both = text.split_once('=');
    let both = both.filter(|(one, other)| !one.is_empty() && !other.is_empty());
    let (one, other) = both.ok_or("write two tokens as '<|im_end|>=<end>'")?;
    Ok((one.to_owned(), other.to_owned()))
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArguments {
    /// Which pairs; default: all
    #[arg(value_name = "FILTER", help = FILTERS, add = ArgValueCompleter::new(completion::filters))]
    pub(crate) filters: Vec<Filter>,
    /// Accept only results that the reference confirms: by its records, or if those say nothing, by
    /// asking it now, if it is installed
    #[arg(long)]
    pub(crate) verified: bool,
    /// Accept also what is no result of a template: that the engine crashed or exceeded a limit, which
    /// no reference confirms, or that the template cannot be read
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = also_accepted())]
    pub(crate) also: Vec<AlsoAccepted>,
    /// Print the changes, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show all differences and name all pairs that share one, not only the first few
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// Threads to render on; default: one a core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    /// Which pairs; default: all
    #[arg(value_name = "FILTER", help = FILTERS, add = ArgValueCompleter::new(completion::filters))]
    pub(crate) filters: Vec<Filter>,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// Threads to render on; default: one a core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

/// Reads the name of an outcome that is no result of a template.
fn also_accepted() -> impl TypedValueParser<Value = AlsoAccepted> {
    let names = [
        PossibleValue::new("crashed").help("The engine crashed"),
        PossibleValue::new("exceeded").help("A limit was exceeded"),
        PossibleValue::new("unreadable").help("The template cannot be read"),
    ];
    PossibleValuesParser::new(names).map(|name| match &*name {
        "crashed" => AlsoAccepted::Crashed,
        "exceeded" => AlsoAccepted::Exceeded,
        _ => AlsoAccepted::Unreadable,
    })
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
        rolecall diff --engines rolecall-jinja,transformers 'qwen*'\n  \
        rolecall diff --fronts transformers,raw\n\n\
        Exit codes: 0 nothing differs, 1 something does, 2 the request or an input is wrong."
)]
pub(crate) struct DiffArguments {
    /// A and B: templates, as `check` accepts them, or names of the suite's templates;
    /// REVISION:PATH is a path in a revision of a Git repository. Or two files of `run` or `render
    /// --format jsonl`. Then globs over cases, such as 'tools/*'. With --engines or --fronts: filters
    #[arg(value_name = "A B [CASE_GLOB…] | FILTER…", add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) operands: Vec<String>,
    /// Two engines, separated by a comma; if a command line has a comma, give the option twice
    #[arg(long, value_name = "A,B", conflicts_with_all = ["engine", "fronts"], add = ArgValueCompleter::new(completion::engine_pairs))]
    pub(crate) engines: Vec<String>,
    /// Two fronts, separated by a comma
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = front, add = ArgValueCompleter::new(completion::fronts), conflicts_with = "name")]
    pub(crate) fronts: Vec<Front>,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    #[command(flatten)]
    pub(crate) front: FrontArguments,
    #[command(flatten)]
    pub(crate) rendering: RenderingArguments,
    /// Show the whole of every difference, not only the beginning of the first ones
    #[arg(long)]
    pub(crate) all: bool,
    /// Also write a page with every case: one file that needs no network
    #[arg(long, value_name = "FILE", value_hint = WRITTEN)]
    pub(crate) html: Option<PathBuf>,
    #[arg(long, value_parser = format(&COMPARISONS), default_value = "human")]
    pub(crate) format: Format,
    /// Do it again whenever one of the files changes, until Ctrl-C
    #[arg(long, conflicts_with = "output")]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MatrixArguments {
    #[command(subcommand)]
    pub(crate) command: Option<MatrixCommand>,
    #[command(flatten)]
    pub(crate) shown: ShownArguments,
}

// The commands on the measurements of engines.
#[derive(Debug, Subcommand)]
pub(crate) enum MatrixCommand {
    /// Ask engines for everything, and record their results
    Update(MeasuringArguments),
    /// Ask engines for everything, and compare with the recorded results
    Verify(MeasuringArguments),
}

#[derive(Debug, Args)]
pub(crate) struct MeasuringArguments {
    /// The engines: names (see `list engines`), names of engines that `scripts/setup-engines` has
    /// set up, or command lines of programs that speak the engine protocol
    #[arg(value_name = "ENGINE", required = true, add = ArgValueCompleter::new(completion::engines))]
    pub(crate) engines: Vec<String>,
    /// Threads to render on; default: one a core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
}

// Which measurements to show, and how.
#[derive(Debug, Args)]
pub(crate) struct ShownArguments {
    /// Engines to show in detail: NAME, or NAME@VERSION; default: a table of all
    #[arg(value_name = "ENGINE")]
    pub(crate) engines: Vec<String>,
    /// Show all differences, not only the most common ones
    #[arg(long)]
    pub(crate) all: bool,
    /// The format of the output
    #[arg(long, value_parser = format(&DOCUMENTS), default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// What to list
    #[arg(value_enum)]
    pub(crate) what: ListTopic,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    /// The format of the list
    #[arg(long, value_parser = format(&DOCUMENTS), default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct RoundtripArguments {
    /// Templates with a response template, as `check` takes them; default: the suite's own
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) paths: Vec<PathBuf>,
    /// Cases to use instead of the suite's
    #[arg(long, value_name = "PATH", visible_alias = "conversations", help = CASES)]
    pub(crate) cases: Vec<PathBuf>,
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

#[derive(Debug, Args)]
#[command(override_usage = "rolecall fingerprint URL --templates MODEL")]
pub(crate) struct FingerprintArguments {
    /// The server's address, with or without /v1; or vllm=URL or sglang=URL to
    /// ask for the tokens without generating any
    #[arg(value_name = "URL")]
    pub(crate) server: String,
    /// The template that the server should have, with its tokenizer: a model folder, or a model by name
    /// as hf:ORG/NAME[@REVISION]; and then others that it may have, such as older revisions, which use
    /// that tokenizer if they have none (repeatable)
    #[arg(long, value_name = "PATH", required = true)]
    pub(crate) templates: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    /// The application that the server should be: transformers for the template's own prompts, or vllm,
    /// sglang, llama-server or mlx-lm for what it changes on purpose
    #[arg(long = "front", value_name = "NAME", value_parser = front, default_value = "transformers", add = ArgValueCompleter::new(completion::fronts))]
    pub(crate) front: Front,
    /// The name of the model in requests; default: the only one that the server has
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The most requests to send
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(3..=1000))]
    pub(crate) requests: u16,
    /// How long to wait between two requests, such as 2s
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = humantime::parse_duration)]
    pub(crate) pause: Duration,
    /// How many tokens the server may generate for a request, for servers that want more than one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) max_tokens: u16,
    /// Send the requests without asking first
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// The format of the result
    #[arg(long, value_parser = format(&DOCUMENTS), default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CoverArguments {
    #[command(flatten)]
    pub(crate) subject: SubjectArguments,
    /// Fail if the cases reach less than this share of a template, in per cent of all branches
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) fail_under: Option<u8>,
    /// Show every place that is not reached, not only the first of several that follow each other
    #[arg(long)]
    pub(crate) all: bool,
    /// Also write a page: the source in colours, and at each place the cases that reach it
    #[arg(long, value_name = "FILE", value_hint = WRITTEN)]
    pub(crate) html: Option<PathBuf>,
    /// The format of the coverage
    #[arg(long, value_parser = format(&COVERAGE), default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct MutateArguments {
    #[command(flatten)]
    pub(crate) subject: SubjectArguments,
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
    #[arg(long, value_parser = format(&DOCUMENTS), default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    #[command(flatten)]
    pub(crate) subject: SubjectArguments,
    /// The seed of the search: the same one makes the same conversations
    #[arg(long, value_name = "N", default_value_t = Effort::SEED)]
    pub(crate) seed: u64,
    /// The most conversations to try for each template
    #[arg(long, value_name = "N", default_value_t = Effort::TRIES)]
    pub(crate) tries: usize,
    /// Write the new cases: into this file, if it ends with .json and there is one template; else
    /// into this folder, a file for each template
    #[arg(long, value_name = "PATH", value_hint = WRITTEN)]
    pub(crate) write: Option<PathBuf>,
    /// Replace case files that are already there
    #[arg(long, requires = "write")]
    pub(crate) overwrite: bool,
    /// Show every place that is not reached, not only the first of several that follow each other
    #[arg(long)]
    pub(crate) all: bool,
    /// The format of the report
    #[arg(long, value_parser = format(&DOCUMENTS), default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct MaskArguments {
    /// The template, as `check` takes it
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) template: PathBuf,
    /// The case: family/name, or a file and a line, such as log.jsonl:17, for a conversation of your
    /// own; default: all cases that have an answer, as a summary
    #[arg(add = ArgValueCompleter::new(completion::cases_and_probes))]
    pub(crate) case: Option<String>,
    /// Show the tokens of the prompt, each with 1 if the model writes it and 0 if not. The model's
    /// vocabulary has to be known: name a folder with tokenizer.json, or a GGUF file
    #[arg(long, requires = "case")]
    pub(crate) tokens: bool,
    /// Write the template with `{% generation %}` marks into a file, if marks can be found that
    /// change no prompt and mark what the model writes in every case
    #[arg(long, value_name = "FILE", value_hint = WRITTEN, conflicts_with_all = ["case", "tokens", "format"])]
    pub(crate) write: Option<PathBuf>,
    /// Cases to use instead of the suite's
    #[arg(long, value_name = "PATH", visible_alias = "conversations", help = CASES)]
    pub(crate) cases: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    /// Compare with the texts and masks of a trainer, on whole conversations: the name of one that
    /// `scripts/setup-engines` has set up, such as trl, or the command line of a program that speaks
    /// the engine protocol and says what is learned
    #[arg(long, value_name = "TRAINER", conflicts_with_all = ["tokens", "write"], add = ArgValueCompleter::new(completion::engines))]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// Threads to render on; default: one a core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// The format of the mask
    #[arg(long, value_parser = format(&DOCUMENTS), default_value = "human")]
    pub(crate) format: Format,
}

fn explained(name: &str) -> Result<Explained, String> {
    match Front::named(name) {
        front if front.is_served() => Ok(Explained::Front(front)),
        _ => contract::find_chosen(name).map(Explained::Contract),
    }
}

/// The commands on the references.
#[derive(Debug, Subcommand)]
pub(crate) enum ReferenceCommand {
    /// Install the references, with Python 3.10 or later: into .references in a checkout of
    /// Rolecall, otherwise into a folder of the user's
    Setup {
        /// Which references: transformers, ollama, and the servers vllm, sglang, mlx-lm and llama-server;
        /// default: the first two
        #[arg(value_parser = ["transformers", "ollama", "vllm", "sglang", "mlx-lm", "llama-server"])]
        names: Vec<String>,
    },
    /// Run the references, and record their results
    Update(ReferenceArguments),
    /// Run the references, and compare with the records and with the engines
    Verify(ReferenceArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// Which pairs; default: all
    #[arg(value_name = "FILTER", help = FILTERS, add = ArgValueCompleter::new(completion::filters))]
    pub(crate) filters: Vec<Filter>,
    /// Programs to run side by side; default: one a core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing is wrong, 1 something is, 2 there is no such program."
)]
pub(crate) struct ProbeEngineArguments {
    /// The command line of a program that speaks the engine protocol, such as 'node adapter.mjs';
    /// or the name of an engine (see `list engines`)
    #[arg(add = ArgValueCompleter::new(completion::engines))]
    pub(crate) command: String,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    #[arg(long, value_parser = format(&DOCUMENTS), default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct LintArguments {
    /// Instead of the suite, look at these response templates: JSON files, such as
    /// `tokenizer_config.json`, model folders, and templates as `check` takes them
    #[arg(add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) paths: Vec<PathBuf>,
    /// Prove one response template on all that these chat templates write, as `check` takes them
    #[arg(long, value_name = "TEMPLATE", num_args = 1.., requires = "paths", add = ArgValueCompleter::new(completion::templates_or_paths))]
    pub(crate) templates: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(flatten)]
    pub(crate) limits: LimitsArguments,
    /// The format of the findings on response templates
    #[arg(long, value_parser = format(&DOCUMENTS), default_value = "human", requires = "paths")]
    pub(crate) format: Format,
    /// First write the JSON Schemas of the input files again
    #[arg(long, conflicts_with = "paths")]
    pub(crate) fix: bool,
}

/// The things that can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListTopic {
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

#[cfg(test)]
mod tests {
    use clap::Command as Parser;

    use super::groups::{GROUPS, HELP, template};
    use super::*;

    #[test]
    fn each_command_is_in_one_group_and_has_one_line() {
        let commands = Command::augment_subcommands(Parser::new(""));
        let shown = commands.get_subcommands().filter(|one| !one.is_hide_set());
        let mut known: Vec<&str> = shown.map(Parser::get_name).collect();
        known.push(HELP.0);
        let listed = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
        let mut listed: Vec<&str> = listed.collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, known);
        for width in [60, 80, 100] {
            let help = template::<Command>(width);
            for line in anstream::adapter::strip_str(&help).to_string().lines() {
                assert!(line.len() <= width, "{line}");
            }
        }
    }
}
