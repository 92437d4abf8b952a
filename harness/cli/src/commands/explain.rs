//! The command `explain`: the pages of contracts.

use std::io::Write;

use crate::report::explanation;

use crate::args::ExplainArguments;
use crate::failure::{Failure, Status};

pub(super) fn execute(
    arguments: &ExplainArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    for (index, contract) in arguments.contracts.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        explanation::write(out, contract)?;
    }
    Ok(Status::Fine)
}
