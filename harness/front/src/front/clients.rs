//! How clients of Ollama's endpoints write a conversation.
//!
//! Case files have one form for all servers. If an endpoint uses another shape or name than a case
//! does, its clients write it the endpoint's way:
//!
//! | in a case | `/api/chat` | `/v1/chat/completions` |
//! |---|---|---|
//! | arguments of a call | object | its JSON text |
//! | `reasoning`, `reasoning_content`, `thinking` | `thinking` | `reasoning` |
//! | name of a tool's result: `name`, `tool_name` | `tool_name` | `name` |
//! | images as data, next to one text at most | `images` | parts |
//! | `think`, `reasoning_effort`, `enable_thinking` | `think` | `reasoning_effort` |
//!
//! Clients send everything else as in the case, even if the endpoint refuses it.

use rolecall_core::Case;
use rolecall_go::endpoint::Endpoint;
use serde_json::{Map, Value, json};

/// The field names for reasoning in messages, the most common one first.
const REASONING: [&str; 3] = ["reasoning", "reasoning_content", "thinking"];

/// The variables that say whether to think. The first one that is not null decides.
pub(super) const THINKING: [&str; 3] = ["think", "reasoning_effort", "enable_thinking"];

/// A case as clients of an endpoint write it.
pub(super) fn write(mut case: Case, endpoint: Endpoint) -> Case {
    for message in &mut case.messages {
        write_calls(message, endpoint);
        if let Some(message) = message.as_object_mut() {
            write_message(message, endpoint);
        }
    }
    let said = THINKING
        .iter()
        .find_map(|name| case.variables.get(*name).filter(|value| !value.is_null()));
    let said = said.map(|value| match endpoint {
        Endpoint::Native => ("think", think(value)),
        Endpoint::OpenAi => ("reasoning_effort", effort(value)),
    });
    case.variables = said
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect();
    case
}

/// A case as clients of OpenAI's endpoint in other servers write it: they send arguments as text, and
/// everything else as in the case. The request has fields for `reasoning_effort` and `tool_choice`,
/// and `chat_template_kwargs` for the other variables.
pub(super) fn write_openai(mut case: Case) -> Case {
    for message in &mut case.messages {
        write_calls(message, Endpoint::OpenAi);
    }
    case
}

/// Whether the case is so plain that clients of both endpoints write it as it is, and that both
/// endpoints and bare templates read it alike. Such a case has only texts with roles, and perhaps a
/// variable for thinking.
pub(super) fn is_plain(case: &Case) -> bool {
    let is_plain = |message: &Value| {
        let has_text =
            |fields: &Map<String, Value>, name| fields.get(name).is_some_and(Value::is_string);
        message.as_object().is_some_and(|fields| {
            fields.len() == 2 && has_text(fields, "role") && has_text(fields, "content")
        })
    };
    let is_switch = |name: &&str| case.variables.get(*name).is_none_or(Value::is_boolean);
    !case.messages.is_empty()
        && case.messages.iter().all(is_plain)
        && case.tools.is_none()
        && ["think", "enable_thinking"].iter().all(is_switch)
        && !case.variables.contains_key("reasoning_effort")
}

fn write_message(message: &mut Map<String, Value>, endpoint: Endpoint) {
    let (reasoning, tool_name) = match endpoint {
        Endpoint::Native => ("thinking", "tool_name"),
        Endpoint::OpenAi => ("reasoning", "name"),
    };
    rename(message, &REASONING, reasoning);
    if message.get("role").and_then(Value::as_str) == Some("tool") {
        rename(message, &["name", "tool_name"], tool_name);
    }
    match endpoint {
        Endpoint::Native => parts_to_images(message),
        Endpoint::OpenAi => images_to_parts(message),
    }
}

fn write_calls(message: &mut Value, endpoint: Endpoint) {
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten() {
        if let Some(arguments) = call.pointer_mut("/function/arguments") {
            write_arguments(arguments, endpoint);
        }
    }
}

