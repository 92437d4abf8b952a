//! The suite for unmodified minijinja, as users run it for their own engines.

use std::process::ExitCode;

use rolecall_conformance::Conformance;
use rolecall_front::plain_minijinja::Minijinja;

fn main() -> ExitCode {
    let engine = Minijinja::new();
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plain.txt");
    Conformance::of(&engine).expecting_failures(list).run()
}
