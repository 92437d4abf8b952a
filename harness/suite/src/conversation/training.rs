//! Files for training: `prompt` with `completion`, `chosen` with `rejected`, and turns with `from` and
//! `value`.
//!
//! Sources: the data formats of TRL (1.16) and of LLaMA-Factory (0.9), and of `ShareGPT`.

use serde_json::{Map, Value};

use super::clients;
use super::record::{Read, Record, Wrong, call, object};

/// The conversations of a prompt with its answers, which are under some keys. Each gets its name's
/// ending.
///
/// TRL puts a list of messages before every answer (`apply_chat_template` in `data_utils.py`), and does
/// not read a text as the prompt of answers that are lists (`maybe_extract_prompt`): they begin with
/// the question.
pub(super) fn answered(
    record: &mut Record,
    answers: &[(&str, &'static str)],
) -> Result<Read, Wrong> {
    record.is_request = false;
    let mut prompts = ["prompt", "conversations", "messages"].into_iter();
    let key = prompts.find(|key| record.has(key)).unwrap_or("prompt");
    let is_joined = key == "prompt" && record.is_list(key);
    let prompt = record.take(key);
    let prompt = prompt.map_or(Ok(Vec::new()), |prompt| said(prompt, key, "user", record))?;
    let mut all = Vec::new();
    for (key_of_answer, ending) in answers {
        let answer = record.take(key_of_answer).unwrap_or_default();
        if answer.is_string() && prompt.is_empty() {
            return Err(format!(
                "`{key_of_answer}` is a text, and there is no `prompt` that it answers"
            ));
        }
        let answer = said(answer, key_of_answer, "assistant", record)?;
        let mut said = answer.iter().filter(|message| message["role"] != "system");
        let is_whole = !is_joined && said.next().is_some_and(|first| first["role"] == "user");
        let repeats = |one: &Value| {
            answer
                .iter()
                .any(|other| one["content"] == other["content"])
        };
        if is_whole && !prompt.iter().all(repeats) {
            let skipped = format!("`{key}`, because `{key_of_answer}` has a question of its own");
            record.skipped.insert(skipped);
        }
        if is_joined && !prompt.is_empty() && answer.starts_with(&prompt) {
            record.became.insert(
                "the messages of `prompt` come twice, because the answer begins with them, too",
            );
        }
        let before = if is_whole { Vec::new() } else { prompt.clone() };
        all.push((*ending, [before, answer].concat()));
    }
    record.became.insert(match answers {
        [("completion", _)] => "`prompt` and `completion` became one conversation",
        [_] => "`prompt` and `response` became one conversation",
        [("chosen", _), ..] => "`chosen` and `rejected` became two conversations",
        _ => "`preferred_output` and `non_preferred_output` became two conversations",
    });
    Ok(all)
}

/// Messages, or a text that somebody with this role says.
fn said(value: Value, key: &str, role: &str, record: &mut Record) -> Result<Vec<Value>, Wrong> {
    match value {
        Value::String(text)
            if text.trim_start().starts_with("Human:") && text.contains("\n\nAssistant:") =>
        {
            Err(format!(
                "`{key}` is a text with the turns of `Human:` and `Assistant:`"
            ))
        }
        Value::String(text) => {
            let message = object([("role", role.into()), ("content", text.into())]);
            Ok(vec![message.into()])
        }
        Value::Array(list) => clients::messages(list, record),
        Value::Object(one) => clients::messages(vec![one.into()], record),
        _ => Err(format!("`{key}` is neither a text nor a list of messages")),
    }
}

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
        record.leave(made, "of calls");
        let arguments = arguments.unwrap_or_else(|| Map::new().into());
        Some(call(id, name, arguments))
    };
    list.into_iter().map(one).collect()
}
