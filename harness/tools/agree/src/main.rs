//! `scripts/fuzz agree`: gives random templates to Rolecall's engines and to the real references,
//! and reports where they differ.
//!
//! The library does the work. The program reads the arguments and the suite, starts the
//! references, and prints the report.

mod arguments;
mod material;
mod report;

mod answers_report;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;
use rolecall_agree::campaign::{Campaign, CampaignLength};
use rolecall_agree::examination::Examiner;
use rolecall_agree::known_differences::KnownDifferences;
use rolecall_agree::tracing::TracedEngine;
use rolecall_cli::report::clean;
use rolecall_core::invocation;
use rolecall_core::problem::Problem;
use rolecall_core::{Dialect, Engine, guard};
use rolecall_front::engines::Engines;
use rolecall_io::protocol::{ProtocolEngine, ProtocolError, ProtocolLimits};
use rolecall_suite::layout::Layout;
use rolecall_suite::reference::{Reference, ReferenceError};

use answers_report::AnswersError;
use arguments::Arguments;
use material::{MaterialError, MaterialSources};
use report::Parties;

/// Why the campaign could not run.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("no suite here: run this in a checkout of Rolecall")]
    NoSuite,
    #[error(transparent)]
    Material(#[from] MaterialError),
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// A reference does not start.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// A pattern of a known difference is invalid.
    #[error("what is known cannot be read: {0}")]
    Known(#[from] regex::Error),
    /// The campaign of answers could not run.
    #[error(transparent)]
    Answers(#[from] AnswersError),
    /// The report cannot be written.
    #[error("cannot write the report: {0}")]
    Output(#[from] io::Error),
}

/// Runs the campaigns that the arguments ask for.
fn main() -> ExitCode {
    guard::keep_quiet();
    let arguments = Arguments::parse();
    let mut out = clean::results();
    match run(&arguments, &mut out) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // The reader has closed the pipe, as `| head` does.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            complain(&format!("error: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// Writes a message to standard error.
fn complain(message: &str) {
    // If this fails, there is nowhere to report it.
    let _ = writeln!(clean::messages(), "{message}");
}

/// Runs a campaign for each dialect, and returns whether every difference is known.
fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<bool, Failure> {
    let layout = layout()?;
    let seed = arguments.seed.unwrap_or_else(new_seed);
    let folder = arguments.folder.as_deref();
    let sources = MaterialSources::read(&layout, folder, |problem: &Problem| {
        complain(&format!("left out: {problem}"));
    })?;
    if arguments.answers {
        let (given, material) = (folder, sources.of(Dialect::Go, &layout)?);
        let program = program(Dialect::Go, &layout)?;
        let is_same =
            answers_report::run(&program, &material, seed, extent(arguments), given, out)?;
        return Ok(is_same);
    }
    // Every reference has to start before the first question.
    let engines = Engines::default();
    let mut references: Vec<(Dialect, Box<dyn Engine + '_>)> = Vec::new();
    for dialect in arguments.dialects() {
        let reference: Box<dyn Engine + '_> = if arguments.traces {
            Box::new(TracedEngine(engines.for_dialect(dialect)))
        } else {
            Box::new(start(dialect, &layout)?)
        };
        references.push((dialect, reference));
    }
    let mut is_all_known = true;
    for (dialect, reference) in &references {
        let engine = engines.for_dialect(*dialect);
        let known = KnownDifferences::of(*dialect)?;
        let campaign = Campaign {
            dialect: *dialect,
            seed,
            extent: extent(arguments),
            jobs: arguments.jobs.map_or_else(cores, usize::from),
            material: &sources.of(*dialect, &layout)?,
            examiner: &Examiner {
                engine,
                reference: reference.as_ref(),
            },
            known: &known,
        };
        complain(&format!(
            "asking {} with the seed {seed}",
            reference.description()
        ));
        let tally = campaign.run();
        let parties = Parties {
            engine: engine.description(),
            reference: reference.description(),
            again: again(*dialect, seed, folder, arguments.traces),
        };
        report::write(out, &parties, &tally)?;
        if arguments.only.is_none() && !arguments.traces {
            report::write_unmet(out, &known.reasons(), &tally)?;
        }
        is_all_known &= tally.unknown() == 0;
    }
    Ok(is_all_known)
}

fn extent(arguments: &Arguments) -> CampaignLength {
    match (arguments.only, arguments.templates) {
        (Some(only), _) => CampaignLength::Questions(only, only + 1),
        (None, Some(count)) => CampaignLength::Questions(0, count),
        (None, None) => CampaignLength::Time(Duration::from_secs(arguments.seconds)),
    }
}

/// The suite in the current folder, or else the suite that this program was built from.
fn layout() -> Result<Layout, Failure> {
    let here = std::env::current_dir().ok();
    here.and_then(|folder| Layout::find(&folder))
        .or_else(|| Layout::find(Path::new(env!("CARGO_MANIFEST_DIR"))))
        .ok_or(Failure::NoSuite)
}

/// Starts the reference of a dialect in its pinned version.
fn start(dialect: Dialect, layout: &Layout) -> Result<ProtocolEngine, Failure> {
    let words = program(dialect, layout)?;
    // A slower answer is not worth the wait: there are always other templates.
    let limits = ProtocolLimits {
        time: Duration::from_secs(3),
        ..ProtocolLimits::default()
    };
    let engine = ProtocolEngine::spawn(&words, limits)?;
    Reference::of(dialect).check(&engine)?;
    Ok(engine)
}

/// The command that starts the reference of a dialect.
fn program(dialect: Dialect, layout: &Layout) -> Result<Vec<String>, Failure> {
    let program = Reference::of(dialect).program(&layout.root().join(".references"))?;
    Ok(vec![program.to_string_lossy().into_owned()])
}

/// The command that repeats a question, without the template's number.
fn again(dialect: Dialect, seed: u64, folder: Option<&Path>, is_traced: bool) -> String {
    let folder = folder.map_or_else(String::new, |folder| {
        format!(" {}", invocation::word(&folder.to_string_lossy()))
    });
    let traces = if is_traced { " --traces" } else { "" };
    format!("scripts/fuzz agree{folder}{traces} --dialect {dialect} --seed {seed}")
}

/// A new seed every time.
fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |now| now.as_secs() % 1_000_000)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
