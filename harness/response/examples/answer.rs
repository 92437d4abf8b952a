//! Answers requests in JSON Lines: what this crate makes of an answer, piece by piece.
//!
//! `scripts/agree-response.py` compares it with transformers. A request is
//! `{"template": …, "prompt": …, "tools": […], "pieces": […]}`. After an error the stream goes on, as
//! in the reference.

use std::io::{BufRead, Write};

use rolecall_response::{Event, Options, ParseError, ResponseTemplate};
use serde_json::{Value, json};

#[expect(
    clippy::disallowed_methods,
    reason = "a program reads this, no terminal"
)]
fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(request) => answer(&request),
            Err(error) => json!({"wrong": error.to_string()}),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(request: &Value) -> Value {
    let template = match ResponseTemplate::from_json(&request["template"]) {
        Ok(template) => template,
        Err(error) => {
            return match error.kind.raised() {
                Some(kind) => json!({"load": kind.python_name()}),
                None => json!({"unsupported": error.to_string()}),
            };
        }
    };
    let tools = request["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let options = Options {
        prompt: request["prompt"].as_str(),
        tools,
        ..Options::default()
    };
    let mut stream = match template.stream(&options) {
        Ok(stream) => stream,
        Err(error) => return json!({"start": failure(&error)}),
    };
    let initial = events(stream.initial_events());
    let pieces = request["pieces"].as_array().into_iter().flatten();
    let pieces = pieces.filter_map(Value::as_str);
    let fed: Vec<Value> = pieces
        .map(|piece| match stream.feed(piece) {
            Ok(found) => events(&found),
            Err(error) => failure(&error),
        })
        .collect();
    let end = match stream.finish() {
        Ok((last, message)) => json!({"events": events(&last), "message": message.to_json()}),
        Err(error) => failure(&error),
    };
    json!({"initial": initial, "fed": fed, "end": end})
}

fn events(found: &[Event]) -> Value {
    found.iter().map(Event::to_json).collect()
}

fn failure(error: &ParseError) -> Value {
    match error {
        ParseError::Raised { kind, .. } => json!({"error": kind.python_name()}),
        _ => json!({"limit": error.to_string()}),
    }
}
