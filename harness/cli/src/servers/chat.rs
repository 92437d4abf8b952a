//! Answers of `/v1/chat/completions`, whole and streamed.

use rolecall_answers::reading::Task;
use rolecall_core::Case;
use serde_json::{Map, Value, json};

use super::api::{Api, ApiAnswer, ApiError};

pub(super) const CHAT: &str = "/v1/chat/completions";
const APPLY: &str = "/apply-template";

/// How many more tokens than those of the text a model may write. A model that is kept from writing
/// the text shows by some more tokens what it writes instead.
const MORE: usize = 24;

/// What a model wrote, and the message that the server read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChatAnswer {
    pub(super) message: Value,
    /// What the model wrote, if the server says it.
    pub(super) written: Option<Vec<u8>>,
}

/// The request for an answer: the conversation before it, as clients of OpenAI write it.
pub(super) fn request(task: &Task<'_>, variables: Map<String, Value>) -> Value {
    let mut variables = variables;
    variables.extend(task.case.variables.clone());
    variables.extend(
        task.setting
            .map(|(name, value)| (name.to_owned(), value.into())),
    );
    if let Some(documents) = &task.case.documents {
        variables.insert("documents".to_owned(), documents.clone().into());
    }
    let mut body = conversation(task.case, &task.case.messages[..task.index], variables);
    if task.case.tools.is_some() {
        // The default of OpenAI's API.
        body["parallel_tool_calls"] = true.into();
    }
    body
}

/// Some messages of a case, with its tools and variables, as clients of OpenAI write them.
pub(super) fn conversation(
    case: &Case,
    messages: &[Value],
    variables: Map<String, Value>,
) -> Value {
    let messages = messages.iter().map(as_clients_write);
    let mut body = json!({ "messages": messages.collect::<Vec<_>>() });
    if let Some(tools) = &case.tools {
        body["tools"] = tools.clone().into();
    }
    if !variables.is_empty() {
        body["chat_template_kwargs"] = variables.into();
    }
    body
}

/// A message as clients write it: the arguments of calls are texts.
fn as_clients_write(message: &Value) -> Value {
    let mut message = message.clone();
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten() {
        if let Some(arguments) = call.pointer_mut("/function/arguments")
            && arguments.is_object()
        {
            *arguments = arguments.to_string().into();
        }
    }
    message
}

/// The server's own prompt for a request. None if it does not say.
pub(super) fn prompt(api: &Api, request: &Value) -> Result<Option<String>, ApiError> {
    Ok(match api.ask_once(APPLY, request)? {
        ApiAnswer::Json(answer) => {
            let prompt = answer.get("prompt").and_then(Value::as_str);
            prompt.map(str::to_owned)
        }
        ApiAnswer::Refused(_) => None,
    })
}

/// Asks for an answer of so many tokens, with a bias on some of them. The error of the inner result
/// is a refusal, in the server's words.
pub(super) fn whole(
    api: &Api,
    request: &Value,
    bias: &Value,
    tokens: usize,
) -> Result<Result<ChatAnswer, String>, ApiError> {
    let mut body = with_bias(request, bias, tokens);
    // They show what the model wrote.
    body["logprobs"] = true.into();
    body["top_logprobs"] = 1.into();
    let answer = match api.ask_once(CHAT, &body)? {
        ApiAnswer::Json(answer) => answer,
        ApiAnswer::Refused(words) => return Ok(Err(words)),
    };
    let Some(message) = answer.pointer("/choices/0/message") else {
        return Err(ApiError::unexpected(CHAT, "it has no message"));
    };
    let tokens = answer.pointer("/choices/0/logprobs/content");
    let tokens = tokens.and_then(Value::as_array);
    let bytes = |token: &Value| -> Option<Vec<u8>> {
        let bytes = token.get("bytes")?.as_array()?.iter();
        bytes
            .map(|byte| u8::try_from(byte.as_u64()?).ok())
            .collect()
    };
    let written = tokens.map(|tokens| tokens.iter().map(bytes).collect::<Option<Vec<_>>>());
    Ok(Ok(ChatAnswer {
        message: message.clone(),
        written: written.flatten().map(|tokens| tokens.concat()),
    }))
}

