//! Whether a conversation is an ordinary chat, or one that only a strange client would send.

use rolecall_core::{Case, Outcome};
use serde_json::Value;

/// How well a conversation serves as a case. The best one comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// An ordinary chat that becomes a prompt.
    Prompt,
    /// Another chat that becomes a prompt, with so many kinds of oddities.
    OddPrompt(usize),
    /// An ordinary chat that the template refuses.
    Refusal,
    /// Another chat that the template refuses.
    OddRefusal(usize),
}

impl Rank {
    pub(super) fn of(case: &Case, outcome: &Outcome) -> Rank {
        let is_prompt = matches!(outcome, Outcome::Rendered { .. });
        match (is_prompt, oddities(case).len()) {
            (true, 0) => Rank::Prompt,
            (true, odd) => Rank::OddPrompt(odd),
            (false, 0) => Rank::Refusal,
            (false, odd) => Rank::OddRefusal(odd),
        }
    }
}

/// Whether applications accept the form of a conversation at all: messages, calls, tools and documents
/// are objects, and each message has a role.
pub(super) fn is_chat(case: &Case) -> bool {
    let lists = [&case.tools, &case.documents];
    let mut elements = lists.into_iter().flatten().flatten();
    let is_message = |message: &Value| {
        let calls_are_objects = match message.get("tool_calls") {
            None | Some(Value::Null) => true,
            Some(Value::Array(calls)) => calls.iter().all(Value::is_object),
            Some(_) => false,
        };
        message["role"].is_string() && calls_are_objects
    };
    !case.messages.is_empty()
        && case.messages.iter().all(is_message)
        && elements.all(Value::is_object)
}

/// What is unusual about a conversation, in words: each kind once. Nothing if it is an ordinary chat.
pub(super) fn oddities(case: &Case) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut note = |oddity: &'static str| {
        if !found.contains(&oddity) {
            found.push(oddity);
        }
    };
    let (mut is_called, mut is_asked) = (false, false);
    for message in &case.messages {
        let role = message["role"].as_str().unwrap_or_default();
        let calls = message["tool_calls"].as_array();
        let has_calls = calls.is_some_and(|calls| !calls.is_empty());
        match role {
            "user" => is_asked = true,
            "assistant" if !is_asked => note("nobody asks before the assistant answers"),
            "tool" if !is_called => note("a tool's result does not follow a call"),
            "system" | "developer" | "assistant" | "tool" => {}
            _ => note("it has a role that few applications send"),
        }
        if role != "tool" {
            is_called = role == "assistant" && has_calls;
        }
        if has_calls && role != "assistant" {
            note("another role than the assistant calls a tool");
        }
        if let Some(odd) = odd_content(message) {
            note(odd);
        }
        if !calls.into_iter().flatten().all(is_call) {
            note("a call has another form than clients of OpenAI send");
        }
    }
    if !is_asked {
        note("nobody asks anything");
    }
    if !case.tools.iter().flatten().all(is_tool) {
        note("a tool has another form than clients of OpenAI send");
    }
    if !case
        .variables
        .iter()
        .all(|(name, value)| is_setting(name, value))
    {
        note("a variable has a value that its name does not suggest");
    }
    if let Some(last) = case.messages.last()
        && case.continue_final_message.is_some()
        && last["role"] != "assistant"
    {
        note("it continues a message that is not the assistant's");
    }
    found
}

/// What is unusual about a message's own text.
fn odd_content(message: &Value) -> Option<&'static str> {
    let is_call = message["tool_calls"]
        .as_array()
        .is_some_and(|list| !list.is_empty());
    match &message["content"] {
        Value::String(text) if text.is_empty() && message["role"] != "assistant" => {
            Some("a message is empty")
        }
        Value::String(_) => None,
        Value::Array(parts) => {
            let is_part = |part: &Value| match part["type"].as_str() {
                Some("text") => part["text"].is_string(),
                Some(_) => true,
                None => false,
            };
            (parts.is_empty() || !parts.iter().all(is_part))
                .then_some("the parts of a message have an unknown form")
        }
        Value::Null if is_call => None,
        Value::Null => Some("a message has no content"),
        _ => Some("the content of a message is no text"),
    }
}

/// Whether a variable could have a value, by its name: lists of tools hold tools or their names,
/// and tokens look like tokens.
fn is_setting(name: &str, value: &Value) -> bool {
    if name.ends_with("tools") {
        let is_given = |one: &Value| one.is_string() || is_tool(one);
        let list = value.as_array();
        return list.is_some_and(|list| list.iter().all(is_given));
    }
    if name.ends_with("_token") {
        let is_token = |text: &str| text.starts_with('<') && text.ends_with('>');
        return value.as_str().is_some_and(is_token);
    }
    !value.is_array() && !value.is_object()
}

