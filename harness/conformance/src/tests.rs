//! The verdicts of the tests, and the effect of a list of expected failures.

// A test's helper functions may panic, as the test itself does.
#![allow(clippy::unwrap_used)]

use rolecall_core::Limits;
use rolecall_jinja::JinjaEngine;

use super::*;

/// A list of expected failures in a folder of its own.
struct ListFile {
    folder: tempfile::TempDir,
}

impl ListFile {
    fn of(text: &str) -> ListFile {
        let list = ListFile {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::write(list.path(), text).unwrap();
        list
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("known.txt")
    }
}

/// How many tests pass and how many fail.
fn counts(conformance: &Conformance<'_>) -> (usize, usize) {
    let tests = conformance.tests(None, &|_| true).unwrap();
    let failed = tests.iter().filter(|test| test.failure.is_some()).count();
    (tests.len() - failed, failed)
}

/// The example of the README is one of this crate's tests, so it is known to run.
#[test]
fn the_example_is_a_test() {
    let readme = include_str!("../README.md");
    let (_, rest) = readme.split_once("```rust,no_run\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    assert!(include_str!("../tests/suite.rs").ends_with(example));
}

#[test]
fn every_pair_is_a_test() {
    let engine = JinjaEngine::new();
    let suite = Conformance::of(&engine).only("qwen2.5:plain/*");
    let names = suite.names().unwrap();
    assert!(
        names.contains(&"qwen2.5:plain/single-turn".to_owned()),
        "{names:?}"
    );
    assert_eq!(counts(&suite), (names.len(), 0));
    let one = suite
        .tests(Some(1), &|name| name.ends_with("/single-turn"))
        .unwrap();
    let names: Vec<_> = one.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["qwen2.5:plain/single-turn"]);
}

#[test]
fn a_list_goes_stale_loudly() {
    let engine = JinjaEngine::new();
    let with = |list: &ListFile| {
        let suite = Conformance::of(&engine).only("qwen2.5:plain/*");
        counts(&suite.expecting_failures(list.path()))
    };
    let (passed, _) = with(&ListFile::of("# nothing\n"));
    // The list has a test of its own.
    assert_eq!(with(&ListFile::of("qwen2.5:plain/*")), (1, passed - 1));
    assert_eq!(with(&ListFile::of("qwen2.5:gone/*")), (passed - 1, 1));
}

#[test]
fn what_fails_is_expected_once_it_is_listed() {
    // Long prompts exceed the limit.
    let limits = Limits {
        prompt: 800,
        ..Limits::default()
    };
    let engine = JinjaEngine::with_limits(limits);
    let suite = || Conformance::of(&engine).only("glm-xml:tool-calls/*");
    let (passed, failed) = counts(&suite());
    assert!(passed > 0 && failed > 0, "{passed} {failed}");
    let tests = suite().tests(None, &|_| true).unwrap();
    let wrong = tests
        .iter()
        .filter_map(|test| Some((&test.name, test.failure.as_ref()?)));
    let mut lines = Vec::new();
    for (name, failure) in wrong {
        assert!(failure.starts_with("expected "), "{failure}");
        lines.push(name.as_str());
    }
    let list = ListFile::of(&lines.join("\n"));
    let listed = suite().expecting_failures(list.path());
    assert_eq!(counts(&listed), (passed + failed + 1, 0));
    let known = listed.tests(None, &|_| true).unwrap();
    assert_eq!(
        known.iter().filter(|test| test.is_expected_to_fail).count(),
        failed
    );
}

#[test]
fn what_cannot_be_run_is_reported() {
    let engine = JinjaEngine::new();
    let error = |suite: Conformance<'_>| suite.tests(None, &|_| true).unwrap_err().to_string();
    let nothing = error(Conformance::of(&engine).only("qwen2.5:gone/*"));
    assert!(nothing.contains("matches no pair"), "{nothing}");
    let filter = error(Conformance::of(&engine).only("a:b["));
    assert!(filter.contains("Conformance::only"), "{filter}");
    let list = ListFile::of("# a comment\na[\n");
    let listed = error(Conformance::of(&engine).expecting_failures(list.path()));
    assert!(listed.contains("known.txt:2"), "{listed}");
}

#[test]
fn what_is_as_expected_shares_a_line_and_what_fails_has_its_own() {
    let test = |name: &str, is_expected_to_fail: bool, failure: Option<&str>| Test {
        name: name.to_owned(),
        is_expected_to_fail,
        failure: failure.map(str::to_owned),
    };
    let tests = vec![
        test("a:x/1", false, None),
        test("a:x/2", false, Some("other")),
        test("b:x/1", true, None),
        test("a:x/3", false, None),
        test("b:x/2", true, Some("agrees")),
        test("the list", false, None),
    ];
    let names = gathered(tests).into_iter().map(|test| test.name);
    let names: Vec<String> = names.collect();
    let expected = [
        "a: 2 as expected",
        "b: 0 as expected, 1 expected to fail",
        "a:x/2",
        "b:x/2",
        "the list",
    ];
    assert_eq!(names, expected);
}
