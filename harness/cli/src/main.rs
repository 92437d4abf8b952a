//! The program `rolecall`.

fn main() -> std::process::ExitCode {
    rolecall_cli::main()
}
