//! What Ollama's semantics cost compared with gotmpl's own execution, as a ratio from one run.
//!
//! gotmpl executes the suite's Go templates over plain maps, which know nothing of Go's
//! types; the engine executes the same trees over Ollama's values. Only pairs for which
//! both give the same text are counted, so that both do the same work. Templates are
//! parsed and conversations converted before. Then the engine renders all pairs plainly and
//! with the sources of each byte.

// A benchmark's result is what it prints.
#![allow(clippy::print_stdout)]

mod measure;

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::sync::Arc;

use gotmpl::{MissingKey, Template, Value};
use rolecall_core::guard::{LoadedTemplate, load};
use rolecall_core::{CaseId, Conversation, Dialect, Engine, Observer, Outcome, Program, Wanted};
use rolecall_front::engines::Engines;
use rolecall_suite::layout::Layout;
use rolecall_suite::suite::Suite;

use measure::{count, in_turns, row};

fn main() {
    let suite = Suite::load_layout(&Layout::new("../.."));
    let engines = Engines::default();
    let engine = engines.for_dialect(Dialect::Go);
    let conversations: HashMap<&CaseId, (Conversation<'_>, Value)> = suite
        .cases
        .iter()
        .filter(|case| case.is_for(Dialect::Go))
        .map(|case| {
            (
                &case.id,
                (
                    Conversation::new(case),
                    data(&case.messages, case.tools.as_ref()),
                ),
            )
        })
        .collect();
    let templates: Vec<(LoadedTemplate, Template)> = suite
        .templates
        .iter()
        .filter(|template| template.dialect == Dialect::Go)
        .filter_map(|template| {
            let bare = functions(Template::new("").missing_key(MissingKey::ZeroValue));
            Some((load(engine, template), bare.parse(&template.source).ok()?))
        })
        .collect();
    let mut pairs = Vec::new();
    for (ours, bare) in &templates {
        for (conversation, data) in conversations.values() {
            let text = bare.execute_to_string(data);
            if let (Outcome::Rendered { text: a }, Ok(b)) = (ours.render(conversation), text)
                && a == b
            {
                pairs.push((ours, bare, conversation, data));
            }
        }
    }
    let what = format!("pairs of {} templates, one thread", templates.len());
    count(pairs.len(), &what);
    let [base, ours] = in_turns([
        &mut || {
            for (_, bare, _, data) in &pairs {
                let _ = black_box(bare.execute_to_string(data));
            }
        },
        &mut || {
            for (ours, _, conversation, _) in &pairs {
                black_box(ours.render(conversation));
            }
        },
    ]);
    row("bare gotmpl", base);
    row("with Ollama's semantics", ours);

    let conversations = conversations.values().map(|(conversation, _)| conversation);
    traced(engine, &suite, &conversations.collect::<Vec<_>>());
}

/// What it costs to know where each byte of a prompt comes from.
fn traced(engine: &dyn Engine, suite: &Suite, conversations: &[&Conversation<'_>]) {
    let programs: Vec<Box<dyn Program>> = suite
        .templates
        .iter()
        .filter(|template| template.dialect == Dialect::Go)
        .filter_map(|template| engine.compile(template).ok())
        .collect();
    println!();
    let what = format!("pairs of {} templates, one thread", programs.len());
    count(programs.len() * conversations.len(), &what);
    let [rendered, traced] = in_turns([
        &mut || {
            for program in &programs {
                for conversation in conversations {
                    black_box(program.render(conversation));
                }
            }
        },
        &mut || {
            for program in &programs {
                for conversation in conversations {
                    let mut provenance = Observer::of(&[Wanted::Spans]);
                    black_box(program.render_with(conversation, &mut provenance));
                    black_box(provenance);
                }
            }
        },
    ]);
    row("render", rendered);
    row("render and trace", traced);
}

fn functions(template: Template) -> Template {
    template
        .func("json", |args| {
            Ok(Value::from(args.first().map(json).unwrap_or_default()))
        })
        .func("currentDate", |_| Ok(Value::from("2026-01-02")))
        .func("yesterdayDate", |_| Ok(Value::from("2026-01-01")))
        .func("toTypeScriptType", |_| Ok(Value::from("any")))
}

/// The data of a conversation as plain maps under Ollama's names.
fn data(messages: &[serde_json::Value], tools: Option<&Vec<serde_json::Value>>) -> Value {
    let mut system = String::new();
    let mut list = Vec::new();
    for message in messages {
        let text = |key: &str| message[key].as_str().unwrap_or_default();
        if text("role") == "system" {
            system.push_str(text("content"));
        }
        let calls = message["tool_calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let calls = calls.iter().map(|call| {
            let function = &call["function"];
            map([(
                "Function",
                map([
                    ("Name", value(&function["name"])),
                    ("Arguments", value(&function["arguments"])),
                ]),
            )])
        });
        list.push(map([
            ("Role", text("role").into()),
            ("Content", text("content").into()),
            ("Thinking", text("reasoning_content").into()),
            ("ToolName", text("name").into()),
            ("ToolCallID", text("tool_call_id").into()),
            ("ToolCalls", Value::List(calls.collect())),
        ]));
    }
    let tools = tools.map_or(&[][..], Vec::as_slice).iter().map(|tool| {
        let function = &tool["function"];
        map([
            ("Type", value(&tool["type"])),
            (
                "Function",
                map([
                    ("Name", value(&function["name"])),
                    ("Description", value(&function["description"])),
                    ("Parameters", value(&function["parameters"])),
                ]),
            ),
        ])
    });
    map([
        ("System", system.as_str().into()),
        ("Messages", Value::List(list.into())),
        ("Tools", Value::List(tools.collect())),
        ("Response", "".into()),
        ("Think", Value::Bool(false)),
        ("ThinkLevel", "".into()),
        ("IsThinkSet", Value::Bool(false)),
    ])
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries
        .into_iter()
        .map(|(key, value)| (Arc::from(key), value));
    Value::Map(Arc::new(entries.collect::<BTreeMap<Arc<str>, Value>>()))
}

fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Nil,
        serde_json::Value::Bool(bool) => Value::Bool(*bool),
        serde_json::Value::Number(number) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::String(text) => text.as_str().into(),
        serde_json::Value::Array(items) => Value::List(items.iter().map(value).collect()),
        serde_json::Value::Object(map) => Value::Map(Arc::new(
            map.iter()
                .map(|(key, json)| (Arc::from(key.as_str()), value(json)))
                .collect(),
        )),
    }
}

fn json(value: &Value) -> String {
    match value {
        Value::Bool(bool) => bool.to_string(),
        Value::Int(int) => int.to_string(),
        Value::Float(float) => float.to_string(),
        Value::String(text) => serde_json::to_string(&**text).unwrap_or_default(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(json).collect();
            format!("[{}]", items.join(","))
        }
        Value::Map(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(key, value)| {
                    let key = serde_json::to_string(&**key).unwrap_or_default();
                    format!("{key}:{}", json(value))
                })
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        _ => "null".to_owned(),
    }
}
