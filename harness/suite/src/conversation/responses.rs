//! Requests of OpenAI's Responses API, whose `input` is a text or a list of items. Logs keep messages
//! of other clients in such lists, too.
//!
//! Source: OpenAI's API reference (responses, 2025).

use serde_json::{Map, Value};

use super::clients;
use super::record::{Record, Wrong, call, object};

/// The messages of the items, and the settings that only this API has.
pub(super) fn messages(input: Value, record: &mut Record) -> Result<Vec<Value>, Wrong> {
    let reasoning = record.rest.get_mut("reasoning");
    if let Some(Value::Object(mut settings)) = reasoning.map(Value::take) {
        if let Some(effort) = settings.shift_remove("effort") {
            record.set_variable("reasoning_effort", effort);
            record.became.insert("`reasoning.effort` became a variable");
        }
        record.leave(&settings, "of `reasoning`");
    }
    record.became.insert("`input` became messages");
    let items = match input {
        Value::Array(items) => items,
        text => vec![object([("role", "user".into()), ("content", text)]).into()],
    };
    of_items(items, record)
}

/// The messages of items, which may be messages already.
pub(super) fn of_items(items: Vec<Value>, record: &mut Record) -> Result<Vec<Value>, Wrong> {
    let mut all: Vec<Value> = Vec::new();
    let mut reasoning: Option<String> = None;
    for (number, item) in (1..).zip(items) {
        let Value::Object(mut item) = item else {
            return Err(format!("item {number} of `input` is not an object"));
        };
        let kind = item.shift_remove("type");
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or("message");
        let mut take = |key| item.shift_remove(key);
        match kind {
            "message" => {
                let Some(role) = item.get("role") else {
                    return Err(format!("item {number} of `input` has no `role`"));
                };
                if role == "assistant" {
                    reason(&mut item, &mut reasoning);
                }
                all.push(item.into());
                continue;
            }
            "function_call" => {
                let (id, name, arguments) = (take("call_id"), take("name"), take("arguments"));
                let made = call(id, name.unwrap_or_default(), arguments.unwrap_or_default());
                add_call(&mut all, made, &mut reasoning);
            }
            "function_call_output" => {
                let (id, said) = (take("call_id"), take("output"));
                all.push(clients::result(
                    id.unwrap_or_default(),
                    said.unwrap_or_default(),
                ));
            }
            "reasoning" => {
                let texts = ["content", "summary"].map(|key| thoughts(take(key).as_ref()));
                reasoning = texts.into_iter().find(|text| !text.is_empty());
            }
            "custom_tool_call" | "custom_tool_call_output" => {
                return Err(format!(
                    "item {number} of `input` is a `{kind}`, which has a text: templates know only \
                     calls with arguments"
                ));
            }
            other => {
                record.skipped.insert(format!("items `{other}` of `input`"));
                continue;
            }
        }
        record.leave(&item, &format!("of items `{kind}`"));
    }
    clients::messages(all, record)
}

/// Adds a call to the answer that it belongs to: the items of an answer follow each other.
fn add_call(all: &mut Vec<Value>, call: Value, reasoning: &mut Option<String>) {
    let last = all.last_mut().and_then(Value::as_object_mut);
    // Reasoning begins a new answer, even after a call without any result.
    let last = last.filter(|last| last["role"] == "assistant" && reasoning.is_none());
    if let Some(message) = last {
        match message.get_mut("tool_calls").and_then(Value::as_array_mut) {
            Some(calls) => calls.push(call),
            None => drop(message.insert("tool_calls".to_owned(), vec![call].into())),
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

/// The text of an item of reasoning: of its content, or of what sums it up.
fn thoughts(parts: Option<&Value>) -> String {
    let parts = parts.and_then(Value::as_array).into_iter().flatten();
    let texts = parts.filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
