//! The command line.

mod args;
mod check;
mod commands;
mod engines;
mod inputs;
mod limits;
mod references;
mod serve;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use rolecall::engine::protocol::{ProtocolError, ServeError};
use rolecall::problem::Problem;
use rolecall::reference::ReferenceError;
use rolecall::report::problems;
use rolecall::run::RunError;
use rolecall::selection::SelectionError;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// All is as expected.
    Fine,
    /// Something does not conform.
    Nonconforming,
    /// An input file is wrong; what could be done was done.
    BadInput,
}

/// A command that could not be carried out.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The request does not fit what there is.
    #[error("{0}")]
    Request(String),
    /// A file is in the way.
    #[error("{0}")]
    Problem(#[from] Problem),
    /// A file that everything else rests on is wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Problems(Vec<Problem>),
    /// An engine that was asked for cannot be used.
    #[error(transparent)]
    Engine(#[from] ProtocolError),
    /// Serving an engine ended early.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// A reference cannot be asked.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// There is no pair to work on.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The run cannot start.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The report cannot be written.
    #[error("cannot write the report: {0}")]
    Output(#[from] io::Error),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Fine => 0,
            Status::Nonconforming => 1,
            Status::BadInput => 2,
        })
    }
}

/// Runs the command that the arguments ask for.
pub(crate) fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    // Colour is taken out by a stream that would take control characters of a prompt for
    // parts of it; what programs read goes past it.
    let mut out: Box<dyn Write> = if arguments.command.is_exact() {
        Box::new(io::BufWriter::new(io::stdout()))
    } else {
        Box::new(io::BufWriter::new(anstream::stdout()))
    };
    let result = commands::execute(&arguments, &mut out)
        .and_then(|status| out.flush().map(|()| status).map_err(Failure::from));
    match result {
        Ok(status) => status.into(),
        // The reader has seen enough, as with `| head`.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            complain(&failure.to_string());
            ExitCode::from(2)
        }
    }
}

/// Tells on standard error why a command was not carried out.
fn complain(message: &str) {
    // Nowhere is left to tell if this fails.
    let _ = writeln!(anstream::stderr(), "error: {message}");
}

/// Tells something on standard error.
fn tell(message: &str) {
    // Nowhere is left to tell if this fails.
    let _ = writeln!(anstream::stderr(), "{message}");
}

/// Tells on standard error what is wrong with input files.
fn report_problems(found: &[Problem]) -> io::Result<()> {
    problems::write(&mut anstream::stderr(), found)
}
