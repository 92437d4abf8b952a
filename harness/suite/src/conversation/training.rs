//! Files for training: `conversations` with `from` and `value`, `prompt` with `completion`, `chosen`
//! with `rejected`.
//!
//! Sources: the data formats of TRL (0.23) and of LLaMA-Factory (0.9), and of `ShareGPT`.

use serde_json::{Map, Value};

use super::clients;
use super::record::{Read, Record, Wrong, call, object};

/// The conversations of a record for training. None if it is of another form.
pub(super) fn conversations(record: &mut Record) -> Result<Option<Read>, Wrong> {
    let endings: &[(&str, &str)] = if record.has("chosen") && record.has("rejected") {
        &[("chosen", "-chosen"), ("rejected", "-rejected")]
    } else if record.has("completion") && record.has("prompt") {
        &[("completion", "")]
    } else if let Some(turns) = record.take_list("conversations")? {
        let turns = clients::messages(as_messages(turns, record)?, record)?;
        return Ok(Some(vec![("", turns)]));
    } else {
        return Ok(None);
    };
    let prompt = record
        .take("prompt")
        .or_else(|| record.take("conversations"));
    let prompt = prompt.map_or(Ok(Vec::new()), |prompt| {
        said(prompt, "prompt", "user", record)
    })?;
    let mut all = Vec::new();
    for (key, ending) in endings {
        let answer = record.take(key).unwrap_or_default();
        let answer = said(answer, key, "assistant", record)?;
        // Some files repeat the prompt in both answers.
        let is_whole = answer
            .first()
            .is_some_and(|first| first["role"] != "assistant");
        let before = if is_whole { Vec::new() } else { prompt.clone() };
        all.push((*ending, [before, answer].concat()));
    }
    record.became.insert(match endings {
        [_] => "`prompt` and `completion` became one conversation",
        _ => "`chosen` and `rejected` became two conversations",
    });
    Ok(Some(all))
}

/// Messages, or a text that somebody with this role says.
fn said(value: Value, key: &str, role: &str, record: &mut Record) -> Result<Vec<Value>, Wrong> {
    match value {
        Value::String(text) => {
            let message = object([("role", role.into()), ("content", text.into())]);
            Ok(vec![message.into()])
        }
        Value::Array(list) => clients::messages(as_messages(list, record)?, record),
        Value::Object(one) => said(vec![Value::Object(one)].into(), key, role, record),
        _ => Err(format!("`{key}` is neither a text nor a list of messages")),
    }
}

/// Turns with `from` and `value` as messages. Others stay as they are.
fn as_messages(turns: Vec<Value>, record: &mut Record) -> Result<Vec<Value>, Wrong> {
    let mut all = Vec::with_capacity(turns.len());
    for (number, mut turn) in (1..).zip(turns) {
        let Some(from) = turn
            .get("from")
            .and_then(Value::as_str)
            .map(str::to_lowercase)
        else {
            all.push(turn);
            continue;
        };
        record
            .became
            .insert("`from` and `value` became roles and contents");
        let value = turn["value"].take();
        let role = match from.as_str() {
            "human" | "user" => "user",
            "gpt" | "assistant" | "chatgpt" | "model" => "assistant",
            "system" => "system",
            "observation" | "tool" | "tool_response" | "function_response" => "tool",
            "function_call" | "tool_call" => {
                let made = calls(&value)
                    .ok_or_else(|| format!("turn {number}: the call is not JSON with a `name`"))?;
                let mut message = object([("role", "assistant".into()), ("content", "".into())]);
                message.insert("tool_calls".to_owned(), made.into());
                all.push(message.into());
                continue;
            }
            other => return Err(format!("turn {number} is from `{other}`, who is not known")),
        };
        all.push(object([("role", role.into()), ("content", value)]).into());
    }
    Ok(all)
}

/// The calls in a text, which is one as JSON or a list of them.
fn calls(value: &Value) -> Option<Vec<Value>> {
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
        Some(call(
            None,
            name,
            arguments.unwrap_or_else(|| Map::new().into()),
        ))
    };
    list.into_iter().map(one).collect()
}
