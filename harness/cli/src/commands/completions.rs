//! The command `completions`.

use std::io::Write;

use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::completion;
use crate::failure::{Failure, Status};

pub(super) fn execute(shell: Shell, out: &mut dyn Write) -> Result<Status, Failure> {
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
