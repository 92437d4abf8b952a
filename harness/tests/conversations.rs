//! Conversations from outside: the forms that are read, and what is wrong in one. Sessions in
//! `conversations` try what each command makes of a log.

use std::fmt::Write as _;
use std::path::Path;

use rolecall_suite::conversation::read;
use serde_json::Value;

/// The records of a file in `data/conversations`, each with the indented lines below it.
fn records(file: &str) -> Vec<(&str, Vec<&str>)> {
    let mut records: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in file.lines() {
        if let Some(words) = line.strip_prefix("  ") {
            records.last_mut().unwrap().1.push(words);
        } else if !line.is_empty() && !line.starts_with('#') {
            records.push((line, Vec::new()));
        }
    }
    records
}

/// What is read of a record, in a line.
fn summary(text: &str) -> String {
    let path = Path::new("x.jsonl");
    let found = read(path, text).unwrap();
    assert_eq!(found.problems, [], "{text}");
    let note = found.note(path).map(|note| note.message);
    let of = |fields: &Value| {
        let messages = fields["messages"].as_array().unwrap().iter().map(message);
        messages.collect::<Vec<_>>().join(", ")
    };
    let all: Vec<Value> = found
        .read
        .into_iter()
        .map(|one| Value::Object(one.fields))
        .collect();
    let mut parts = vec![all.iter().map(of).collect::<Vec<_>>().join(" | ")];
    if let Some(tools) = all[0]["tools"].as_array() {
        let names = tools
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap());
        parts.push(format!("tools {}", names.collect::<Vec<_>>().join(", ")));
    }
    if let Some(variables) = all[0].get("variables") {
        parts.push(format!("variables {variables}"));
    }
    if all[0]["add_generation_prompt"] == false {
        parts.push("closed".to_owned());
    }
    parts.extend(note);
    parts.join("; ")
}

fn message(message: &Value) -> String {
    let mut text = message["role"].as_str().unwrap().to_owned();
    if let Some(reasoning) = message["reasoning_content"].as_str() {
        let _ = write!(text, " ({reasoning})");
    }
    match &message["content"] {
        Value::String(said) => text.extend([" ", said]),
        Value::Array(parts) => {
            let kinds = parts.iter().map(|part| part["type"].as_str().unwrap());
            let _ = write!(text, " [{}]", kinds.collect::<Vec<_>>().join(", "));
        }
        other => text.extend([" ", &other.to_string()]),
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let name = function["name"].as_str().unwrap();
        let _ = write!(text, " {name}({})", function["arguments"]);
    }
    text
}

#[test]
fn thirty_forms_of_conversations_are_read() {
    let records = records(include_str!("data/conversations/read.txt"));
    assert_eq!(records.len(), 59);
    for (text, expected) in records {
        assert_eq!([summary(text).as_str()], *expected, "{text}");
    }
}

#[test]
fn what_is_refused_says_which_shape_it_looks_like() {
    let records = records(include_str!("data/conversations/refused.txt"));
    assert_eq!(records.len(), 32);
    for (text, expected) in records {
        let problems = read(Path::new("x.jsonl"), text).unwrap_err();
        let problem = problems[0].to_string();
        assert!(problem.starts_with("x.jsonl:1:1: "), "{text}: {problem}");
        let mut shape = None;
        for words in expected {
            shape = shape.or(words.strip_prefix("looks like: "));
            assert!(
                problem.contains(shape.unwrap_or(words)),
                "{text}: {problem}"
            );
        }
        let looks = problem.contains("it looks like ");
        assert_eq!(looks, shape.is_some(), "{text}: {problem}");
    }
}

#[test]
fn what_is_no_conversation_is_one_problem_with_its_line() {
    let records = records(include_str!("data/conversations/broken.txt"));
    assert_eq!(records.len(), 16);
    for (text, expected) in records {
        let log = format!("[]\n\n{text}\n[]\n[]\n");
        let found = read(Path::new("x.jsonl"), &log).unwrap();
        let names: Vec<&str> = found.read.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["1", "4", "5"], "{text}");
        let [problem] = found.problems.as_slice() else {
            panic!("{text}: {:?}", found.problems);
        };
        let problem = problem.to_string();
        assert!(
            problem.starts_with("x.jsonl:3:") && problem.contains(expected[0]),
            "{problem}"
        );
    }
}
