//! The form of results: narrow screens, and output for programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rolecall_cli::schemas;
use serde_json::Value;

use crate::extent::sample;
use crate::folder::{Folder, Ran};

/// The command in a folder, on a screen with a number of columns.
fn on_screen(folder: &Folder, columns: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
        .args(arguments)
        .current_dir(folder.path("."))
        .env("COLUMNS", columns)
        .output()
        .unwrap()
}

/// A suite with much to report: long names, long lines, words of all lengths.
fn wordy() -> Folder {
    let folder = Folder::new();
    let long = "word ".repeat(60);
    folder.write(
        "cases/templates/a-template-with-a-name-of-some-length.jinja",
        &format!("{long}{{{{ messages[0].content }}}} {long}\n"),
    );
    folder.write(
        "cases/templates/a-template-with-a-name-of-some-length.json",
        r#"{"about": "A template with so long an explanation that it does not fit into one line of any terminal."}"#,
    );
    folder.write(
        "cases/templates/port.gotmpl",
        &format!("{long}{{{{ range .Messages }}}}{{{{ .Content }}}}{{{{ end }}}} {long}!\n"),
    );
    folder.accept_all();
    let changed = format!("{long}{{{{ messages[0].content }}}}! {long}\n");
    folder.write(
        "cases/templates/a-template-with-a-name-of-some-length.jinja",
        &changed,
    );
    folder.write("elsewhere/torn.jinja", "{% if x %}\n  {{ y }");
    folder
}

/// Texts that have to stay on one line: a path, a name, a hash, or a prompt.
fn is_unbreakable(line: &str) -> bool {
    line.split_whitespace().count() <= 1
}

/// Every third command is tried, or all if the tests try everything.
#[test]
fn no_line_is_wider_than_the_screen_and_no_word_is_broken() {
    let folder = wordy();
    let name = "a-template-with-a-name-of-some-length";
    let all = [
        &["run"][..],
        &["run", "--pairs"],
        &["run", "--templates", "elsewhere/torn.jinja"],
        &[
            "run",
            "--templates",
            "elsewhere/torn.jinja",
            "--against",
            "rolecall-jinja",
        ],
        &["check"],
        &["check", name],
        &["check", "cases/templates/chat.jinja"],
        &["check", "elsewhere/torn.jinja"],
        &["list", "templates"],
        &["list", "cases"],
        &["list", "engines"],
        &["list", "fronts"],
        &["list", "divergences"],
        &["explain", "text-part-is-text", "refusal-words"],
        &["diff", name, "port"],
        &["lint"],
        &["cover"],
        &["mask", name],
        &["mask", name, "plain/user"],
        &["mutate", "--tries", "50"],
        &["generate", "--tries", "300"],
        &["show", name, "plain/user", "--diff"],
        &["show", name, "plain/usr"],
        &["run", "--engine", "rolecal-jinja"],
    ];
    for arguments in sample(all.to_vec(), 3) {
        let wide = on_screen(&folder, "4000", arguments);
        let said = |output: &Output| {
            let ran = Ran(output.clone());
            ran.stdout() + &ran.stderr()
        };
        let whole = said(&wide);
        for columns in sample(vec![60, 80], 2) {
            let text = said(&on_screen(&folder, &columns.to_string(), arguments));
            assert!(!text.is_empty(), "{arguments:?}");
            for line in text.lines() {
                assert!(
                    line.chars().count() <= columns || is_unbreakable(line),
                    "{arguments:?} at {columns}: {line}"
                );
            }
            // Every word is also there on a wide screen. Times differ, and windows cut prompts.
            for word in text.split_whitespace() {
                let is_exempt =
                    word.contains(['…', '\\']) || word.contains(|c: char| c.is_ascii_digit());
                assert!(
                    is_exempt || whole.contains(word),
                    "{arguments:?} at {columns}: {word:?} in\n{text}"
                );
            }
        }
    }
}

