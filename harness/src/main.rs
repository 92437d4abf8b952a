//! The `rolecall` command: parses its arguments, calls the library, and turns what comes
//! back into a report and an exit code.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
