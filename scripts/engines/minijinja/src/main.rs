//! Plain minijinja, as a Rust server might set it up: the engine that the runner in Rust tests.

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use chat_templates::{REFUSAL, load};
use minijinja::{Environment, Error as TemplateError, value::Serde};
use serde_json::{Map, Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let now = Arc::new(Mutex::new(String::new()));
    let mut loaded: HashMap<String, Environment<'static>> = HashMap::new();
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        let mut answer = match text("request").as_str() {
            "start" => json!({
                "rolecall": 1, "engine": "minijinja", "version": "3.0.5", "dialect": "jinja",
            }),
            "load" => match load(&text("source"), &now) {
                Ok(environment) => {
                    loaded.insert(text("template"), environment);
                    json!({"ok": true})
                }
                Err(error) => failure("parse", &error),
            },
            "render" => {
                *now.lock().expect("nothing panics with it") = text("now");
                render(&loaded[&text("template")], &request)
            }
            _ => return Ok(()),
        };
        answer["id"] = request["id"].clone();
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn render(environment: &Environment<'_>, request: &Value) -> Value {
    let mut variables = Map::new();
    for name in ["messages", "tools", "documents", "add_generation_prompt"] {
        variables.insert(name.to_owned(), request[name].clone());
    }
    let others = request["variables"].as_object().into_iter().flatten();
    variables.extend(others.map(|(name, value)| (name.clone(), value.clone())));
    let render = || environment.get_template("chat")?.render(Serde(variables));
    match catch_unwind(AssertUnwindSafe(render)) {
        Ok(Ok(text)) => json!({"outcome": "rendered", "text": text}),
        Ok(Err(error)) => match error.detail().and_then(|text| text.strip_prefix(REFUSAL)) {
            Some(message) => json!({"outcome": "raised", "message": message}),
            None => failure("render", &error),
        },
        Err(_) => json!({"outcome": "crashed", "message": "it panicked"}),
    }
}

fn failure(stage: &str, error: &TemplateError) -> Value {
    json!({"outcome": "failed", "stage": stage, "message": error.to_string(), "line": error.line()})
}
