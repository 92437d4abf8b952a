//! The command `init`: a suite of one's own.

use std::io::Write;

use rolecall::initial::initial;
use rolecall::report::counted;

use crate::args::InitArguments;
use crate::failure::{Failure, Status};

pub(super) fn execute(arguments: &InitArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let initial = initial(&arguments.folder, env!("CARGO_PKG_VERSION"))?;
    initial.write().map_err(Failure::Problems)?;
    for file in &initial.files {
        writeln!(out, "wrote {}", file.path.display())?;
    }
    if initial.templates.is_empty() {
        writeln!(
            out,
            "\nNo template was found here: name yours in rolecall.toml. Then:"
        )?;
    } else {
        let count = counted(initial.templates.len(), "template", "templates");
        writeln!(out, "\nIt has {count}. Now:")?;
    }
    for (command, what) in [
        (
            "rolecall check",
            "says what they can do, and what they get wrong",
        ),
        ("rolecall reference setup", "installs the references, once"),
        ("rolecall reference update", "writes down what they do"),
        ("rolecall accept --verified", "accepts what they confirm"),
        ("rolecall run", "holds all of it, here and in CI"),
    ] {
        writeln!(out, "  {command:28}{what}")?;
    }
    Ok(Status::Fine)
}
