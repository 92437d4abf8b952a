//! How a command ends, and its messages on standard error.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::report::{clean, counted, problems, screen, wrapped};
use rolecall_core::invocation;
use rolecall_core::problem::{Problem, did_you_mean};
use rolecall_io::protocol::ProtocolError;
use rolecall_suite::reference::ReferenceError;
use rolecall_suite::run::RunError;
use rolecall_suite::selection::SelectionError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Fine,
    Nonconforming,
    /// An input file is wrong. The command did the rest of its work.
    BadInput,
}

/// The reason why a command did nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The request does not fit the inputs.
    #[error("{0}")]
    Request(String),
    /// A file is in the way.
    #[error("{0}")]
    Problem(#[from] Problem),
    /// A file that the whole command needs is wrong.
    #[error("{}", listed(.0))]
    Problems(Vec<Problem>),
    /// The chosen engine cannot be used.
    #[error(transparent)]
    Engine(#[from] ProtocolError),
    /// A reference cannot be run.
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
    /// Reports that no input has a name, and suggests the closest name. The input with that name
    /// may be broken.
    pub(crate) fn unknown(what: &str, name: &str, known: &[&str], problems: &[Problem]) -> Failure {
        let help = did_you_mean(name, known).unwrap_or_else(|| {
            let list = invocation::command(&format!("list {what}s"));
            format!("`{list}` names them all")
        });
        let mut broken = String::new();
        for problem in problems {
            broken.push('\n');
            broken.push_str(&problem.to_string());
        }
        Failure::Request(format!("no {what} is named `{name}`\n  {help}{broken}"))
    }
}

/// Problems, as they are written without a failure.
fn listed(found: &[Problem]) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = problems::write_shared(&mut text, found);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

impl Status {
    /// The status of a command whose input files are sound or not, and whose results conform or not.
    pub(crate) fn of(is_sound: bool, conforms: bool) -> Status {
        match (is_sound, conforms) {
            (false, _) => Status::BadInput,
            (true, false) => Status::Nonconforming,
            (true, true) => Status::Fine,
        }
    }

    /// The exit code of the command.
    pub(crate) fn code(self) -> u8 {
        match self {
            Status::Fine => 0,
            Status::Nonconforming => 1,
            Status::BadInput => 2,
        }
    }
}

/// Writes to standard error why a command failed.
pub(crate) fn complain(message: &str) {
    // If standard error fails, there is nowhere to report it.
    let message = wrapped(&format!("error: {message}"), screen::of_messages(), 2);
    let _ = writeln!(clean::messages(), "{message}");
}

/// Writes a message to standard error, unless the user wants only errors there.
pub(crate) fn tell(message: &str) {
    if screen::is_quiet() {
        return;
    }
    let message = wrapped(message, screen::of_messages(), 2);
    // If standard error fails, there is nowhere to report it.
    let _ = writeln!(clean::messages(), "{message}");
}

/// How many problems of files were written.
static PROBLEMS: AtomicUsize = AtomicUsize::new(0);

/// Writes that files are wrong, after the problems themselves.
pub(crate) fn complain_of_input() {
    match PROBLEMS.load(Ordering::Relaxed) {
        0 => {}
        count => {
            let problems = counted(count, "problem", "problems");
            complain(&format!("{problems} with the input: see above"));
        }
    }
}

/// Writes the problems of input files to standard error. A problem that many files share is written
/// once.
pub(crate) fn report_problems(found: &[Problem]) -> io::Result<()> {
    PROBLEMS.fetch_add(found.len(), Ordering::Relaxed);
    problems::write_shared(&mut clean::messages(), found)
}
