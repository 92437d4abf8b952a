//! Hostile templates: each ends within its time and memory limits, with the expected outcome.
//!
//! Each file of `data/hostile/<expected>/` is a template of either dialect. `<expected>` is the
//! outcome with a small conversation: the exceeded limit (`fuel`, `output`, `recursion`), or
//! `failed` or `rendered`. With an empty conversation a template may stop earlier (Ollama refuses
//! it before it runs a template), so there every outcome but a crash is right. The limits of time
//! and memory hold for both.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rolecall_core::guard::load;
use rolecall_core::{Case, Dialect, Limits, Template};
use rolecall_front::engines::Engines;
use rolecall_suite::layout::Layout;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::{Pair, Suite};
use serde_json::json;

use crate::extent::sample;
use crate::measure;
use crate::meter::{Taken, alone};

/// The most memory for a run, however many hostile templates it has.
const LARGEST_RUN: usize = 512 << 20;

/// How many pairs of each template the run has: enough to show memory that adds up.
const PAIRS_OF_EACH: usize = 14;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/tests/data/hostile")
}

/// Every template with its folder.
fn templates() -> Vec<(String, Template)> {
    let mut files: Vec<PathBuf> = Vec::new();
    for expected in std::fs::read_dir(folder()).unwrap() {
        let expected = expected.unwrap().path();
        files.extend(
            std::fs::read_dir(expected)
                .unwrap()
                .map(|file| file.unwrap().path()),
        );
    }
    files.sort();
    let mut templates = Vec::new();
    for path in files {
        let expected = path.parent().unwrap().file_name().unwrap();
        let dialect = rolecall_io::template_file::dialect_of(&path)
            .unwrap_or_else(|| panic!("{} is no template", path.display()));
        let name = path.strip_prefix(folder()).unwrap().display().to_string();
        let source = std::fs::read_to_string(&path).unwrap();
        templates.push((
            expected.to_str().unwrap().to_owned(),
            Template::from_source(&name, dialect, &source),
        ));
    }
    for dialect in [Dialect::Jinja, Dialect::Go] {
        assert!(templates.iter().any(|(_, t)| t.dialect == dialect));
    }
    templates
}

/// A little of everything: each role, a tool, a call and its result.
fn small() -> Case {
    let function = json!({
        "name": "weather",
        "description": "Tells the weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": ["string", "null"], "enum": ["Oslo", "Rome"]}},
            "required": ["city"],
        },
    });
    let call = json!({"name": "weather", "arguments": {"city": "Oslo"}});
    Case {
        tools: Some(vec![json!({"type": "function", "function": function})]),
        ..Case::from_messages(vec![
            json!({"role": "system", "content": "Be brief."}),
            json!({"role": "user", "content": "Is it <b>cold</b> in Oslo?"}),
            json!({
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "call_0001", "type": "function", "function": call}],
            }),
            json!({"role": "tool", "tool_call_id": "call_0001", "content": "3 °C"}),
            json!({"role": "user", "content": "hello"}),
        ])
    }
}

#[test]
fn a_hostile_template_ends_in_time_and_in_memory() {
    let _alone = alone();
    let engines = Engines::default();
    let (empty, small) = (Case::from_messages(vec![]), small());
    let mut wrong = Vec::new();
    let mut most = Taken::default();
    for (expected, template) in sample(templates(), 50) {
        let engine = engines.for_dialect(template.dialect);
        for (conversation, case) in [("empty", &empty), ("small", &small)] {
            let (outcome, taken, complaint) = measure::pair(engine, &template, case);
            let place = format!("{} with the {conversation} conversation", template.name);
            if conversation == "small" && outcome != expected || outcome == "crashed" {
                wrong.push(format!("{place} gives {outcome}"));
            }
            if let Some(complaint) = complaint {
                wrong.push(format!("{place} {complaint}"));
            }
            println!(
                "{place}: {outcome}, {:?}, {} KiB",
                taken.time,
                taken.peak >> 10
            );
            most.time = most.time.max(taken.time);
            most.peak = most.peak.max(taken.peak);
        }
    }
    println!("at most {:?} and {} MiB", most.time, most.peak >> 20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A report card renders more than prompts.
#[test]
fn the_variables_of_a_hostile_template_are_found_in_time_and_in_memory() {
    let _alone = alone();
    let engines = Engines::default();
    let mut wrong = Vec::new();
    for (_, template) in sample(templates(), 50) {
        let engine = engines.for_dialect(template.dialect);
        let is_little =
            |taken: Taken| taken.time <= Duration::from_secs(2) && taken.peak <= 256 << 20;
        let find = || drop(load(engine, &template).variables());
        let taken = measure::least(find, is_little);
        if !is_little(taken) {
            wrong.push(format!("{}: {taken:?}", template.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A run keeps its templates loaded and its outcomes until it ends, and renders on several threads.
/// A twentieth of the steps is enough to show that no memory adds up.
#[test]
fn a_run_over_hostile_templates_stays_small() {
    let _alone = alone();
    let templates = sample(templates(), 50);
    let suite = Suite::load_layout(&Layout::new(env!("CARGO_MANIFEST_DIR")));
    let cases: Vec<&Case> = suite.cases.iter().take(PAIRS_OF_EACH).collect();
    let pairs: Vec<Pair<'_>> = templates
        .iter()
        .flat_map(|(_, template)| cases.iter().map(move |case| Pair { template, case }))
        .collect();
    let defaults = Limits::default();
    let engines = Engines::with_limits(&Limits {
        fuel: defaults.fuel / 20,
        work: defaults.work / 20,
        ..defaults
    });
    let runner = Runner::new(&engines, &[], Some(2)).unwrap();
    let (results, taken) = measure::measured(|| runner.render(&pairs).len());
    println!(
        "{results} pairs, {:?}, {} MiB",
        taken.time,
        taken.peak >> 20
    );
    assert_eq!(results, templates.len() * PAIRS_OF_EACH);
    assert!(
        taken.peak < LARGEST_RUN,
        "{results} pairs took {} MiB",
        taken.peak >> 20
    );
}
