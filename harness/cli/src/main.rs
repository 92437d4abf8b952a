//! The `rolecall` command: parses its arguments, calls the library, and turns what comes
//! back into a report and an exit code.
//!
//! The modules are listed in the order in which they build on each other; each one uses
//! only those above it.

mod environment;
mod failure;
mod limits;

mod cache;

#[cfg(feature = "fetch")]
mod tls;

mod remote;

mod args;
mod home;
mod stdin;

mod sources;

mod inputs;
mod output;
mod revision;
mod side;

#[cfg(feature = "fetch")]
mod servers;

mod engines;
mod page;

#[cfg(feature = "fetch")]
mod served;

mod setup;

mod commands;

use std::io;
use std::process::ExitCode;

use clap::Parser;
use rolecall::invocation::{self, Site};
use rolecall_model::guard;

use failure::{Failure, Status, complain};
use output::Sink;

/// Carries the command out, and brings its result where it belongs.
fn execute(arguments: &args::Arguments) -> Result<Status, Failure> {
    let mut sink = Sink::open(&arguments.output, &arguments.command)?;
    let status = commands::execute(arguments, &mut sink)?;
    sink.close()?;
    Ok(status)
}

/// Runs the command that the arguments ask for.
fn main() -> ExitCode {
    guard::keep_quiet();
    let arguments = args::Arguments::parse();
    if let Ok(folder) = std::env::current_dir() {
        invocation::set(Site::of(&folder));
    }
    match execute(&arguments) {
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