/// Asks for the same answer in events, and puts its message together. None if there is no message.
pub(super) fn streamed(
    api: &Api,
    request: &Value,
    bias: &Value,
    tokens: usize,
) -> Result<Option<Value>, ApiError> {
    let mut body = with_bias(request, bias, tokens);
    body["stream"] = true.into();
    let ApiAnswer::Json(Value::Array(events)) = api.ask_for_events(CHAT, &body)? else {
        return Ok(None);
    };
    let mut message = Map::new();
    for event in &events {
        if event.get("error").is_some() {
            return Ok(None);
        }
        if let Some(delta) = event.pointer("/choices/0/delta").and_then(Value::as_object) {
            add(&mut message, delta);
        }
    }
    Ok(Some(message.into()))
}

fn with_bias(request: &Value, bias: &Value, tokens: usize) -> Value {
    let mut body = request.clone();
    body["temperature"] = 0.into();
    body["max_tokens"] = (tokens + MORE).into();
    if !bias.is_null() {
        body["logit_bias"] = bias.clone();
    }
    body
}

/// Adds what an event brings to a message: texts grow, and calls are distinguished by their index.
fn add(message: &mut Map<String, Value>, delta: &Map<String, Value>) {
    for (name, value) in delta {
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            ("tool_calls", Value::Array(calls)) => add_calls(message, calls),
            ("role" | "id" | "type" | "name", value) => {
                message.insert(name.clone(), value.clone());
            }
            (_, Value::String(more)) => match message.get_mut(name) {
                Some(Value::String(text)) => text.push_str(more),
                _ => {
                    message.insert(name.clone(), value.clone());
                }
            },
            (_, Value::Object(more)) => {
                let part = message.entry(name.clone()).or_insert_with(|| json!({}));
                if let Value::Object(part) = part {
                    add(part, more);
                }
            }
            _ => {
                message.insert(name.clone(), value.clone());
            }
        }
    }
}

fn add_calls(message: &mut Map<String, Value>, calls: &[Value]) {
    let all = message.entry("tool_calls").or_insert_with(|| json!([]));
    let Value::Array(all) = all else { return };
    for call in calls {
        let index = call.get("index").and_then(Value::as_u64).unwrap_or(0);
        let at = all.iter().position(|known| known["index"] == index);
        let at = at.unwrap_or_else(|| {
            all.push(json!({ "index": index }));
            all.len() - 1
        });
        if let (Value::Object(known), Value::Object(call)) = (&mut all[at], call) {
            add(known, call);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_make_one_message() {
        let mut message = Map::new();
        for delta in [
            json!({"role": "assistant", "content": null}),
            json!({"reasoning_content": "a"}),
            json!({"reasoning_content": "b", "content": "c"}),
            json!({"tool_calls": [{"index": 0, "id": "1", "function": {"name": "f", "arguments": ""}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}),
            json!({"tool_calls": [{"index": 1, "function": {"name": "g", "arguments": "{}"}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}),
            json!({}),
        ] {
            add(&mut message, delta.as_object().unwrap());
        }
        assert_eq!(
            Value::from(message),
            json!({
                "role": "assistant",
                "reasoning_content": "ab",
                "content": "c",
                "tool_calls": [
                    {"index": 0, "id": "1", "function": {"name": "f", "arguments": "{}"}},
                    {"index": 1, "function": {"name": "g", "arguments": "{}"}},
                ],
            })
        );
    }

    #[test]
    fn clients_write_arguments_as_text() {
        let message = json!({"role": "assistant", "tool_calls": [
            {"function": {"name": "f", "arguments": {"a": 1}}},
            {"function": {"name": "g", "arguments": "{}"}},
        ]});
        let written = as_clients_write(&message);
        assert_eq!(
            written["tool_calls"][0]["function"]["arguments"],
            "{\"a\":1}"
        );
        assert_eq!(written["tool_calls"][1]["function"]["arguments"], "{}");
    }
}
