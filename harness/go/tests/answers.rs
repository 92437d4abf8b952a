//! Answers are read as Ollama reads them: the table is recorded from Ollama's own packages by
//! `scripts/record-go-answers.py`.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use rolecall_go::answer::AnswerEvent;
use rolecall_go::{Dialect, GoEngine, GoProgram, Limit, Limits, Refusal, Stage, Template};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Table {
    tags: Vec<TagRow>,
    answers: Vec<AnswerRow>,
}

#[derive(Deserialize)]
struct TagRow {
    template: String,
    calls: String,
    thinking: [String; 2],
}

/// A text, and the indices of the messages that were read from it.
#[derive(Deserialize)]
struct AnswerRow {
    template: String,
    tools: Vec<String>,
    think: Option<bool>,
    prompt: String,
    text: String,
    messages: Vec<Value>,
    whole: usize,
    characters: usize,
    fours: usize,
    cuts: Vec<usize>,
    events: Map<String, Value>,
}

fn table() -> Table {
    serde_json::from_str(include_str!("../../tests/data/go-answers.json")).unwrap()
}

fn program(source: &str) -> GoProgram {
    let template = Template::from_source("t", Dialect::Go, source);
    GoEngine::new().program(&template).unwrap()
}

fn tools(names: &[String]) -> Vec<Value> {
    let tool = |name| json!({"type": "function", "function": {"name": name}});
    names.iter().map(tool).collect()
}

/// The message of a text that came in pieces, and the output after each piece.
fn read(program: &GoProgram, row: &AnswerRow, pieces: &[String]) -> (Value, Vec<Vec<AnswerEvent>>) {
    let tools = tools(&row.tools);
    let mut reading = program.reading(&tools, row.think, &row.prompt).unwrap();
    let mut events: Vec<_> = pieces
        .iter()
        .map(|piece| reading.add(piece).unwrap())
        .collect();
    let (last, answer) = reading.end().unwrap();
    assert!(
        !answer.varies,
        "{}: Ollama's answer is no certain one",
        row.text
    );
    events.push(last);
    (answer.to_json(), events)
}

/// A text by so many characters at a time.
fn by(length: usize, text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(length).map(String::from_iter).collect()
}

#[test]
fn tags_are_found_as_in_ollama() {
    for row in table().tags {
        let program = program(&row.template);
        assert_eq!(program.call_tag().text, row.calls, "{}", row.template);
        let tags = program.thinking_tags();
        assert_eq!(
            [tags.opening, tags.closing],
            row.thinking,
            "{}",
            row.template
        );
    }
}

#[test]
fn answers_are_read_as_in_ollama_however_they_are_cut() {
    let rows = table().answers;
    for row in &rows {
        let program = program(&row.template);
        let same = |pieces: &[String], number: usize| {
            let (message, _) = read(&program, row, pieces);
            assert_eq!(message, row.messages[number], "{pieces:?}");
        };
        same(std::slice::from_ref(&row.text), row.whole);
        same(&by(1, &row.text), row.characters);
        same(&by(4, &row.text), row.fours);
        let places: Vec<usize> = row.text.char_indices().map(|(at, _)| at).skip(1).collect();
        assert_eq!(places.len(), row.cuts.len());
        for (place, number) in places.into_iter().zip(&row.cuts) {
            let (before, after) = row.text.split_at(place);
            same(&[before.to_owned(), after.to_owned()], *number);
        }
    }
    let depends_on_pieces = rows.iter().filter(|row| row.messages.len() > 1).count();
    assert!(
        depends_on_pieces > 10,
        "the table hardly shows what pieces do"
    );
}

#[test]
fn every_piece_sends_what_it_sends_in_ollama() {
    for row in table().answers {
        let (_, events) = read(&program(&row.template), &row, &by(1, &row.text));
        let sent: Map<String, Value> = events
            .iter()
            .enumerate()
            .filter(|(_, sent)| !sent.is_empty())
            .map(|(at, sent)| {
                (
                    at.to_string(),
                    sent.iter().map(AnswerEvent::to_json).collect(),
                )
            })
            .collect();
        assert_eq!(sent, row.events, "{}", row.text);
    }
}

/// In an object without a name, Ollama takes the arguments from any member that has some.
#[test]
fn a_random_order_is_reported() {
    let program = program("{{ if .ToolCalls }}<x>{{ end }}");
    let varies = |text: &str| {
        let tools = tools(&["get".to_owned()]);
        let mut reading = program.reading(&tools, None, "").unwrap();
        reading.add(text).unwrap();
        let (_, answer) = reading.end().unwrap();
        answer.varies
    };
    let call = |number| format!(r#"{{"name": "get", "arguments": {{"n": {number}}}}}"#);
    let (one, two) = (call(1), call(2));
    assert!(varies(&format!(r#"<x>{{"a": {one}, "b": {two}}}"#)));
    assert!(!varies(&format!(r#"<x>{{"a": {one}, "b": {one}}}"#)));
    assert!(!varies(&format!(r#"<x>{{"a": [{one}, {two}], "b": 1}}"#)));
    assert!(!varies(&format!("<x>[{one}, {two}]")));
}

#[test]
fn tools_that_ollama_refuses_are_refused() {
    let refusal = program("x").reading(&[json!({"function": 1})], None, "");
    let stage = match refusal.map(drop) {
        Err(Refusal::Failed { stage, .. }) => Some(stage),
        _ => None,
    };
    assert_eq!(stage, Some(Stage::Input));
}

/// A text of a stranger cannot keep the reader busy.
#[test]
fn endless_work_exceeds_a_limit() {
    let source = "{{ if .ToolCalls }}<x>{{ end }}";
    let template = Template::from_source("t", Dialect::Go, source);
    let limits = Limits {
        work: 1_000_000,
        ..Limits::default()
    };
    let program = GoEngine::with_limits(limits).program(&template).unwrap();
    let deep = format!("<x>a{{\"b\":{}{}}}", "[".repeat(600), "]".repeat(600));
    for (text, expected) in [
        ("<x>".to_owned() + &"a{}".repeat(10_000), Limit::Fuel),
        (deep, Limit::Recursion),
    ] {
        let tools = tools(&["a".to_owned()]);
        let mut reading = program.reading(&tools, None, "").unwrap();
        let exceeded = match reading.add(&text) {
            Err(Refusal::Exceeded { limit }) => Some(limit),
            _ => None,
        };
        assert_eq!(exceeded, Some(expected));
    }
}
