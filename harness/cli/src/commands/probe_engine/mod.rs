//! The command `probe-engine`: tries a program as an engine.

pub mod report;

use std::io::Write;

use report as trial;
use rolecall_io::protocol::Trial;

use crate::args::ProbeEngineArguments;
use crate::engines;
use crate::failure::{Failure, Status};

pub(crate) fn execute(
    arguments: &ProbeEngineArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let limits = arguments.limits.chosen();
    let words = engines::words(&arguments.command, &limits)?;
    let trial = Trial::run(&words, &limits.program)?;
    trial::write(out, &trial, arguments.format)?;
    Ok(Status::of(true, trial.is_fine()))
}
