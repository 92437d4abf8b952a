//! How a command ends, and its messages on standard error.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::report::{clean, counted, problems, screen, wrapped};
use rolecall_core::problem::Problem;

pub(crate) use rolecall_suite::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Fine,
    Nonconforming,
    /// An input file is wrong. The command did the rest of its work.
    BadInput,
}

/// Why a command did nothing, as it is written. A problem that many files share is written once.
pub(crate) fn text(failure: &Failure) -> String {
    let Failure::Problems(found) = failure else {
        return failure.to_string();
    };
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = problems::write_shared(&mut text, found);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

impl Status {
    /// The status of a command whose input files are sound or not, and whose results conform or not.
    pub(crate) fn of(is_sound: bool, conforms: bool) -> Status {
        match (is_sound, conforms) {
            // What could not be read might have conformed or not, so no verdict on the rest is the
            // whole one.
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
