//! The commands `completions` and `man`.

use std::io::Write;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::{Arguments, CompletionsArguments};
use crate::failure::{Failure, Status};

pub(super) fn completions(
    arguments: &CompletionsArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    // The generator would panic if the reader closed the pipe.
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "rolecall", &mut script);
    out.write_all(&script)?;
    Ok(Status::Fine)
}

/// The manual page of `rolecall`, and below it the pages of its commands.
pub(super) fn page(out: &mut dyn Write) -> Result<Status, Failure> {
    let mut command = Arguments::command();
    command.build();
    Man::new(command.clone()).render(&mut &mut *out)?;
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        let name = format!("rolecall-{}", below.get_name());
        writeln!(out, ".SH {}", name.replace('-', " ").to_uppercase())?;
        let man = Man::new(below.clone());
        man.render_description_section(&mut &mut *out)?;
        man.render_synopsis_section(&mut &mut *out)?;
        man.render_options_section(&mut &mut *out)?;
    }
    Ok(Status::Fine)
}
