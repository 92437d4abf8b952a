//! The command `export`: writes the suite as plain data.

pub mod report;

use std::io::Write;
use std::path::Path;

use crate::{home, inputs};
use rolecall_suite::export::Export;
use rolecall_suite::selection::{Filter, select};

use crate::failure::{Failure, Status};

pub(crate) fn execute(
    folder: &Path,
    filters: &[Filter],
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    Export::may_be_written(folder)?;
    let layout = home::layout()?;
    home::tell_suite(&layout);
    let refusal = "the suite has problems, so nothing is exported";
    let suite = inputs::load_sound(&layout, refusal)?;
    let pairs = select(&suite, filters)?;
    let export = Export::gather(&layout, &suite, &pairs).map_err(Failure::Problems)?;
    export.write(folder)?;
    report::write(out, &export, folder)?;
    Ok(Status::of(true, export.left_out.is_empty()))
}
