//! The `rolecall` command: parses its arguments, calls the library, and turns what comes
//! back into a report and an exit code.
//!
//! The modules are listed in the order in which they build on each other; each one uses
//! only those above it.

#[cfg(feature = "fetch")]
mod environment;
mod failure;
mod limits;

mod cache;

mod remote;

mod args;
mod home;
mod stdin;

mod sources;

mod inputs;
mod revision;
mod side;

mod engines;
mod page;

mod setup;

mod commands;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use rolecall_model::guard;

use failure::{Failure, complain};

/// Runs the command that the arguments ask for.
fn main() -> ExitCode {
    guard::keep_quiet();
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
