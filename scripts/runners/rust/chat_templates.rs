//! The exported suite for an engine in Rust.
//!
//!     rolecall export data
//!     EXPORT=data cargo test
//!
//! expected-failures.json lists the known failures; UPDATE=1 writes it again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use chat_templates::{REFUSAL, load};
use serde_json::{Map, Value, json};

const STANDARD: [&str; 4] = ["messages", "tools", "documents", "add_generation_prompt"];

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("the file is there")).expect("it is JSON")
}

/// The engine's result for a template, in the words of the files; a panic is a failure.
fn outcome(source: &str, now: &str, variables: &Map<String, Value>) -> Value {
    let now = Arc::new(Mutex::new(now.to_owned()));
    let render = || {
        load(source, &now)?
            .get_template("chat")?
            .render(minijinja::value::Serde(variables))
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(render)) {
        Ok(Ok(text)) => json!({"outcome": "rendered", "text": text}),
        Ok(Err(error)) => match error.detail().and_then(|words| words.strip_prefix(REFUSAL)) {
            Some(message) => json!({"outcome": "raised", "message": message}),
            None => json!({"outcome": "failed"}),
        },
        Err(_) => json!({"outcome": "failed"}),
    }
}

fn agrees(expected: &Value, found: &Value) -> bool {
    if matches!(expected["outcome"].as_str(), Some("failed" | "exceeded")) {
        return found["outcome"] == "failed";
    }
    let mut found = found.as_object().into_iter().flatten();
    found.all(|(key, value)| expected[key] == *value)
}

#[test]
fn what_fails_is_known_to_fail() {
    // A panic of the engine is one more failure; do not print a hundred of them.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let data = PathBuf::from(std::env::var("EXPORT").expect("EXPORT names an export"));
    // A file that is gone would be tested less, and pass.
    let manifest = read(&data.join("manifest.json"));
    for (path, file) in manifest["files"].as_object().expect("files") {
        let size = std::fs::metadata(data.join(path)).map(|file| file.len());
        assert_eq!(size.ok(), file["bytes"].as_u64(), "{path} is not as it was exported");
    }
    let cases = read(&data.join("cases.json"));
    let mut failing: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut count = 0;
    let mut judge = |of: &str, name: &str, expected: &Value, found: &Value| {
        count += 1;
        if !agrees(expected, found) {
            failing
                .entry(of.to_owned())
                .or_default()
                .insert(name.to_owned());
        }
    };
    for entry in std::fs::read_dir(data.join("expected/transformers/raw"))
        .expect("there are Jinja templates")
    {
        let file = read(&entry.expect("the folder can be read").path());
        let source = std::fs::read_to_string(data.join(file["source"].as_str().expect("a path")))
            .expect("a template");
        for (name, expected) in file["cases"].as_object().expect("cases") {
            let case = &cases["cases"][name];
            let mut variables: Map<String, Value> = STANDARD
                .iter()
                .map(|key| ((*key).to_owned(), case[key].clone()))
                .collect();
            for more in [
                &file["variables"],
                &expected["variables"],
                &case["variables"],
            ] {
                variables.extend(more.as_object().cloned().unwrap_or_default());
            }
            let found = outcome(&source, case["now"].as_str().expect("a moment"), &variables);
            judge(
                file["template"].as_str().expect("a name"),
                name,
                expected,
                &found,
            );
        }
    }
    let constructs = read(&data.join("constructs.json"));
    let context = &constructs["contexts"]["jinja"];
    let variables: Map<String, Value> = STANDARD
        .iter()
        .map(|key| ((*key).to_owned(), context[key].clone()))
        .collect();
    for (name, construct) in constructs["constructs"].as_object().expect("constructs") {
        if construct["dialect"] == "jinja" {
            let source = construct["template"].as_str().expect("a template");
            let now = context["now"].as_str().expect("a moment");
            // minijinja finds the key `true` in a dict with the key 1 only by chance: its maps have
            // random seeds. A construct passes if it passes every time.
            let mut all = (0..4).map(|_| outcome(source, now, &variables));
            let found = all.find(|found| !agrees(construct, found));
            judge("constructs", name, construct, found.as_ref().unwrap_or(construct));
        }
    }
    std::panic::set_hook(hook);
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("expected-failures.json");
    let fail: usize = failing.values().map(BTreeSet::len).sum();
    println!("{} of {count} pass, {fail} are known to fail", count - fail);
    if std::env::var_os("UPDATE").is_some() {
        let text = serde_json::to_string_pretty(&failing).expect("it is plain data");
        std::fs::write(&known, text + "\n").expect("it can be written");
    }
    let known: BTreeMap<String, BTreeSet<String>> =
        serde_json::from_value(read(&known)).expect("a list by template");
    for of in failing.keys().chain(known.keys()) {
        let (found, known) = (
            failing.get(of).cloned().unwrap_or_default(),
            known.get(of).cloned().unwrap_or_default(),
        );
        let new: Vec<_> = found.difference(&known).collect();
        let gone: Vec<_> = known.difference(&found).collect();
        assert!(new.is_empty(), "{of}: fail, and are not known to: {new:?}");
        assert!(
            gone.is_empty(),
            "{of}: pass, and are known to fail: take them out: {gone:?}"
        );
    }
}
