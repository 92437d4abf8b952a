//! Go's template language as Ollama uses it: the table is recorded from Go's own
//! text/template by `scripts/record-go-language.py`.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use regex::Regex;
use rolecall_core::guard::load;
use rolecall_core::{Case, Conversation, Dialect, Outcome, Template};
use rolecall_go::GoEngine;
use serde_json::Value;

/// Where the engine differs and will go on to, each with the reason. A row that agrees has to
/// be taken out.
const KNOWN: &[(&str, &str)] = &[(
    "{{ 1i }}{{ len .Messages }}",
    "gotmpl's parser knows no complex numbers",
)];

fn table() -> Value {
    serde_json::from_str(include_str!("../../../cases/constructs/go.json"))
        .expect("the table is JSON")
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().expect("a list")
}

#[test]
fn every_construct_is_as_in_go() {
    let table = table();
    let mut case = Case::from_messages(list(&table["case"]["messages"]));
    case.tools = Some(list(&table["case"]["tools"]));
    case.variables = table["case"]["variables"]
        .as_object()
        .cloned()
        .expect("an object");
    case.now = "2024-03-01T00:00:00Z".parse().expect("a moment");
    let conversation = Conversation::new(&case);
    let engine = GoEngine::new();
    let rows = list(&table["rows"]);
    let mut wrong = Vec::new();
    for row in &rows {
        let source = row["template"].as_str().expect("a template");
        let template = Template::from_source("t", Dialect::Go, source);
        let found = load(&engine, &template).render(&conversation);
        let agrees = match &found {
            Outcome::Rendered { text } => row["text"] == **text,
            Outcome::Failed { stage, line, .. } => {
                // Go names a line almost always.
                let expected = row["line"].as_u64();
                let found = line.and_then(|line| u64::try_from(line).ok());
                row["stage"] == stage.name() && (expected.is_none() || expected == found)
            }
            _ => false,
        };
        let agrees = agrees && row["outcome"] == found.kind().name();
        let is_known = KNOWN.iter().any(|(known, _)| *known == source);
        match (agrees, is_known) {
            (false, false) => wrong.push(format!("{row}\n  found {found:?}")),
            (true, true) => wrong.push(format!("{row}\n  agrees now: take it out of the list")),
            _ => {}
        }
    }
    for (known, _) in KNOWN {
        if !rows.iter().any(|row| row["template"] == *known) {
            wrong.push(format!("{known:?}\n  is not in the table"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The functions that no template of the rows calls so that something comes of it.
fn uncalled(functions: &[String], rows: &[Value]) -> Vec<String> {
    let action = Regex::new(r"\{\{.*?\}\}").unwrap();
    let string = Regex::new(r#""(\\.|[^"\\])*"|`[^`]*`"#).unwrap();
    // A name after a dot or a dollar sign is no function's.
    let word = Regex::new(r"[.$]?[A-Za-z_]\w*").unwrap();
    let mut uncalled = functions.to_vec();
    for row in rows {
        let is_refused = row["outcome"] != "rendered";
        let source = string.replace_all(row["template"].as_str().unwrap(), "");
        for action in action.find_iter(&source) {
            for word in word.find_iter(action.as_str()) {
                // No value that Ollama gives is a function, so `call` always fails.
                if !is_refused || word.as_str() == "call" {
                    uncalled.retain(|name| name != word.as_str());
                }
            }
        }
    }
    uncalled
}

fn functions() -> Vec<String> {
    serde_json::from_value(table()["functions"].clone()).unwrap()
}

#[test]
fn every_function_is_called_by_a_row() {
    let uncalled = uncalled(&functions(), &list(&table()["rows"]));
    assert!(uncalled.is_empty(), "no row calls: {}", uncalled.join(", "));
}

/// A function is called where a row calls it, and only there.
#[test]
fn what_only_looks_like_a_call_is_none() {
    for (template, outcome, expected) in [
        ("len {{ .len }}{{ $len }}{{ \"len\" }}", "rendered", &[][..]),
        ("{{ len }}", "failed", &[]),
        ("{{ print (len `x`) }}", "rendered", &["len", "print"]),
        ("{{ call }}", "failed", &["call"]),
    ] {
        let row = serde_json::json!({"template": template, "outcome": outcome});
        let uncalled = uncalled(&functions(), &[row]);
        let mut called = functions();
        called.retain(|name| !uncalled.contains(name));
        assert_eq!(called, expected, "{template}");
    }
}