/// The errors of a value by a schema, as far as the project's schemas need them.
fn wrong(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = root.pointer(name.trim_start_matches('#')).unwrap();
        return wrong(root, schema, value, at, found);
    }
    for many in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[many].as_array() {
            let fits = |choice: &Value| {
                let mut found = Vec::new();
                wrong(root, choice, value, at, &mut found);
                // The other keys are next to the choices.
                found.retain(|what| !what.ends_with("is not in the schema"));
                found.is_empty()
            };
            if !choices.iter().any(fits) {
                found.push(format!("{at}: none of {many}: {value}"));
            }
        }
    }
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let has = |kind: &Value| kind == name;
    let kind = &schema["type"];
    if !(kind.is_null() || has(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(has)))
    {
        found.push(format!("{at}: {name}, not {kind}"));
    }
    if schema.get("const").is_some_and(|only| only != value)
        || schema["enum"]
            .as_array()
            .is_some_and(|known| !known.contains(value))
    {
        found.push(format!("{at}: {value} is not allowed"));
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        if value.get(required.as_str().unwrap()).is_none() {
            found.push(format!("{at}: no {required}"));
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        wrong(
            root,
            &schema["items"],
            item,
            &format!("{at}/{index}"),
            found,
        );
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let known = [&schema["properties"][key], &schema["additionalProperties"]];
        if let Some(schema) = known.into_iter().find(|schema| schema.is_object()) {
            wrong(root, schema, inner, &format!("{at}/{key}"), found);
        } else if schema.get("properties").is_some() && schema.get("oneOf").is_none() {
            found.push(format!("{at}: {key} is not in the schema"));
        }
    }
}

fn published(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("harness")
        .join(path)
}

/// Fails if a document is not as its published schema says.
pub(crate) fn holds(name: &str, value: &Value) {
    let schema = std::fs::read_to_string(published(&format!("schema/{name}"))).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut found = Vec::new();
    wrong(&schema, &schema, value, "", &mut found);
    assert!(found.is_empty(), "{name}: {found:#?}");
    // The check itself can fail.
    wrong(
        &schema,
        &schema,
        &serde_json::json!({"rolecall": "x"}),
        "",
        &mut found,
    );
    assert!(!found.is_empty());
}

/// The document that a command writes.
fn document(folder: &Folder, arguments: &[&str]) -> Value {
    serde_json::from_slice(&folder.rolecall(arguments).0.stdout).unwrap()
}

#[test]
fn what_templates_do_is_reported_as_the_published_schemas_say() {
    let folder = Folder::new();
    let turns = "{% for m in messages %}<{{ m.role[0] }}>{{ m.content }}{% endfor %}\
                 {{ '<a>' if add_generation_prompt }}";
    folder.write("turns.jinja", turns);
    let document = |arguments: &[&str]| document(&folder, arguments);
    let coverage = document(&["cover", "turns.jinja", "--format", "json"]);
    assert!(
        coverage["templates"][0]["sites"][0].is_object(),
        "{coverage}"
    );
    holds("coverage.schema.json", &coverage);
    let trace = document(&[
        "show",
        "turns.jinja",
        "plain/user",
        "--trace",
        "--format",
        "json",
    ]);
    assert!(trace["spans"][0]["template"].is_object(), "{trace}");
    holds("trace.schema.json", &trace);
    let generated = document(&[
        "generate",
        "turns.jinja",
        "--tries",
        "500",
        "--format",
        "json",
    ]);
    assert_eq!(generated["templates"][0]["template"], "turns");
    holds("generate.schema.json", &generated);
    let mutants = document(&["mutate", "turns.jinja", "--format", "json"]);
    assert!(
        mutants["templates"][0]["mutants"][0].is_object(),
        "{mutants}"
    );
    holds("mutation.schema.json", &mutants);
    let answers = r#"{"about": "Answers.", "cases": {"one": {"about": "One.", "messages": [
        {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}}}"#;
    folder.write("answers.json", answers);
    let masks = document(&[
        "mask",
        "turns.jinja",
        "--cases",
        "answers.json",
        "--format",
        "json",
    ]);
    assert!(masks["masks"][0]["turns"][0].is_object(), "{masks}");
    holds("mask.schema.json", &masks);
}

