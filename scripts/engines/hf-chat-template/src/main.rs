//! hf-chat-template, which renders chat templates with minijinja as transformers does.
//!
//! It has its default settings. `render_context` takes any variables, so it can take the `None`
//! that transformers gives if there are no tools or documents.

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use hf_chat_template::{ChatTemplate, Civil, Clock, Error as TemplateError};
use serde_json::{Map, Value, json};

/// The moment that a request names.
struct Moment(Civil);

impl Clock for Moment {
    fn now(&self) -> Civil {
        self.0
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut sources: HashMap<String, String> = HashMap::new();
    let mut compiled: HashMap<(String, String), ChatTemplate> = HashMap::new();
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        let name = text("template");
        let mut answer = match text("request").as_str() {
            "start" => json!({
                "rolecall": 1, "engine": "hf-chat-template", "version": "1.0.0", "dialect": "jinja",
            }),
            "load" => match ChatTemplate::from_str(&text("source")) {
                Ok(_) => {
                    compiled.retain(|(of, _), _| *of != name);
                    sources.insert(name, text("source"));
                    json!({"ok": true})
                }
                Err(error) => failure("parse", &error),
            },
            "render" => {
                // A template gets its clock when it is made.
                let key = (name.clone(), text("now"));
                if !compiled.contains_key(&key) {
                    let source = sources.get(&name).ok_or("a template that is not loaded")?;
                    let clock = Moment(moment(&key.1).ok_or("no moment")?);
                    let template = ChatTemplate::builder(source).clock(clock).build()?;
                    compiled.insert(key.clone(), template);
                }
                render(&compiled[&key], &request)
            }
            _ => return Ok(()),
        };
        answer["id"] = request["id"].clone();
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn render(template: &ChatTemplate, request: &Value) -> Value {
    let mut variables = Map::new();
    for name in ["messages", "tools", "documents", "add_generation_prompt"] {
        variables.insert(name.to_owned(), request[name].clone());
    }
    let others = request["variables"].as_object().into_iter().flatten();
    variables.extend(others.map(|(name, value)| (name.clone(), value.clone())));
    let rendered = catch_unwind(AssertUnwindSafe(|| template.render_context(&variables)));
    let Ok(rendered) = rendered else {
        return json!({"outcome": "crashed", "message": "it panicked"});
    };
    match rendered {
        Ok(text) => json!({"outcome": "rendered", "text": text}),
        Err(TemplateError::TemplateRaised { message }) => {
            json!({"outcome": "raised", "message": message})
        }
        Err(error) => failure("render", &error),
    }
}

fn failure(stage: &str, error: &TemplateError) -> Value {
    let line = match error {
        TemplateError::Compile(error) | TemplateError::Render(error) => error.line(),
        _ => None,
    };
    json!({"outcome": "failed", "stage": stage, "message": error.to_string(), "line": line})
}

/// Reads `2026-01-02T03:04:05Z`.
fn moment(text: &str) -> Option<Civil> {
    let numbers: Vec<u32> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect();
    let [year, month, day, hour, minute, second] = numbers[..] else {
        return None;
    };
    Civil::from_ymd_hms(year.into(), month, day, hour, minute, second)
}
