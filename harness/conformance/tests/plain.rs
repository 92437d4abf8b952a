//! The suite for minijinja as it comes, in the way of everyone who has an engine of their own.

use std::process::ExitCode;

use rolecall_conformance::Conformance;
use rolecall_jinja::{Limits, Minijinja};

fn main() -> ExitCode {
    let engine = Minijinja::plain(Limits::default());
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plain.txt");
    Conformance::of(&engine).expecting_failures(list).run()
}
