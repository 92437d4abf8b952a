//! The command `serve`: an engine of this program, for other programs.

use std::io::{self, Write};

use rolecall_io::protocol::serve;

use crate::args::LimitsArguments;
use crate::engines::unknown;
use crate::failure::{Failure, Status};

pub(super) fn execute(
    engine: &str,
    limits: &LimitsArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let engines = limits.chosen().engines();
    let engine = engines
        .by_name(engine)
        .ok_or_else(|| unknown(&engines, engine))?;
    match serve(engine, io::stdin().lock(), out) {
        // The program that asked is gone, as at the end of its requests.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Status::Fine),
        served => Ok(served.map(|()| Status::Fine)?),
    }
}
