//! Requests of OpenAI's Responses API, whose `input` is a text or a list of items.
//!
//! Source: OpenAI's API reference (responses, 2025).

use serde_json::{Map, Value};

use super::record::{Record, Wrong, call, content, image, object};

/// The messages of the items, and the settings that only this API has.
pub(super) fn messages(input: Value, record: &mut Record) -> Result<Vec<Value>, Wrong> {
    if let Some(effort) = record
        .rest
        .get_mut("reasoning")
        .and_then(|all| all.get_mut("effort"))
    {
        let effort = effort.take();
        record.take("reasoning");
        record.set_variable("reasoning_effort", effort);
        record.became.insert("`reasoning.effort` became a variable");
    }
    record.became.insert("`input` became messages");
    let items = match input {
        Value::String(text) => {
            let question = object([("role", "user".into()), ("content", text.into())]);
            return Ok(vec![question.into()]);
        }
        Value::Array(items) => items,
        _ => return Err("`input` is neither a text nor a list".to_owned()),
    };
    let mut all: Vec<Value> = Vec::new();
    let mut reasoning: Option<String> = None;
    for (number, item) in (1..).zip(items) {
        let Value::Object(mut item) = item else {
            return Err(format!("item {number} of `input` is not an object"));
        };
        let kind = item
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or("message")
            .to_owned();
        match kind.as_str() {
            "message" => {
                if !item.contains_key("role") {
                    return Err(format!("item {number} of `input` has no `role`"));
                }
                let mut message = object([("role", item["role"].take())]);
                let said = item.get_mut("content").map(Value::take);
                message.insert(
                    "content".to_owned(),
                    of_parts(said.unwrap_or_default(), record),
                );
                if message["role"] == "assistant" {
                    reason(&mut message, &mut reasoning);
                }
                all.push(message.into());
            }
            "function_call" => {
                let mut take = |key| item.get_mut(key).map(Value::take);
                let made = call(
                    take("call_id"),
                    take("name").unwrap_or_default(),
                    take("arguments").unwrap_or_default(),
                );
                add_call(&mut all, made, &mut reasoning);
            }
            "function_call_output" => {
                let mut take = |key| item.get_mut(key).map(Value::take).unwrap_or_default();
                let (id, output) = (take("call_id"), take("output"));
                let said = of_parts(output, record);
                let result = object([
                    ("role", "tool".into()),
                    ("tool_call_id", id),
                    ("content", said),
                ]);
                all.push(result.into());
            }
            "reasoning" => {
                let text = thoughts(&item);
                reasoning = Some(text).filter(|text| !text.is_empty());
            }
            other => {
                record.skipped.insert(format!("items `{other}` of `input`"));
            }
        }
    }
    Ok(all)
}

/// The content of a message, or of a result.
fn of_parts(said: Value, record: &mut Record) -> Value {
    let Value::Array(parts) = said else {
        return said;
    };
    let mut read = Vec::new();
    for mut part in parts {
        match part["type"].as_str().unwrap_or_default() {
            "input_text" | "output_text" | "text" => {
                read.push(object([("type", "text".into()), ("text", part["text"].take())]).into());
            }
            "input_image" if part["image_url"].is_string() => {
                read.push(image(part["image_url"].take()));
            }
            other => {
                record.skipped.insert(format!("parts `{other}`"));
            }
        }
    }
    content(read)
}

/// Adds a call to the answer that it belongs to: the items of an answer follow each other.
fn add_call(all: &mut Vec<Value>, call: Value, reasoning: &mut Option<String>) {
    let last = all.last_mut().and_then(Value::as_object_mut);
    let last = last.filter(|last| last["role"] == "assistant" && reasoning.is_none());
    if let Some(message) = last {
        let calls = message
            .entry("tool_calls")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Some(calls) = calls.as_array_mut() {
            calls.push(call);
        }
        return;
    }
    let mut message = object([("role", "assistant".into()), ("content", "".into())]);
    reason(&mut message, reasoning);
    message.insert("tool_calls".to_owned(), vec![call].into());
    all.push(message.into());
}

/// Gives an answer the reasoning before it.
fn reason(message: &mut Map<String, Value>, reasoning: &mut Option<String>) {
    if let Some(text) = reasoning.take() {
        message.insert("reasoning_content".to_owned(), text.into());
    }
}

/// The text of an item of reasoning: its content, or else what sums it up.
fn thoughts(item: &Map<String, Value>) -> String {
    let texts = |key: &str| {
        let parts = item
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let texts = parts.filter_map(|part| part["text"].as_str());
        texts.collect::<Vec<_>>().join("\n")
    };
    let whole = texts("content");
    if whole.is_empty() {
        texts("summary")
    } else {
        whole
    }
}
