//! The command `probe-engine`: what is wrong with a program as an engine.

use std::io::Write;

use rolecall::protocol::Trial;
use rolecall::report;

use crate::args::{ListFormat, ProbeEngineArguments};
use crate::engines;
use crate::failure::{Failure, Status};

pub(super) fn execute(
    arguments: &ProbeEngineArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let limits = arguments.limits.chosen();
    let words = engines::words(&arguments.command, &limits)?;
    let trial = Trial::of(&words, &limits.program)?;
    match arguments.format {
        ListFormat::Human => report::trial::write(out, &trial)?,
        ListFormat::Json => report::trial::write_json(out, &trial)?,
    }
    Ok(if trial.is_fine() {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}