#[test]
fn json_results_are_as_their_published_schemas_say() {
    for (path, text) in schemas::files() {
        if std::env::var_os("ROLECALL_ACCEPT").is_some() {
            std::fs::write(published(&path), &text).unwrap();
        }
        let found = std::fs::read_to_string(published(&path)).unwrap_or_default();
        assert_eq!(found, text, "{path}: set ROLECALL_ACCEPT to write it");
    }
    let folder = Folder::new();
    folder.write("bad.jinja", "{{ y }");
    folder.write("snapshots/divergences.json", "[]");
    let document = |arguments: &[&str]| document(&folder, arguments);
    for what in ["templates", "cases", "engines", "fronts", "divergences"] {
        let list = document(&["list", what, "--format", "json"]);
        assert_eq!(list["rolecall"], 1);
        assert!(list[what].is_array(), "{list}");
        holds("list.schema.json", &list);
    }
    let chat = "cases/templates/chat.jinja";
    let cards = document(&["check", chat, "bad.jinja", "--format", "json"]);
    assert_eq!(
        (&cards["rolecall"], &cards["cards"][1]["template"]),
        (&1.into(), &"chat".into())
    );
    assert_eq!(cards["cards"][0]["syntax_error"]["line"], 1);
    holds("cards.schema.json", &cards);
    folder.write(
        "response.json",
        r#"{"start_anchor": "<a>", "fields": {"content": {"close": "!"}}}"#,
    );
    let turns = "{% for m in messages %}<{{ m.role[0] }}>{{ m.content }}{% endfor %}\
                 {{ '<a>' if add_generation_prompt }}";
    folder.write("turns.jinja", turns);
    let proofs = document(&[
        "lint",
        "response.json",
        "--templates",
        "turns.jinja",
        "--format",
        "json",
    ]);
    assert!(proofs["proofs"][0]["findings"][0].is_object(), "{proofs}");
    holds("proof.schema.json", &proofs);
    let served = document(&["check", chat, "--served", "--format", "json"]);
    holds("cards.schema.json", &served);
    let cards = document(&["check", "turns.jinja", "--format", "json"]);
    holds("cards.schema.json", &cards);
    folder.write("log.jsonl", r#"[{"role": "user", "content": ""}]"#);
    let judged = document(&["check", "turns.jinja", "log.jsonl", "--format", "json"]);
    let log = &judged["conversations"][0]["log"];
    assert_eq!(log["causes"][0]["rule"], "texts-not-empty");
    assert!(log["unjudged"]["calls-fit-tools"].is_string(), "{log}");
    holds("cards.schema.json", &judged);
    folder.write("other.jinja", "{{ messages[0].content }}!{{ y }");
    folder.write("worse.jinja", "{{ messages[0].content }}{{ y.z }}!");
    for others in [[chat, "worse.jinja"], ["bad.jinja", "other.jinja"]] {
        let arguments = [&["diff"], &others[..], &["--format", "json"]].concat();
        let diff = document(&arguments);
        assert_eq!(diff["rolecall"], 1);
        holds("diff.schema.json", &diff);
    }
    let response = r#"{"start_anchor": "a", "fields": {
        "content": {"close_pattern": "<e>\\s*|$"}, "other": {"open": "b", "close_pattern": "(?:a|aa)+c"}}}"#;
    folder.write("response.json", response);
    let lint = document(&["lint", "response.json", "--format", "json"]);
    let found = lint["response_templates"][0]["findings"]
        .as_array()
        .unwrap();
    assert_eq!((found.len(), &found[0]["line"]), (3, &2.into()), "{lint}");
    holds("lint.schema.json", &lint);
    for arguments in [
        &["render"][..],
        &["run"],
        &["run", "--against", "rolecall-jinja"],
    ] {
        let ran = folder.rolecall(&[arguments, &["--format", "jsonl"]].concat());
        let lines = ran.json_lines();
        assert_eq!(lines.len(), 4);
        for line in &lines {
            holds("outcome.schema.json", line);
        }
    }
}
