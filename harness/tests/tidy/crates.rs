//! Crates use only crates below them, and a program that renders compiles little.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::{CRATES, harness};

/// The crates of the harness among a manifest's dependencies, in its order. Crates that only tests
/// need may be above it.
fn dependencies(manifest: &str) -> Vec<&str> {
    let from = manifest
        .split_once("\n[dependencies]\n")
        .map_or("", |(_, rest)| rest);
    let table = from.split("\n[").next().unwrap_or_default();
    let names = table
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next());
    names
        .filter_map(|name| name.strip_prefix("rolecall-"))
        .collect()
}

/// The name of a crate in a folder.
fn name_of(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

fn manifest_of(folder: &str) -> String {
    let path = harness().join(folder).join("Cargo.toml");
    std::fs::read_to_string(path).expect("a manifest")
}

/// Dependencies that are above the crate that uses them, or next to it.
fn upwards(crates: &[&str], manifest_of: impl Fn(&str) -> String) -> Vec<String> {
    let mut wrong = Vec::new();
    for (place, name) in crates.iter().enumerate() {
        let manifest = manifest_of(name);
        for used in dependencies(&manifest) {
            if !crates[..place].iter().any(|below| name_of(below) == used) {
                wrong.push(format!("{name} uses {used}, which is above it"));
            }
        }
    }
    wrong
}

#[test]
fn crates_use_only_those_below_them() {
    assert_eq!(upwards(&CRATES, manifest_of), [""; 0]);
}

/// Somebody new has to see the whole at once: few crates, few floors, few dependencies between them.
#[test]
fn the_crates_are_few() {
    let crates: Vec<&str> = CRATES
        .into_iter()
        .filter(|folder| !folder.starts_with("tools/"))
        .collect();
    assert!(crates.len() <= 15, "{} crates", crates.len());
    let mut floors: BTreeMap<&str, usize> = BTreeMap::new();
    let mut uses = 0;
    for folder in crates {
        let manifest = manifest_of(folder);
        let below = dependencies(&manifest);
        uses += below.len();
        let floor = below.iter().map(|name| floors[name] + 1).max();
        floors.insert(name_of(folder), floor.unwrap_or(0));
    }
    let highest = floors.values().max().map_or(0, |floor| floor + 1);
    assert!(highest <= 9, "{highest} floors");
    assert!(uses > floors.len(), "{uses} dependencies were found");
    assert!(uses <= 75, "{uses} dependencies");
}

#[test]
fn a_crate_that_uses_one_above_it_is_reported() {
    let manifest_of = |name: &str| match name {
        "core" => "[package]\n\n[dependencies]\nrolecall-cli.workspace = true\n".to_owned(),
        _ => "[package]\n\n[dependencies]\nrolecall-core = { workspace = true }\n\n\
              [dev-dependencies]\nrolecall-suite.workspace = true\n"
            .to_owned(),
    };
    assert_eq!(
        upwards(&["core", "cli", "suite"], manifest_of),
        ["core uses cli, which is above it"]
    );
}

/// The packages in a lock file, with the names of those they need, including those that only their
/// tests need.
fn needed(lock: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut packages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let name = package.lines().find_map(|line| {
            let name = line.strip_prefix("name = \"")?;
            name.strip_suffix('"')
        });
        // A dependency is `name`, or `name version` where there are several.
        let needs = package.lines().filter_map(|line| {
            let text = line.strip_prefix(" \"")?;
            text.split(['"', ' ']).next()
        });
        if let Some(name) = name {
            packages.entry(name).or_default().extend(needs);
        }
    }
    packages
}

/// Whether a manifest has a dependency that nobody needs who does not ask for it.
fn is_optional(manifest: &str, dependency: &str) -> bool {
    manifest.lines().any(|line| {
        line.split([' ', '.', '=']).next() == Some(dependency) && line.contains("optional = true")
    })
}

#[test]
fn a_program_that_renders_behind_a_front_compiles_little() {
    let lock = std::fs::read_to_string(harness().join("../Cargo.lock")).expect("a lock file");
    let mut packages = needed(&lock);
    // A lock file does not say what is optional, the manifests of the harness do.
    for (name, needs) in &mut packages {
        let Some(name) = name.strip_prefix("rolecall-") else {
            continue;
        };
        let folder = CRATES.iter().find(|folder| name_of(folder) == name);
        let manifest = manifest_of(folder.expect("a crate of the harness"));
        needs.retain(|needed| !is_optional(&manifest, needed));
    }
    let all_of = |name: &'static str| {
        let mut found = BTreeSet::from([name]);
        let mut left = vec![name];
        while let Some(name) = left.pop() {
            for needed in packages.get(name).into_iter().flatten() {
                if found.insert(*needed) {
                    left.push(needed);
                }
            }
        }
        found
    };
    let heavy = [
        "clap",
        "indicatif",
        "schemars",
        "tokenizers",
        "toml",
        "ureq",
    ];
    let front = all_of("rolecall-front");
    assert!(front.contains("minijinja") && front.contains("rolecall-core"));
    for name in heavy {
        assert!(!front.contains(name), "rolecall-front needs {name}");
        // The question is asked rightly: the packages that the whole command needs have them.
        assert!(packages.contains_key(name), "{name}");
    }
}

/// How many tables with settings a table has, and is.
fn settings(table: &Table) -> usize {
    let below = table.values().filter_map(Value::as_table).map(settings);
    below.sum::<usize>() + usize::from(!table.values().all(Value::is_table))
}

#[test]
fn the_workspace_is_soon_read_and_built() {
    let text = std::fs::read_to_string(harness().join("../Cargo.toml")).expect("a manifest");
    assert!(
        text.lines().count() <= 170,
        "{} lines",
        text.lines().count()
    );
    let manifest: Table = text.parse().expect("a table");
    let profiles = settings(manifest["profile"].as_table().expect("profiles"));
    assert!(
        (1..=23).contains(&profiles),
        "{profiles} tables of profiles"
    );
    // `cargo run` builds its program with the default features of all default members.
    let members = manifest["workspace"]["default-members"].as_array();
    let members = members.expect("members").iter().filter_map(Value::as_str);
    let folders: Vec<&str> = members
        .filter_map(|member| member.strip_prefix("harness/"))
        .collect();
    assert!(folders.len() > 5, "{folders:?}");
    for folder in folders {
        assert!(!manifest_of(folder).contains("\ndefault = "), "{folder}");
    }
}
