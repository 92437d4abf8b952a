//! The code is tidy: in every crate, imports run downwards only.
//!
//! `lib.rs`, `main.rs` and every `mod.rs` list their modules from the ground up. A module may
//! import only from modules above it in the list: not from those below it, and not from the
//! `mod.rs` of a folder that contains it. So there is no circle of files or folders. Code in
//! `#[cfg(test)]` may import anything.

mod architecture;
mod crates;
mod imports;
mod modules;
mod order;
mod publication;
mod ratchet;
mod versions;

use std::path::{Path, PathBuf};

use self::modules::Modules;
use self::order::{circle, upwards};
use crate::scratch;

/// The crates, from the ground up: the folders below `harness/`.
const CRATES: [&str; 15] = [
    "core",
    "response",
    "jinja",
    "go",
    "front",
    "io",
    "answers",
    "check",
    "suite",
    "explore",
    "conformance",
    "cli",
    "tools/agree",
    "bindings/python",
    "bindings/web",
];

fn harness() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("harness")
}

/// The errors of a crate, in words.
fn examine(modules: &Modules) -> Vec<String> {
    let mut wrong: Vec<String> = upwards(modules).iter().map(ToString::to_string).collect();
    if let Some(way) = circle(modules) {
        wrong.push(format!("a circle: {way}"));
    }
    wrong
}

#[test]
fn imports_run_downwards() {
    let mut wrong = Vec::new();
    for name in CRATES {
        let source = harness().join(name).join("src");
        let crates = Modules::read(&source);
        let count: usize = crates.iter().map(Modules::len).sum();
        assert!(count > 1, "{count} modules were found in {name}");
        let found: Vec<_> = crates.iter().flat_map(examine).collect();
        wrong.extend(
            found
                .into_iter()
                .map(|message| format!("{name}: {message}")),
        );
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// So many files of commands may import from another command. What two commands share is in `cli::report` if it
/// is shown, in `cli` itself, or in the crate that decides.
const MOST_BETWEEN_COMMANDS: usize = 2;

#[test]
fn commands_import_little_from_each_other() {
    let modules = Modules::read(&harness().join("cli/src"));
    let found: Vec<String> = modules.iter().flat_map(Modules::between_commands).collect();
    assert!(
        found.len() <= MOST_BETWEEN_COMMANDS,
        "move what two commands share to `cli::report`, or to the crate that decides:\n{}",
        found.join("\n")
    );
}

/// A crate of three files and a folder, with one line for an import.
fn small_crate(changed: &str, line: &str) -> Vec<String> {
    let folder = scratch::folder();
    for (name, text) in [
        (
            "lib.rs",
            "//! mod none;\npub mod ground;\n\nmod middle;\n\npub mod top;\n",
        ),
        ("ground.rs", "pub fn g() {}\n"),
        (
            "middle/mod.rs",
            "mod one;\n\nmod two;\n\npub use two::t;\npub fn m() { one::o() }\n",
        ),
        (
            "middle/one.rs",
            "use crate::ground::{self, g};\npub fn o() {}\n",
        ),
        (
            "middle/two.rs",
            "use super::one::o;\npub fn t() { /* crate::top::x */ crate::ground::g(\"super::m\") }\n",
        ),
        (
            "top.rs",
            "use crate::{ground::g, middle::t};\n#[cfg(test)]\nmod tests {\n    use crate::top::*;\n}\n",
        ),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        let added = if name == changed { line } else { "" };
        std::fs::write(path, format!("{added}\n{text}")).expect("a file");
    }
    let crates = Modules::read(folder.path());
    crates.iter().flat_map(examine).collect()
}

#[test]
fn what_runs_upwards_is_named_with_the_way_round() {
    assert_eq!(small_crate("", ""), [""; 0]);
    for (file, line, expected) in [
        (
            "ground.rs",
            "use crate::top::x;",
            &[
                "ground.rs:1 imports crate::top, which is above it",
                "a circle: ground.rs → top.rs → ground.rs",
            ][..],
        ),
        (
            "middle/one.rs",
            "fn f() { super::two::t() }",
            &[
                "middle/one.rs:1 imports crate::middle::two, which is above it",
                "a circle: middle/one.rs → middle/two.rs → middle/one.rs",
            ],
        ),
        (
            "middle/two.rs",
            "use super::{one::{o as other}, m};",
            &[
                "middle/two.rs:1 imports crate::middle, in which it is",
                "a circle: middle/mod.rs → middle/two.rs → middle/mod.rs",
            ],
        ),
        // No circle, but another order.
        (
            "middle/one.rs",
            "use crate::{top as t};",
            &[
                "middle/one.rs:1 imports crate::top, which is above it",
                "a circle: middle/mod.rs → middle/one.rs → top.rs → middle/mod.rs",
            ],
        ),
    ] {
        assert_eq!(small_crate(file, line), expected, "{line}");
    }
}

/// Crates without examples in their documentation say `doctest = false` in their manifests, because
/// looking for examples takes time. Examples of Rust code that nothing runs are not allowed.
#[test]
fn no_crate_has_an_example_that_is_not_run() {
    let mut blocks = 0;
    for name in [
        "answers",
        "check",
        "cli",
        "explore",
        "io",
        "suite",
        "tools/agree",
    ] {
        let folder = harness().join(name);
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("doctest = false"), "{name}");
        for entry in walkdir::WalkDir::new(folder.join("src")) {
            let path = entry.expect("an entry").into_path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                blocks += examples(&path);
            }
        }
    }
    assert!(blocks > 0);
}

/// How many examples are in a file's documentation, none of them in Rust.
fn examples(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).expect("a file");
    let fences = text.lines().map(str::trim_start).filter_map(|line| {
        let words = line.strip_prefix("//!").or(line.strip_prefix("///"))?;
        words.trim_start().strip_prefix("```")
    });
    // Every other fence ends a block.
    let languages = fences.step_by(2).inspect(|language| {
        assert!(
            ["console", "jinja", "json", "text", "toml"].contains(language),
            "{}: an example in {language:?} would not be run",
            path.display()
        );
    });
    languages.count()
}
