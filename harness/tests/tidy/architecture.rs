//! `ARCHITECTURE.md` names modules, files and tests that exist.

use std::fs;
use std::path::PathBuf;

use super::{CRATES, harness};

/// The words in backticks that name something.
fn names(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        !word.contains([' ', '\n'])
            && !word.starts_with("hf:")
            && (word.contains("::") || word.contains('/'))
    };
    quoted.filter(is_path).collect()
}

/// Whether a module of a crate, a file below the harness or the top, a session or a test exists.
fn exists(name: &str) -> bool {
    let Some((first, rest)) = name.split_once("::") else {
        return harness().join(name).exists() || harness().join("..").join(name).exists();
    };
    if first == "session" {
        let sessions = harness().join("tests/sessions");
        return sessions.join(format!("{rest}.session")).is_file();
    }
    if CRATES.contains(&first) {
        let module = harness()
            .join(first)
            .join("src")
            .join(rest.replace("::", "/"));
        return module.is_dir() || module.with_extension("rs").is_file();
    }
    let test = name.rsplit("::").next().unwrap_or(name);
    let definition = format!("fn {test}(");
    let tests = harness().join("tests").join(first);
    let files = walkdir::WalkDir::new(&tests).into_iter().flatten();
    let mut files = files.map(walkdir::DirEntry::into_path);
    let file = tests.with_extension("rs");
    let has =
        |file: &PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains(&definition));
    has(&file) || files.any(|file| has(&file))
}

#[test]
fn what_the_page_names_exists() {
    let page = fs::read_to_string(harness().join("ARCHITECTURE.md")).expect("the page");
    let names = names(&page);
    assert!(names.len() > 80, "{}", names.len());
    let gone: Vec<_> = names.iter().filter(|name| !exists(name)).collect();
    assert_eq!(gone, [&""; 0]);
    assert!(!exists("core::gone") && !exists("tidy::gone") && !exists("core/src/gone.rs"));
}
