//! The command `init`: makes the user's own suite.

use std::io::Write;

use crate::report;
use rolecall_suite::initial::initial;

use crate::args::InitArguments;
use crate::failure::{Failure, Status};
use crate::surroundings;

pub(super) fn execute(arguments: &InitArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let repository = surroundings::repository_of(&arguments.folder);
    let version = env!("CARGO_PKG_VERSION");
    let initial = initial(&arguments.folder, repository.as_deref(), version)?;
    initial.write().map_err(Failure::Problems)?;
    report::initial::write(out, &initial)?;
    Ok(Status::Fine)
}
