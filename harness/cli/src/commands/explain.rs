//! The command `explain`: the pages of contracts and fronts.

use std::io::Write;

use crate::report::explanation;

use crate::args::{ExplainArguments, Explained};
use crate::failure::{Failure, Status};

pub(super) fn execute(
    arguments: &ExplainArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    for (index, name) in arguments.names.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        match name {
            Explained::Contract(contract) => explanation::write(out, contract)?,
            Explained::Front(front) => explanation::write_front(out, *front)?,
        }
    }
    Ok(Status::Fine)
}