/// Moves the first of these fields that has a value to the wanted name, and removes the others.
fn rename(message: &mut Map<String, Value>, names: &[&str], wanted: &str) {
    let says_something = |value: &&Value| !value.is_null() && *value != "";
    let mut values = names.iter().map(|name| message.get(*name));
    let Some(value) = values
        .find_map(|value| value.filter(says_something))
        .cloned()
    else {
        return;
    };
    for name in names {
        message.shift_remove(*name);
    }
    message.insert(wanted.to_owned(), value);
}

fn write_arguments(arguments: &mut Value, endpoint: Endpoint) {
    let written = match (endpoint, &*arguments) {
        (Endpoint::Native, Value::String(text)) => serde_json::from_str(text)
            .ok()
            .filter(|read: &Value| read.is_object() || read.is_null()),
        (Endpoint::OpenAi, Value::Object(_)) => Some(arguments.to_string().into()),
        _ => None,
    };
    if let Some(written) = written {
        *arguments = written;
    }
}

/// Moves images out of the parts of a content into `images`, if the content has at most one text.
fn parts_to_images(message: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = message.get("content") else {
        return;
    };
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for part in parts {
        if let Some(text) = text_of(part) {
            texts.push(text);
        } else if let Some(image) = image_of(part) {
            images.push(Value::from(image));
        } else {
            return;
        }
    }
    if images.is_empty() || texts.len() > 1 || message.contains_key("images") {
        return;
    }
    let text = texts.first().copied().unwrap_or_default().to_owned();
    message.insert("content".to_owned(), text.into());
    message.insert("images".to_owned(), images.into());
}

/// Moves `images` into the content, as parts before the text.
fn images_to_parts(message: &mut Map<String, Value>) {
    let (Some(Value::Array(images)), Some(Value::String(text))) =
        (message.get("images"), message.get("content"))
    else {
        return;
    };
    let part = |image: &Value| {
        let data = image.as_str()?;
        let url = format!("data:;base64,{data}");
        Some(json!({"type": "image_url", "image_url": {"url": url}}))
    };
    let Some(mut parts) = images.iter().map(part).collect::<Option<Vec<_>>>() else {
        return;
    };
    parts.push(json!({"type": "text", "text": text}));
    message.insert("content".to_owned(), parts.into());
    message.shift_remove("images");
}

fn text_of(part: &Value) -> Option<&str> {
    let is_text = part.get("type")? == "text";
    part.get("text")?.as_str().filter(|_| is_text)
}

/// The data of an image that is part of the conversation.
fn image_of(part: &Value) -> Option<&str> {
    if part.get("type")? != "image_url" {
        return None;
    }
    let url = part.get("image_url")?;
    let url = url.get("url").unwrap_or(url).as_str()?;
    url.strip_prefix("data:")?
        .split_once(";base64,")
        .map(|(_, data)| data)
}

/// Translates an effort into the native endpoint's `think`.
fn think(value: &Value) -> Value {
    match value.as_str() {
        Some("none") => false.into(),
        Some("minimal") => "low".into(),
        Some("xhigh" | "ultra") => "max".into(),
        _ => value.clone(),
    }
}

