//! The suite as plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::guard::load;
use rolecall_core::{Case, Conversation, Dialect, Outcome, Template, TemplateName};
use rolecall_front::engines::Engines;
use rolecall_suite::construct;
use rolecall_suite::export::{Export, Flag};
use rolecall_suite::suite::{Pair, Suite};
use serde_json::{Map, Value};

use crate::extent::{is_everything, sample};
use crate::folder::Folder;
use crate::project::{LAYOUT, SUITE};

/// The export of the part of the suite that the tests read.
fn export(suite: &Suite) -> Export {
    let pairs: Vec<Pair<'_>> = suite.pairs().filter(is_looked_at).collect();
    Export::gather(&LAYOUT, suite, &pairs).unwrap()
}

/// Whether the tests read a pair: pairs of every template, or of one in eight.
fn is_looked_at(pair: &Pair<'_>) -> bool {
    static NAMES: LazyLock<BTreeSet<TemplateName>> = LazyLock::new(|| {
        let names = SUITE.templates.iter().map(|template| template.name.clone());
        sample(names.collect(), 8).into_iter().collect()
    });
    NAMES.contains(&pair.template.name)
}

static EXPORT: LazyLock<Export> = LazyLock::new(|| export(&SUITE));

static FILES: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| EXPORT.files().collect());

static JSON: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
    let is_json = |path: &str| Path::new(path).extension().is_some_and(|end| end == "json");
    let files = FILES.iter().filter(|(path, _)| is_json(path));
    files
        .map(|(path, text)| (*path, serde_json::from_str(text).unwrap()))
        .collect()
});

fn json(path: &str) -> &'static Value {
    &JSON[path]
}

fn fields<'v>(value: &'v Value, key: &str) -> &'v Map<String, Value> {
    value[key].as_object().unwrap()
}

/// A case, made only from a file's contents.
fn case(exported: &Value) -> Case {
    let list = |key: &str| exported[key].as_array().cloned();
    Case {
        tools: list("tools"),
        documents: list("documents"),
        add_generation_prompt: exported["add_generation_prompt"].as_bool().unwrap(),
        now: exported["now"].as_str().unwrap().parse().unwrap(),
        variables: exported["variables"]
            .as_object()
            .cloned()
            .unwrap_or_default(),
        ..Case::from_messages(list("messages").unwrap())
    }
}

/// Whether an outcome agrees with the expected one, by the rule on the page.
fn agrees(expected: &Value, outcome: &Outcome) -> bool {
    let said = expected["text"]
        .as_str()
        .or_else(|| expected["message"].as_str());
    let has_words = matches!(outcome, Outcome::Rendered { .. } | Outcome::Raised { .. });
    expected["outcome"] == outcome.kind().name() && (!has_words || said == Some(outcome.text()))
}

/// A reader who knows only the files gets the recorded results.
#[test]
fn an_engine_is_judged_by_the_files_alone() {
    let cases = json("cases.json");
    let cases = fields(cases, "cases");
    let engines = Engines::default();
    let engine = engines.by_name("rolecall-jinja").unwrap();
    let mut count = 0;
    let raw = FILES
        .keys()
        .filter(|path| path.starts_with("expected/transformers/raw/"));
    let raw = sample(raw.collect(), 2);
    let templates = raw.len();
    for path in raw {
        let file = json(path);
        assert_eq!(file["otherwise"], Value::Null, "{path}");
        let source = FILES[file["source"].as_str().unwrap()];
        assert_eq!(file["source_sha256"], Fingerprint::of(source).to_string());
        let template = Template::from_source("t", Dialect::Jinja, source);
        let loaded = load(engine, &template);
        for (name, expected) in fields(file, "cases") {
            let mut case = case(&cases[name]);
            assert!(case.continue_final_message.is_none());
            let mut variables = fields(file, "variables").clone();
            variables.extend(
                expected["variables"]
                    .as_object()
                    .cloned()
                    .unwrap_or_default(),
            );
            variables.extend(std::mem::take(&mut case.variables));
            case.variables = variables;
            let outcome = loaded.render(&Conversation::new(&case));
            assert!(
                agrees(expected, &outcome),
                "{path} {name}: {expected}\n{outcome:?}"
            );
            count += 1;
        }
    }
    assert!(
        templates >= 2 && count > 500 * templates,
        "{count} pairs of {templates} templates"
    );
}

#[test]
fn every_answer_has_the_fingerprint_of_its_text() {
    let mut fronts = BTreeMap::new();
    for path in FILES.keys().filter(|path| path.starts_with("expected/")) {
        let file = json(path);
        for (name, expected) in fields(file, "cases") {
            let said = match expected["outcome"].as_str().unwrap() {
                "rendered" => &expected["text"],
                "raised" => &expected["message"],
                "failed" => {
                    assert!(expected["stage"].is_string() && expected["message"].is_string());
                    continue;
                }
                "exceeded" => continue,
                other => panic!("{path} {name}: {other}"),
            };
            let sha256 = Fingerprint::of(said.as_str().unwrap()).to_string();
            assert_eq!(expected["sha256"], sha256, "{path} {name}");
            *fronts.entry(file["front"].to_string()).or_insert(0) += 1;
        }
    }
    // One of the five is that of few templates.
    let least = if is_everything() { 5 } else { 4 };
    assert!(fronts.len() >= least, "{fronts:?}");
}

