//! A small, complete part of the suite in a folder of its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rolecall_answers::{reader::OwnReader, reading::MessageReading};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::transcript;
use rolecall_core::{Outcome, Stage, Template, TemplateName};
use rolecall_front::engines::Engines;
use rolecall_suite::accepting::{Changes, ReferenceTranscripts};
use rolecall_suite::checked_text::CheckedText;
use rolecall_suite::divergence;
use rolecall_suite::layout::Layout;
use rolecall_suite::record::{Asked, Record, RecordedAnswer, RecordedReading};
use rolecall_suite::records::{AskedTemplates, Records};
use rolecall_suite::roundtrip::read_each;
use rolecall_suite::run::Runner;
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::{Pair, Suite};
use serde_json::{Value, json};

use crate::project::LAYOUT;

/// A template of each dialect.
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

static ENGINES: LazyLock<Engines> = LazyLock::new(Engines::default);

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
    std::fs::create_dir_all(to.snapshots()).unwrap();
    for template in &suite.templates {
        copy(Snapshots::of(from).card(&template.name));
    }
    accept(from, &to, &suite);
}

/// What is accepted and recorded of the sample's cases.
fn accept(from: &Layout, to: &Layout, suite: &Suite) {
    let from_snapshots = Snapshots::of(from);
    let known = Records::read(from, &from_snapshots, &suite.templates);
    let mut records: HashMap<&TemplateName, Record> = HashMap::new();
    let mut changes = Changes::default();
    for pair in suite.pairs() {
        let file = from_snapshots.family_of(&pair);
        let accepted = file.transcript(&pair).unwrap().to_owned();
        changes.transcripts.insert(pair.key(), accepted);
        let (template, case) = pair.key();
        let recorded = &known.of(template).unwrap().cases[case];
        let record = records
            .entry(template)
            .or_insert_with(|| Record::new(pair.template));
        record.cases.insert(case.clone(), recorded.clone());
    }
    for (template, readings) in roundtrip(suite) {
        let recorded = readings.iter();
        let recorded = recorded.map(|one| (one.id.clone(), RecordedReading::of(one)));
        let record = records.get_mut(&template.name).unwrap();
        record.readings.extend(recorded);
        let checked = CheckedText::of_readings(&Snapshots::of(to), suite, template, &readings);
        changes.add_readings(suite, template, &checked);
    }
    let now = diverge(to, suite, &mut records);
    let divergences = divergence::read(&to.divergences()).unwrap();
    changes.references = Some(ReferenceTranscripts {
        divergences: &divergences,
        now: now
            .iter()
            .map(|(pair, text)| (pair.key(), text.clone()))
            .collect(),
    });
    changes.records = records
        .iter()
        .map(|(name, record)| (*name, record))
        .collect();
    let snapshots = Snapshots::of(to);
    let (files, problems) = changes.files(suite, &snapshots, CASES.map(|(family, _)| family));
    assert_eq!(problems, []);
    for file in files {
        file.write(&snapshots).unwrap();
    }
    let mut asked = AskedTemplates::default();
    for template in &suite.templates {
        asked.set(&template.name, Asked::of(template));
    }
    asked.write(&snapshots).unwrap();
}

/// The parsed answers of the sample.
fn roundtrip(suite: &Suite) -> Vec<(&Template, Vec<MessageReading>)> {
    let templates: Vec<_> = suite.templates.iter().collect();
    let engine = |template: &Template| ENGINES.for_dialect(template.dialect);
    let readings = read_each(suite, &templates, &engine, &OwnReader::default());
    assert!(readings.iter().any(|(_, readings)| !readings.is_empty()));
    readings
}

/// The engines agree with the references everywhere. To have something to list, the sample pretends
/// that a reference gave other results: once by name, once by glob.
fn diverge<'s>(
    to: &Layout,
    suite: &'s Suite,
    records: &mut HashMap<&TemplateName, Record>,
) -> Vec<(Pair<'s>, String)> {
    let runner = Runner::new(&ENGINES, &[], Some(1)).unwrap();
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
    assert_eq!(run.len(), other.len());
    let mut list = Vec::new();
    let mut now = Vec::new();
    for (index, (rendered, other)) in run.iter().zip(&other).enumerate() {
        let pair = &rendered.pair;
        let record = records.get_mut(&pair.template.name).unwrap();
        let entry = record.cases.get_mut(&pair.case.id).unwrap();
        entry.answer = RecordedAnswer::of(other).unwrap();
        now.push((*pair, transcript::encode(other)));
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
    now
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn put(path: &Path, value: &Value) {
    std::fs::write(path, serde_json::to_string_pretty(value).unwrap() + "\n").unwrap();
}
