//! A small, complete part of the suite in a folder of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rolecall::engines::Engines;
use rolecall::fingerprint::Fingerprint;
use rolecall::layout::Layout;
use rolecall::read_back::ReadBackRecord;
use rolecall::readback::{self, reader::OwnReader};
use rolecall::readings::read_each;
use rolecall::record::{Record, RecordedAnswer, Records};
use rolecall::run::Runner;
use rolecall::snapshot::{self, Snapshots};
use rolecall::suite::{Pair, Suite};
use rolecall::transcript;
use rolecall::wildcard::Wildcard;
use rolecall_model::{Outcome, Stage, Template};
use serde_json::{Value, json};

use crate::project::LAYOUT;

/// Twins of both dialects.
const TEMPLATES: [&str; 2] = ["phi3.jinja", "phi3-go.gotmpl"];

/// A case for every outcome, and for every key that a case may have.
const CASES: [(&str, &[&str]); 8] = [
    ("plain", &["single-turn"]),
    ("bad-roles", &["capital-user"]),
    ("clock", &["leap-day"]),
    ("content-types", &["null-user"]),
    ("documents", &["with-tools"]),
    // Several sections in a file.
    ("generation-prompt", &["off", "off-after-answer", "prefill"]),
    ("go-content", &["image-part"]),
    ("unicode", &["separator-controls"]),
];

/// Writes the sample below a folder.
pub(crate) fn write(root: &Path) {
    let (from, to) = (&*LAYOUT, Layout::new(root));
    let copy = |path: PathBuf| {
        let below = path.strip_prefix(from.root()).unwrap().to_path_buf();
        let into = root.join(below);
        std::fs::create_dir_all(into.parent().unwrap()).unwrap();
        std::fs::copy(&path, into).unwrap();
    };
    for name in TEMPLATES {
        let path = from.templates().join(name);
        copy(path.clone());
        copy(path.with_extension("json"));
    }
    for entry in std::fs::read_dir(from.cases().join("schema")).unwrap() {
        copy(entry.unwrap().path());
    }
    // A variable for the sidecar that has none: the template does not read it.
    let sidecar = to.templates().join("phi3.json");
    let mut value = read(&sidecar);
    value["variables"] = json!({"functions": {"$json": "tools", "indent": 4}, "year": 2026.50});
    put(&sidecar, &value);

    std::fs::create_dir_all(to.conversations()).unwrap();
    for (family, names) in CASES {
        let file = format!("{family}.json");
        let mut value = read(&from.conversations().join(&file));
        let cases = value["cases"].as_object_mut().unwrap();
        cases.retain(|name, _| names.contains(&name.as_str()));
        assert_eq!(cases.len(), names.len(), "{family}");
        for case in cases.values() {
            for tool in case["tools"].as_array().into_iter().flatten() {
                if let Some(name) = tool.as_str() {
                    copy(from.tools().join(format!("{name}.json")));
                }
            }
        }
        put(&to.conversations().join(&file), &value);
    }

    let suite = Suite::load_layout(&to);
    assert_eq!(suite.problems, []);
    for template in &suite.templates {
        copy(Snapshots::of(from).card(&template.name));
        let mut record = Record::read(&Records::file(&from.snapshots(), &template.name)).unwrap();
        record.settings = Fingerprint::of_settings(template);
        let cases: BTreeSet<_> = suite
            .pairs()
            .filter(|pair| pair.template.name == template.name)
            .map(|pair| &pair.case.id)
            .collect();
        record.cases.retain(|id, _| cases.contains(id));
        record
            .write(&Records::file(&to.snapshots(), &template.name))
            .unwrap();
    }
    accept(from, &to, &suite);
    read_back(&to, &suite);
    explanations(from, &to, &suite);
    diverge(&to, &suite);
}

/// The sections of the sample's cases.
fn accept(from: &Layout, to: &Layout, suite: &Suite) {
    let (from, to) = (Snapshots::of(from), Snapshots::of(to));
    for template in &suite.templates {
        for (family, _) in CASES {
            let accepted = from.accepted(&template.name, family);
            let sections: Vec<_> = suite
                .pairs_of(template, family)
                .map(|pair| {
                    let name = pair.case.id.name();
                    (name, accepted.transcript(name).unwrap())
                })
                .collect();
            if !sections.is_empty() {
                let path = to.file(&template.name, family);
                std::fs::write(path, snapshot::file(family, sections)).unwrap();
            }
        }
    }
}

