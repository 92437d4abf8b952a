//! The crates that are published: each says what it is, and what it promises.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use toml::{Table, Value};

use super::harness;

/// The sentences about versions. Each README has one of them.
const PROMISE: &str = "Only a new minor version may break a program that uses it.";
const NO_PROMISE: &str = "Its interface may change in any version.";

struct Published {
    /// Its folder below `harness/`.
    folder: String,
    /// Its manifest, with the keys of the workspace in it.
    manifest: Table,
    readme: String,
}

impl Published {
    fn key(&self, table: &str, key: &str) -> Option<&Value> {
        self.manifest.get(table)?.get(key)
    }

    fn name(&self) -> &str {
        let name = self.key("package", "name").and_then(Value::as_str);
        name.expect("a name")
    }

    /// Its README as one line, so that a sentence is found wherever its lines break.
    fn words(&self) -> String {
        let words: Vec<&str> = self.readme.split_whitespace().collect();
        words.join(" ")
    }

    /// Whether its README has an example in Rust.
    fn has_example(&self) -> bool {
        self.readme.contains("\n```rust")
    }
}

fn table(path: &str) -> Table {
    let text = fs::read_to_string(harness().join(path)).expect("a manifest");
    text.parse().expect("a table")
}

fn published() -> Vec<Published> {
    let workspace = table("../Cargo.toml");
    let inherited = workspace["workspace"]["package"].as_table().expect("keys");
    let members = workspace["workspace"]["members"]
        .as_array()
        .expect("a list");
    let mut all = Vec::new();
    for member in members {
        let member = member.as_str().expect("a folder");
        let folder = member
            .strip_prefix("harness/")
            .expect("a crate of the harness");
        let mut manifest = table(&format!("{folder}/Cargo.toml"));
        let package = manifest["package"].as_table_mut().expect("a package");
        if package.get("publish") == Some(&Value::Boolean(false)) {
            continue;
        }
        for (key, value) in package.iter_mut() {
            if value.get("workspace").is_some() {
                *value = inherited[key].clone();
            }
        }
        let readme = harness().join(folder).join("README.md");
        let readme = fs::read_to_string(&readme)
            .unwrap_or_else(|error| panic!("{}: {error}", readme.display()));
        all.push(Published {
            folder: folder.to_owned(),
            manifest,
            readme,
        });
    }
    assert!(all.len() > 10, "{} crates are published", all.len());
    all
}

/// The crates that `scripts/check-semver` compares with the last release.
fn checked() -> BTreeSet<String> {
    let script = fs::read_to_string(harness().join("../scripts/check-semver")).expect("a script");
    let list = script
        .split_once("\nCRATES=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    let (names, _) = list.expect("a list of crates");
    names.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn every_published_crate_can_be_found_and_understood() {
    let mut openings = BTreeMap::new();
    for one in published() {
        let name = one.name();
        for key in [
            "description",
            "license",
            "rust-version",
            "keywords",
            "categories",
        ] {
            assert!(one.key("package", key).is_some(), "{name} has no `{key}`");
        }
        // crates.io allows five of each.
        for key in ["keywords", "categories"] {
            let words = one.key("package", key).and_then(Value::as_array);
            assert!(
                (1..=5).contains(&words.map_or(0, Vec::len)),
                "{name}: {key}"
            );
        }
        let rest = one.readme.strip_prefix(&format!("# {name}\n\n"));
        let rest = rest.unwrap_or_else(|| panic!("the README of {name} begins with its name"));
        let opening = rest.split("\n\n").next().expect("a paragraph");
        assert!(opening.len() > 80, "{name}: {opening}");
        let other = openings.insert(opening.to_owned(), name.to_owned());
        assert_eq!(other, None, "{name} says the same");
        assert!(
            one.readme.lines().count() <= 70,
            "the README of {name} is long"
        );
        // On crates.io there are no files next to it.
        for target in one.readme.split("](").skip(1) {
            assert!(target.starts_with("https://"), "{name}: {target:.40}");
        }
    }
}

/// One text is on crates.io and on docs.rs, so neither can be out of date alone. And its examples
/// run.
#[test]
fn the_readme_of_a_crate_is_its_documentation() {
    let mut examples = 0;
    for one in published() {
        let name = one.name();
        let lib = harness().join(&one.folder).join("src/lib.rs");
        let lib = fs::read_to_string(lib).expect("a library");
        assert!(
            lib.starts_with("#![doc = include_str!(\"../README.md\")]\n"),
            "{name}"
        );
        if one.has_example() {
            examples += 1;
            assert_eq!(
                one.key("lib", "doctest"),
                None,
                "{name}: its example has to run"
            );
        }
        // docs.rs shows what is after a feature only if it is asked to.
        let all_features = one
            .key("package", "metadata")
            .is_some_and(|metadata| metadata["docs"]["rs"]["all-features"] == Value::Boolean(true));
        let hidden = one.manifest.get("features").and_then(Value::as_table);
        let hidden = hidden.is_some_and(|features| !features.contains_key("default"));
        assert_eq!(all_features, hidden, "{name}");
    }
    // Those that promise something have one.
    assert!(examples >= checked().len(), "{examples}");
}

/// A crate without a promise is needed in exactly one version: otherwise an old program would be
/// built with a newer interface.
#[test]
fn a_crate_keeps_its_promise_or_gives_none() {
    let checked = checked();
    let workspace = table("../Cargo.toml");
    let version = workspace["workspace"]["package"]["version"]
        .as_str()
        .expect("a version");
    let needed = workspace["workspace"]["dependencies"]
        .as_table()
        .expect("a table");
    let mut names = BTreeSet::new();
    for one in published() {
        let name = one.name();
        names.insert(name.to_owned());
        let promises = checked.contains(name);
        let words = one.words();
        assert_eq!(words.contains(PROMISE), promises, "{name}");
        assert_eq!(words.contains(NO_PROMISE), !promises, "{name}");
        if promises {
            assert!(one.has_example(), "{name} has no example");
        }
        let expected = if promises {
            version.to_owned()
        } else {
            format!("={version}")
        };
        assert_eq!(
            needed[name]["version"].as_str(),
            Some(expected.as_str()),
            "{name}"
        );
    }
    assert!(checked.is_subset(&names), "{checked:?}");
}
