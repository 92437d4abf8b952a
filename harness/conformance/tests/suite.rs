//! The suite for our own engine, as users run it for theirs.

use std::process::ExitCode;

use rolecall_conformance::Conformance;
use rolecall_jinja::JinjaEngine;

fn main() -> ExitCode {
    let engine = JinjaEngine::new();
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/expected-failures.txt");
    Conformance::of(&engine).expecting_failures(list).run()
}
