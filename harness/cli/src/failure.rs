//! How a command ends, and what it tells on standard error.

use std::io::{self, Write};
use std::process::ExitCode;

use rolecall::problem::{Problem, closest};
use rolecall::protocol::{ProtocolError, ServeError};
use rolecall::reference::ReferenceError;
use rolecall::report::{problems, screen, wrapped};
use rolecall::run::RunError;
use rolecall::selection::SelectionError;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// All is as expected.
    Fine,
    /// Something does not conform.
    Nonconforming,
    /// An input file is wrong; what could be done was done.
    BadInput,
}

/// A command that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
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

impl Failure {
    /// That nothing has a name, with the one that was probably meant. It may be among what is
    /// broken.
    pub(crate) fn unknown(what: &str, name: &str, known: &[&str], problems: &[Problem]) -> Failure {
        let help = match closest(name, known.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("`rolecall list {what}s` names them all"),
        };
        let mut broken = String::new();
        for problem in problems {
            broken.push('\n');
            broken.push_str(&problem.to_string());
        }
        Failure::Request(format!("no {what} is named `{name}`\n  {help}{broken}"))
    }
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

/// Tells on standard error why a command was not carried out.
pub(crate) fn complain(message: &str) {
    // Nowhere is left to tell if this fails.
    let message = wrapped(&format!("error: {message}"), screen::of_messages(), 2);
    let _ = writeln!(anstream::stderr(), "{message}");
}

/// Tells something on standard error, unless only errors are wanted there.
pub(crate) fn tell(message: &str) {
    if screen::is_quiet() {
        return;
    }
    let message = wrapped(message, screen::of_messages(), 2);
    // Nowhere is left to tell if this fails.
    let _ = writeln!(anstream::stderr(), "{message}");
}

/// Tells on standard error what is wrong with input files; what many have in common once.
pub(crate) fn report_problems(found: &[Problem]) -> io::Result<()> {
    problems::write_shared(&mut anstream::stderr(), found)
}
