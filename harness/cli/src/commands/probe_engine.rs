//! The command `probe-engine`: tries a program as an engine.

use std::io::Write;

use crate::report::format::Format;
use crate::report::trial;
use rolecall_io::protocol::Trial;

use crate::args::LimitsArguments;
use crate::engines;
use crate::failure::{Failure, Status};

pub(super) fn execute(
    command: &str,
    limits: &LimitsArguments,
    format: Format,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let limits = limits.chosen();
    let words = engines::words(command, &limits)?;
    let trial = Trial::of(&words, &limits.program)?;
    trial::write(out, &trial, format)?;
    Ok(Status::of(true, trial.is_fine()))
}