/// What is read back of the sample's answers.
fn read_back(to: &Layout, suite: &Suite) {
    let engines = Engines::default();
    let templates: Vec<_> = suite.templates.iter().collect();
    let engine = |template: &Template| engines.for_dialect(template.dialect);
    let readings = read_each(suite, &templates, &engine, &OwnReader::default());
    assert!(readings.iter().any(|(_, readings)| !readings.is_empty()));
    for (template, readings) in &readings {
        let record = ReadBackRecord::new(template, readings);
        record.write(to, &template.name).unwrap();
        let text = snapshot::text_file(template, &readback::transcript::of(readings));
        std::fs::write(Snapshots::of(to).readings(&template.name), text).unwrap();
    }
}

/// The explanations for the sample's twins.
fn explanations(from: &Layout, to: &Layout, suite: &Suite) {
    let families: BTreeSet<_> = suite
        .templates
        .iter()
        .filter_map(|t| t.family.clone())
        .collect();
    let mut list = read(&from.parity());
    let entries = list.as_array_mut().unwrap();
    entries.retain(|entry| families.contains(entry["family"].as_str().unwrap()));
    for entry in entries.iter_mut() {
        entry["cases"].as_array_mut().unwrap().retain(|glob| {
            let glob = Wildcard::new(glob.as_str().unwrap()).unwrap();
            suite
                .cases
                .iter()
                .any(|case| glob.is_match(&case.id.to_string()))
        });
    }
    entries.retain(|entry| entry["cases"] != json!([]));
    assert!(!entries.is_empty());
    put(&to.parity(), &list);
}

/// The engines agree with the references everywhere. To have something to list, the sample pretends
/// that a reference gave other results: once by name, once by glob.
fn diverge(to: &Layout, suite: &Suite) {
    let snapshots = Snapshots::of(to);
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[], Some(1)).unwrap();
    let other = [
        Outcome::Rendered {
            text: "Something else.\n".to_owned(),
        },
        Outcome::Failed {
            stage: Stage::Render,
            message: "No.".to_owned(),
            line: Some(3),
        },
    ];
    let pairs: Vec<Pair<'_>> = suite
        .pairs()
        .filter(|pair| pair.case.id.to_string() == "plain/single-turn")
        .collect();
    let run = runner.render(&pairs);
    assert_eq!(run.results.len(), other.len());
    let mut list = Vec::new();
    for (index, (rendered, other)) in run.results.iter().zip(&other).enumerate() {
        let pair = &rendered.pair;
        let path = Records::file(&to.snapshots(), &pair.template.name);
        let mut record = Record::read(&path).unwrap();
        record.cases.get_mut(&pair.case.id).unwrap().answer = RecordedAnswer::of(other).unwrap();
        record.write(&path).unwrap();
        let kept = transcript::encode(other);
        let kept = snapshot::reference_file(pair.template, [(pair.case.id.name(), kept.as_str())]);
        let path = snapshots.reference_file(&pair.template.name, pair.case.id.family());
        std::fs::write(path, kept).unwrap();
        let observed = Fingerprint::of(transcript::encode(&rendered.outcome)).to_string();
        let (name, id) = (pair.template.name.as_str(), pair.case.id.to_string());
        list.push(if index == 0 {
            json!({"engine": rendered.engine, "template": name, "case": id, "reason": "A sample.",
                "issue": "https://example.org/1", "observed": observed})
        } else {
            json!({"engine": rendered.engine, "template": "*-go", "case": "plain/*",
                "reason": "A sample.", "observed": {(format!("{name}:{id}")): observed}})
        });
    }
    put(&to.divergences(), &Value::from(list));
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn put(path: &Path, value: &Value) {
    std::fs::write(path, serde_json::to_string_pretty(value).unwrap() + "\n").unwrap();
}
