//! The command `init`: makes the user's own suite.

use std::io::Write;

use rolecall::initial::initial;
use rolecall::report;

use crate::args::InitArguments;
use crate::failure::{Failure, Status};

pub(super) fn execute(arguments: &InitArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let initial = initial(&arguments.folder, env!("CARGO_PKG_VERSION"))?;
    initial.write().map_err(Failure::Problems)?;
    report::initial::write(out, &initial)?;
    Ok(Status::Fine)
}