fn is_call(call: &Value) -> bool {
    let function = &call["function"];
    let is_named = function["name"]
        .as_str()
        .is_some_and(|name| !name.is_empty());
    let is_object = match &function["arguments"] {
        Value::Object(_) => true,
        Value::String(text) => {
            serde_json::from_str::<Value>(text).is_ok_and(|read| read.is_object())
        }
        _ => false,
    };
    is_named && is_object
}

fn is_tool(tool: &Value) -> bool {
    let function = &tool["function"];
    let is_named = function["name"]
        .as_str()
        .is_some_and(|name| !name.is_empty());
    let parameters = &function["parameters"];
    tool["type"] == "function" && is_named && (parameters.is_null() || is_schema(parameters, true))
}

/// Whether a value is a JSON schema whose known keys have the form that they must have.
fn is_schema(schema: &Value, is_outermost: bool) -> bool {
    let Value::Object(keys) = schema else {
        return false;
    };
    let is_type = |one: &Value| {
        matches!(
            one.as_str(),
            Some("string" | "number" | "integer" | "boolean" | "array" | "object" | "null")
        )
    };
    (!is_outermost || schema["type"] == "object")
        && keys.iter().all(|(key, value)| match key.as_str() {
            "type" => match value {
                Value::Array(types) => !types.is_empty() && types.iter().all(is_type),
                one => is_type(one),
            },
            "properties" | "$defs" | "definitions" => value.as_object().is_some_and(|properties| {
                properties
                    .values()
                    .all(|property| is_schema(property, false))
            }),
            "items" => value.is_object() && is_schema(value, false),
            "anyOf" | "oneOf" | "allOf" => value.as_array().is_some_and(|list| {
                !list.is_empty() && list.iter().all(|one| is_schema(one, false))
            }),
            "required" => value
                .as_array()
                .is_some_and(|names| names.iter().all(Value::is_string)),
            "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
            "description" | "title" | "format" | "pattern" | "$ref" => value.is_string(),
            "nullable" => value.is_boolean(),
            _ => true,
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_client_would_not_send_is_odd() {
        let call = json!({"role": "assistant", "content": "", "tool_calls": [
            {"type": "function", "function": {"name": "f", "arguments": {}}}]});
        let user = json!({"role": "user", "content": "Hi"});
        let result = json!({"role": "tool", "content": "5"});
        let fine = [
            vec![user.clone()],
            vec![user.clone(), call.clone(), result.clone(), result.clone()],
            vec![json!({"role": "user", "content": [{"type": "text", "text": "a"}]})],
        ];
        for messages in fine {
            assert_eq!(
                oddities(&Case::from_messages(messages.clone())),
                [] as [&str; 0],
                "{messages:?}"
            );
        }
        let odd = [
            (1, vec![user.clone(), result]),
            (2, vec![json!({"role": "critic", "content": "No."})]),
            (1, vec![json!({"role": "user", "content": ""})]),
            (1, vec![json!({"role": "user", "content": 3})]),
            (1, vec![json!({"role": "user"})]),
            (2, vec![json!({"role": "assistant", "content": "Hi"})]),
            (
                1,
                vec![
                    user.clone(),
                    json!({"role": "assistant", "content": "", "tool_calls": [{}]}),
                ],
            ),
        ];
        for (kinds, messages) in odd {
            assert_eq!(
                oddities(&Case::from_messages(messages.clone())).len(),
                kinds,
                "{messages:?}"
            );
        }
        let mut case = Case::from_messages(vec![user]);
        let tool = |parameters: Value| json!({"type": "function", "function": {"name": "f", "parameters": parameters}});
        case.tools = Some(vec![tool(
            json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
        )]);
        assert_eq!(oddities(&case), [] as [&str; 0]);
        for parameters in [
            json!({}),
            json!([]),
            json!({"type": "object", "properties": {"a": "text"}}),
        ] {
            case.tools = Some(vec![tool(parameters.clone())]);
            assert_eq!(oddities(&case).len(), 1, "{parameters}");
        }
        case.tools = None;
        for (name, value, kinds) in [
            ("enable_thinking", json!(false), 0),
            ("effort", json!("high"), 0),
            ("bos_token", json!("<s>"), 0),
            ("bos_token", json!("system"), 1),
            ("python_tools", json!("plain"), 1),
            ("clear_thinking", json!(["tool"]), 1),
        ] {
            case.variables = serde_json::Map::from_iter([(name.to_owned(), value)]);
            assert_eq!(oddities(&case).len(), kinds, "{name}");
        }
        assert!(is_chat(&case));
        assert!(!is_chat(&Case::from_messages(vec![
            json!({"content": "x"})
        ])));
        assert!(!is_chat(&Case::from_messages(Vec::new())));
        let call = json!({"role": "assistant", "tool_calls": [null]});
        assert!(!is_chat(&Case::from_messages(vec![call])));
    }
}