/// Translates `think` into the other endpoint's effort.
fn effort(value: &Value) -> Value {
    match value {
        Value::Bool(true) => "medium".into(),
        Value::Bool(false) => "none".into(),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(message: &Value, endpoint: Endpoint) -> Value {
        let case = Case::from_messages(vec![message.clone()]);
        write(case, endpoint).messages.remove(0)
    }

    #[test]
    fn each_endpoint_has_its_own_way() {
        let image =
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AQI="}});
        let bare = json!({"type": "image_url", "image_url": {"url": "data:;base64,AQI="}});
        let text = json!({"type": "text", "text": "x"});
        let call = |arguments: Value| json!({"tool_calls": [{"function": {"name": "f", "arguments": arguments}}]});
        for (case, native, openai) in [
            (
                call(json!({"b": 1, "a": 2})),
                call(json!({"b": 1, "a": 2})),
                call(json!("{\"b\":1,\"a\":2}")),
            ),
            (
                call(json!("{\"b\": 1}")),
                call(json!({"b": 1})),
                call(json!("{\"b\": 1}")),
            ),
            (call(json!("[1]")), call(json!("[1]")), call(json!("[1]"))),
            (call(json!("not")), call(json!("not")), call(json!("not"))),
            (
                json!({"reasoning_content": "r", "reasoning": null}),
                json!({"thinking": "r"}),
                json!({"reasoning": "r"}),
            ),
            (
                json!({"role": "tool", "name": "f"}),
                json!({"role": "tool", "tool_name": "f"}),
                json!({"role": "tool", "name": "f"}),
            ),
            (
                json!({"role": "user", "name": "f"}),
                json!({"role": "user", "name": "f"}),
                json!({"role": "user", "name": "f"}),
            ),
            (
                json!({"content": [text, image]}),
                json!({"content": "x", "images": ["AQI="]}),
                json!({"content": [text, image]}),
            ),
            (
                json!({"content": "x", "images": ["AQI="]}),
                json!({"content": "x", "images": ["AQI="]}),
                json!({"content": [bare, text]}),
            ),
            (
                json!({"content": [text, text, image]}),
                json!({"content": [text, text, image]}),
                json!({"content": [text, text, image]}),
            ),
            (
                json!({"content": [text]}),
                json!({"content": [text]}),
                json!({"content": [text]}),
            ),
            (json!(3), json!(3), json!(3)),
        ] {
            assert_eq!(written(&case, Endpoint::Native), native);
            assert_eq!(written(&case, Endpoint::OpenAi), openai);
        }
    }

    #[test]
    fn a_plain_case_is_read_alike_by_all() {
        let case = |messages: Value, variables: Value| {
            let messages = messages.as_array().cloned().unwrap_or_default();
            let mut case = Case::from_messages(messages);
            case.variables = variables.as_object().cloned().unwrap_or_default();
            case
        };
        let text = json!([{"role": "User", "content": "x"}]);
        assert!(is_plain(&case(
            text.clone(),
            json!({"think": true, "x": []})
        )));
        for (messages, variables) in [
            (json!([]), json!({})),
            (json!([{"role": "user", "content": null}]), json!({})),
            (
                json!([{"role": "user", "content": "x", "name": "n"}]),
                json!({}),
            ),
            (json!([{"role": "user"}]), json!({})),
            (json!(["x"]), json!({})),
            (text.clone(), json!({"think": "low"})),
            (text, json!({"reasoning_effort": "low"})),
        ] {
            assert!(!is_plain(&case(messages.clone(), variables)), "{messages}");
        }
    }

    #[test]
    fn a_wish_to_think_has_one_name() {
        let variables = |variables: Value, endpoint| {
            let mut case = Case::from_messages(Vec::new());
            case.variables = variables.as_object().cloned().unwrap_or_default();
            Value::from(write(case, endpoint).variables)
        };
        for (case, native, openai) in [
            (json!({"x": 1}), json!({}), json!({})),
            (
                json!({"think": null, "enable_thinking": true}),
                json!({"think": true}),
                json!({"reasoning_effort": "medium"}),
            ),
            (
                json!({"think": false, "reasoning_effort": "low"}),
                json!({"think": false}),
                json!({"reasoning_effort": "none"}),
            ),
            (
                json!({"reasoning_effort": "xhigh"}),
                json!({"think": "max"}),
                json!({"reasoning_effort": "xhigh"}),
            ),
            (
                json!({"think": "odd"}),
                json!({"think": "odd"}),
                json!({"reasoning_effort": "odd"}),
            ),
        ] {
            assert_eq!(variables(case.clone(), Endpoint::Native), native, "{case}");
            assert_eq!(variables(case.clone(), Endpoint::OpenAi), openai, "{case}");
        }
    }
}
