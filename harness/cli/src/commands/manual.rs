//! The commands `completions` and `man`.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_complete::env::Shells;
use clap_mangen::Man;

use crate::args::Arguments;
use crate::completion;
use crate::failure::{Failure, Status};

pub(super) fn completions(shell: Shell, out: &mut dyn Write) -> Result<Status, Failure> {
    if shell == Shell::Bash {
        out.write_all(completion::BASH.as_bytes())?;
        return Ok(Status::Fine);
    }
    let shells = Shells::builtins();
    let name = shell.to_string();
    let shell = shells
        .completer(&name)
        .ok_or_else(|| Failure::Request(format!("nothing is known of the shell {name}")))?;
    let program = "rolecall";
    shell.write_registration(completion::VARIABLE, program, program, program, out)?;
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
