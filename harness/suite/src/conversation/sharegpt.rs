//! Turns as `ShareGPT` has them, with `from` and `value`.

use serde_json::{Map, Value};

use super::record::{Record, Wrong, call, object};

/// Gives a turn with `from` and `value` a role and a content, or calls. Other messages stay as they
/// are.
pub(super) fn turn(
    message: &mut Map<String, Value>,
    number: usize,
    record: &mut Record,
) -> Result<(), Wrong> {
    let from = ["from", "role"]
        .into_iter()
        .find_map(|key| message.get(key)?.as_str());
    let (Some(from), Some(_)) = (from, message.get("value")) else {
        return Ok(());
    };
    if message
        .get("content")
        .is_some_and(|content| !content.is_null())
    {
        return Ok(());
    }
    record
        .became
        .insert("`from` and `value` became roles and contents");
    let (role, is_call) = match from.to_lowercase().as_str() {
        "human" | "user" => ("user", false),
        "gpt" | "assistant" | "chatgpt" | "model" => ("assistant", false),
        "system" => ("system", false),
        "observation" | "tool" | "tool_response" | "function_response" => ("tool", false),
        "function_call" | "tool_call" => ("assistant", true),
        other => return Err(format!("turn {number} is from `{other}`, who is not known")),
    };
    let mut others = std::mem::take(message);
    let value = others.shift_remove("value").unwrap_or_default();
    others.retain(|key, _| !matches!(key.as_str(), "from" | "role" | "content"));
    *message = object([("role", role.into())]);
    if is_call {
        let made = calls(&value, record)
            .ok_or_else(|| format!("turn {number}: the call is not JSON with a `name`"))?;
        message.insert("content".to_owned(), "".into());
        message.insert("tool_calls".to_owned(), made.into());
    } else {
        message.insert("content".to_owned(), value);
    }
    message.extend(others);
    Ok(())
}

/// The calls in a text, which is one as JSON or a list of them.
fn calls(value: &Value, record: &mut Record) -> Option<Vec<Value>> {
    let read: Value = match value {
        Value::String(text) => serde_json::from_str(text).ok()?,
        other => other.clone(),
    };
    let list = match read {
        Value::Array(list) => list,
        one => vec![one],
    };
    let one = |made: Value| {
        let Value::Object(mut made) = made else {
            return None;
        };
        let name = made.shift_remove("name")?;
        let arguments = made.shift_remove("arguments");
        let id = made.shift_remove("id");
        record.leave(&made, "of calls");
        let arguments = arguments.unwrap_or_else(|| Map::new().into());
        Some(call(id, name, arguments))
    };
    list.into_iter().map(one).collect()
}
