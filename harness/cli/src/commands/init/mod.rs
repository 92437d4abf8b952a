//! The command `init`: makes the user's own suite.

pub mod report;

use std::io::Write;
use std::path::Path;

use rolecall_suite::initial::initial;
use rolecall_suite::workspace::without_suite;

use crate::failure::{Failure, Status};

pub(crate) fn execute(folder: &Path, out: &mut dyn Write) -> Result<Status, Failure> {
    let repository = without_suite::repository_of(folder);
    let version = env!("CARGO_PKG_VERSION");
    let initial = initial(folder, repository.as_deref(), version)?;
    initial.write().map_err(Failure::Problems)?;
    report::write(out, &initial)?;
    Ok(Status::Fine)
}
