//! The suite: compares every case with every template, their parsed answers, and every template's
//! report card, with the accepted snapshots and the references' records; and every served front with
//! what its application made of the suite.
//!
//! The tests find families and templates when they start, so a new case file or template needs no
//! line here. `qwen3-think::tool-calls` tests a template with a family of cases, `qwen3-think::card` its
//! report card, and `case_file::…` a case file. In `session::…` a user types commands. What differs
//! becomes a pending snapshot for `cargo insta review`, except in CI. `rolecall review` needs no pending
//! snapshots.

// Tests read what they wrote, and their helpers may panic.
#![allow(clippy::disallowed_methods, clippy::print_stderr, clippy::unwrap_used)]

#[path = "../extent.rs"]
#[allow(dead_code)]
mod extent;
#[path = "../folder/mod.rs"]
mod folder;
#[path = "../scratch.rs"]
mod scratch;

mod cards;
mod case_files;
mod contracts;
mod fronts;
mod pairs;
mod report;
mod review;
mod sessions;
mod test_files;

use std::process::ExitCode;

use libtest_mimic::Arguments;

/// The tests that are of a single file each.
mod files {
    use super::case_files::case_file;

    datatest_stable::harness! {
        { test = case_file, root = "cases/conversations", pattern = r"\.json$" },
    }

    pub(super) fn run() -> std::process::ExitCode {
        main()
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut tests = pairs::tests();
    tests.extend(cards::tests());
    tests.extend(fronts::tests());
    tests.extend(sessions::tests(&arguments));
    tests.extend(contracts::tests(&arguments));
    // Whoever names one test wants it alone.
    let named = arguments.filter.as_ref().filter(|_| arguments.exact);
    let is_named = tests
        .iter()
        .any(|test| Some(test.name()) == named.map(String::as_str));
    if named.is_some() && !is_named {
        return files::run();
    }
    let conclusion = libtest_mimic::run(&arguments, tests);
    let otherwise = pairs::assert_families();
    for family in &otherwise {
        eprintln!("{family}: {}", review::OTHERWISE);
    }
    let is_right = !conclusion.has_failed() && otherwise.is_empty();
    let of_files = if is_named {
        ExitCode::SUCCESS
    } else {
        files::run()
    };
    if is_right {
        of_files
    } else {
        ExitCode::from(FAILED)
    }
}

/// What the standard test runner ends with if a test failed.
const FAILED: u8 = 101;