/// Nothing of the suite is missing: every pair has its answer in one of the files.
#[test]
fn every_pair_is_in_the_files() {
    assert_eq!(EXPORT.left_out, Vec::<String>::new());
    let manifest = json("manifest.json");
    for pair in SUITE.pairs().filter(is_looked_at) {
        let template = &manifest["templates"][pair.template.name.as_str()];
        let front = pair.front().name();
        let name = format!("{}/{}", pair.case.id.family(), pair.case.id.written_name());
        let of_front = |front: &str| {
            let path = template["expected"][front].as_str()?;
            let file = json(path);
            let expected = file["cases"]
                .get(&name)
                .map(|case| case["outcome"].to_string());
            Some((expected, file["otherwise"].as_str().map(str::to_owned)))
        };
        let found = of_front(front);
        let expected = match found {
            Some((Some(expected), _)) => Some(expected),
            Some((None, Some(otherwise))) => of_front(&otherwise).and_then(|(found, _)| found),
            _ => of_front("raw").and_then(|(found, _)| found),
        };
        assert!(
            expected.is_some(),
            "{} with {name} behind {front}",
            pair.template.name
        );
    }
    assert_eq!(
        fields(json("cases.json"), "cases").len(),
        SUITE.written_cases().count()
    );
}

#[test]
fn constructs_are_named_by_their_templates() {
    let file = json("constructs.json");
    let constructs = fields(file, "constructs");
    assert!(constructs.len() > 2_400, "{}", constructs.len());
    let engines = Engines::default();
    let mut differing = 0;
    for (name, construct) in sample(constructs.iter().collect(), 4) {
        let dialect = match construct["dialect"].as_str().unwrap() {
            "jinja" => Dialect::Jinja,
            _ => Dialect::Go,
        };
        let source = construct["template"].as_str().unwrap();
        assert_eq!(*name, construct::name(dialect, source));
        let template = Template::from_source("t", dialect, source);
        let case = case(&file["contexts"][dialect.name()]);
        let loaded = load(engines.for_dialect(dialect), &template);
        let outcome = loaded.render(&Conversation::new(&case));
        let is_same = construct["outcome"] == outcome.kind().name()
            && (construct["outcome"] != "rendered" || construct["text"] == outcome.text());
        differing += usize::from(!is_same);
    }
    // The tests of the engines name each of them, with the reason.
    assert!(differing < 30, "{differing} constructs differ");
}

#[test]
fn the_manifest_tells_every_file_and_every_flag() {
    let manifest = json("manifest.json");
    let listed = fields(manifest, "files");
    assert_eq!(listed.len() + 1, FILES.len());
    for (path, file) in listed {
        assert_eq!(file["bytes"], FILES[path.as_str()].len(), "{path}");
        assert_eq!(
            file["sha256"],
            Fingerprint::of(FILES[path.as_str()]).to_string(),
            "{path}"
        );
    }
    let counts = fields(manifest, "counts");
    assert_eq!(
        counts["constructs"],
        fields(json("constructs.json"), "constructs").len()
    );
    let flags = fields(manifest, "flags");
    let cases = json("cases.json");
    let is_used = |flag: &str| {
        let has = |case: &Value| {
            case["flags"]
                .as_array()
                .is_some_and(|of| of.contains(&flag.into()))
        };
        fields(cases, "cases").values().any(has)
    };
    for flag in Flag::ALL {
        assert!(
            flags.contains_key(flag.name()) && is_used(flag.name()),
            "{}",
            flag.name()
        );
    }
}

#[test]
fn the_same_suite_gives_the_same_bytes() {
    let again = export(&Suite::load_layout(&LAYOUT));
    assert!(again.files().count() > 5);
    assert!(again.files().eq(EXPORT.files()));
}

/// Who has no checkout finds the runners in the export.
#[test]
fn the_runners_come_along() {
    let folder = Folder::empty();
    let ran = folder.rolecall(&["export", "data", "qwen2.5:plain/*"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    for (name, files) in [
        (
            "python",
            ["engine.py", "test_chat_templates.py", "requirements.txt"],
        ),
        (
            "javascript",
            ["engine.js", "chat-templates.test.js", "package.json"],
        ),
        ("rust", ["engine.rs", "chat_templates.rs", "Cargo.toml"]),
    ] {
        for file in files.into_iter().chain(["expected-failures.json"]) {
            let exported = std::fs::read(folder.path(&format!("data/runners/{name}/{file}")));
            let original = LAYOUT.root().join(format!("scripts/runners/{name}/{file}"));
            assert_eq!(
                exported.unwrap(),
                std::fs::read(original).unwrap(),
                "{file}"
            );
        }
    }
    // Nothing else of it: a copy of the export can be written again.
    let ran = folder.rolecall(&["export", "data", "qwen2.5:plain/*"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
}
