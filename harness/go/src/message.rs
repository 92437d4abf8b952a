//! A case's messages as Ollama's `OpenAI` endpoint maps them to its own.
//!
//! Source: openai/openai.go (`FromChatRequest`, `FromCompletionToolCall`,
//! `nameFromToolCallID`, `decodeImageURL`), server/prompt.go (`imageTaggedMessages`) and
//! api/types.go (`Message.UnmarshalJSON`), version 0.14 and later. Beside what the
//! endpoint takes, arguments may be an object, as Ollama's own endpoint takes them, and
//! the reasoning may be called as other servers call it.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value as Json;

use crate::base64_text;
use crate::error::Error;
use crate::unmarshal;
use crate::values::{Text, Value};

/// An Ollama message: `api.Message`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    pub(crate) role: String,
    pub(crate) content: String,
    pub(crate) thinking: String,
    pub(crate) images: Vec<Vec<u8>>,
    pub(crate) calls: Vec<Call>,
    pub(crate) tool_name: String,
    pub(crate) tool_call_id: String,
}

/// A tool call: `api.ToolCall`.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// None where the JSON text is null.
    pub(crate) arguments: Option<BTreeMap<Text, Value>>,
}

/// A message as the endpoint reads it.
struct Request<'j> {
    role: &'j str,
    content: Option<&'j Json>,
    thinking: &'j str,
    calls: Option<Vec<RequestCall<'j>>>,
    name: &'j str,
    tool_call_id: &'j str,
}

struct RequestCall<'j> {
    id: &'j str,
    name: &'j str,
    arguments: Option<&'j Json>,
}

const PLACE: &str = "ChatCompletionRequest.messages";

/// Maps the messages of a case.
pub(crate) fn messages(messages: &[Json]) -> Result<Vec<Message>, Error> {
    let requests = messages
        .iter()
        .map(request)
        .collect::<Result<Vec<_>, _>>()?;
    if requests.is_empty() {
        return Err(Error::new("[] is too short - 'messages'"));
    }
    let called = called_names(&requests);
    let mut mapped = Vec::with_capacity(requests.len());
    for request in &requests {
        map(request, &called, &mut mapped)?;
    }
    if mapped.is_empty() {
        return Err(Error::new("no messages are left to render"));
    }
    let mut media = 0;
    for message in &mut mapped {
        message.role = lower(&message.role);
        tag_images(message, &mut media);
    }
    Ok(mapped)
}

fn request(json: &Json) -> Result<Request<'_>, Error> {
    let message = unmarshal::object(json, PLACE, "openai.Message")?.unwrap_or(unmarshal::nothing());
    let mut thinking = "";
    for name in ["reasoning", "reasoning_content", "thinking"] {
        let said = unmarshal::string(message, name, PLACE)?;
        if thinking.is_empty() {
            thinking = said;
        }
    }
    let calls = match unmarshal::list(message, "tool_calls", PLACE, "[]openai.ToolCall")? {
        None => None,
        Some(calls) => Some(calls.iter().map(call).collect::<Result<_, _>>()?),
    };
    let content = unmarshal::member(message, "content");
    if let Some(content) = content {
        // A number that no float64 holds is refused wherever it stands.
        unmarshal::anything(content)?;
    }
    Ok(Request {
        role: unmarshal::string(message, "role", PLACE)?,
        content,
        thinking,
        calls,
        name: unmarshal::string(message, "name", PLACE)?,
        tool_call_id: unmarshal::string(message, "tool_call_id", PLACE)?,
    })
}

fn call(json: &Json) -> Result<RequestCall<'_>, Error> {
    let place = format!("{PLACE}.tool_calls");
    let call = unmarshal::object(json, &place, "openai.ToolCall")?.unwrap_or(unmarshal::nothing());
    unmarshal::string(call, "type", &place)?;
    match unmarshal::member(call, "index") {
        Some(index) if index.as_i64().is_none() => {
            return Err(unmarshal::mismatch(index, &format!("{place}.index"), "int"));
        }
        _ => {}
    }
    let place = format!("{place}.function");
    let function = match unmarshal::member(call, "function") {
        Some(json) => unmarshal::object(json, &place, "struct")?.unwrap_or(unmarshal::nothing()),
        None => unmarshal::nothing(),
    };
    let arguments = unmarshal::member(function, "arguments");
    match arguments {
        None | Some(Json::String(_) | Json::Object(_)) => {}
        Some(other) => {
            return Err(unmarshal::mismatch(
                other,
                &format!("{place}.arguments"),
                "string",
            ));
        }
    }
    Ok(RequestCall {
        id: unmarshal::string(call, "id", PLACE)?,
        name: unmarshal::string(function, "name", &place)?,
        arguments,
    })
}

fn map(
    request: &Request<'_>,
    called: &HashMap<&str, &str>,
    mapped: &mut Vec<Message>,
) -> Result<(), Error> {
    let mut tool_name = "";
    if lower(request.role) == "tool" {
        tool_name = request.name;
        if tool_name.is_empty() && !request.tool_call_id.is_empty() {
            tool_name = called.get(request.tool_call_id).copied().unwrap_or("");
        }
    }
    let message = Message {
        role: request.role.to_owned(),
        thinking: request.thinking.to_owned(),
        tool_call_id: request.tool_call_id.to_owned(),
        ..Message::default()
    };
    match request.content {
        Some(Json::String(content)) => mapped.push(Message {
            content: content.clone(),
            calls: calls(request.calls.as_deref())?,
            tool_name: tool_name.to_owned(),
            ..message
        }),
        Some(Json::Array(parts)) => {
            for content in parts {
                mapped.push(Message {
                    role: request.role.to_owned(),
                    ..part(content)?
                });
            }
            // What else the message has goes to the last one there is, even if that
            // is an earlier message's.
            if request
                .calls
                .as_ref()
                .is_some_and(|calls| !calls.is_empty())
                && let Some(last) = mapped.last_mut()
            {
                last.calls = calls(request.calls.as_deref())?;
                tool_name.clone_into(&mut last.tool_name);
                last.tool_call_id = message.tool_call_id;
                last.thinking = message.thinking;
            }
        }
        other => {
            if request.calls.is_none() {
                let found = match other {
                    Some(Json::Bool(_)) => "bool",
                    Some(Json::Number(_)) => "float64",
                    Some(Json::Object(_)) => "map[string]interface {}",
                    _ => "<nil>",
                };
                return Err(Error::new(format!("invalid message content type: {found}")));
            }
            mapped.push(Message {
                calls: calls(request.calls.as_deref())?,
                ..message
            });
        }
    }
    Ok(())
}

fn calls(calls: Option<&[RequestCall<'_>]>) -> Result<Vec<Call>, Error> {
    calls
        .unwrap_or_default()
        .iter()
        .map(|call| {
            Ok(Call {
                id: call.id.to_owned(),
                name: call.name.to_owned(),
                arguments: arguments(call.arguments)?,
            })
        })
        .collect()
}

fn arguments(json: Option<&Json>) -> Result<Option<BTreeMap<Text, Value>>, Error> {
    let invalid = || Error::new("invalid tool call arguments");
    let parsed;
    let json = match json {
        Some(Json::String(text)) => {
            parsed = serde_json::from_str(text).map_err(|_| invalid())?;
            &parsed
        }
        Some(json) => json,
        // The empty text is no JSON.
        None => return Err(invalid()),
    };
    match json {
        Json::Null => Ok(None),
        Json::Object(object) => unmarshal::members(object).map(Some).map_err(|_| invalid()),
        _ => Err(invalid()),
    }
}

/// The name behind the ID of each call: the last message that has it decides, and in
/// that the first call.
fn called_names<'j>(requests: &[Request<'j>]) -> HashMap<&'j str, &'j str> {
    let mut names = HashMap::new();
    for request in requests {
        for call in request.calls.iter().flatten().rev() {
            names.insert(call.id, call.name);
        }
    }
    names
}

fn part(json: &Json) -> Result<Message, Error> {
    let invalid = || Error::new("invalid message format");
    let part = json.as_object().ok_or_else(invalid)?;
    let text = |value: Option<&Json>| value.and_then(Json::as_str).map(str::to_owned);
    match part.get("type").and_then(Json::as_str) {
        Some("text") => Ok(Message {
            content: text(part.get("text")).ok_or_else(invalid)?,
            ..Message::default()
        }),
        Some("image_url") => {
            let url = match part.get("image_url") {
                Some(Json::Object(object)) => text(object.get("url")),
                other => text(other),
            };
            Ok(Message {
                images: vec![image(&url.ok_or_else(invalid)?)?],
                ..Message::default()
            })
        }
        Some("input_audio") => {
            let audio = part
                .get("input_audio")
                .and_then(Json::as_object)
                .ok_or_else(|| Error::new("invalid input_audio format"))?;
            let data = text(audio.get("data"))
                .ok_or_else(|| Error::new("invalid input_audio format: missing data"))?;
            let bytes = base64_text::decode(&data).ok_or_else(|| {
                Error::new("invalid input_audio base64 data: illegal base64 data")
            })?;
            Ok(Message {
                images: vec![bytes],
                ..Message::default()
            })
        }
        _ => Err(invalid()),
    }
}

fn image(url: &str) -> Result<Vec<u8>, Error> {
    if url.starts_with("http://") || url.starts_with("https://") {
        return Err(Error::new(
            "image URLs are not currently supported, please use base64 encoded data instead",
        ));
    }
    ["", "image/jpeg", "image/jpg", "image/png", "image/webp"]
        .iter()
        .find_map(|kind| url.strip_prefix(&format!("data:{kind};base64,")))
        .and_then(base64_text::decode)
        .ok_or_else(|| Error::new("invalid image input"))
}

/// Puts a mark into the content for each image: in place of an `[img]`, or in front.
fn tag_images(message: &mut Message, media: &mut usize) {
    let mut prefix = String::new();
    for _ in &message.images {
        let tag = format!("[img-{media}]");
        *media += 1;
        if message.content.contains("[img]") {
            message.content = message.content.replacen("[img]", &tag, 1);
        } else {
            prefix.push_str(&tag);
        }
    }
    message.content.insert_str(0, &prefix);
}

/// Go's `strings.ToLower`: character by character, without Rust's special cases for
/// the final sigma and the dotted I.
fn lower(text: &str) -> String {
    text.chars()
        .map(|c| {
            let mut lowered = c.to_lowercase();
            lowered.next().unwrap_or(c)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(message: Json) -> String {
        messages(&[message]).unwrap_err().to_string()
    }

    #[test]
    fn text_parts_become_messages_and_the_last_gets_the_calls() {
        let mapped = messages(&[json!({
            "role": "Assistant",
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": "{}"}}],
        })])
        .unwrap();
        assert_eq!(mapped.len(), 2);
        assert_eq!(mapped[0].role, "assistant");
        assert!(mapped[0].calls.is_empty());
        assert_eq!(mapped[1].calls[0].name, "f");
    }

    #[test]
    fn what_the_endpoint_refuses() {
        assert_eq!(
            refused(json!({"role": "user", "content": null})),
            "invalid message content type: <nil>"
        );
        assert_eq!(
            refused(json!({"role": "user", "content": {"a": 1}})),
            "invalid message content type: map[string]interface {}"
        );
        assert_eq!(
            refused(json!({"role": "assistant", "tool_calls": [{"function": {"arguments": "["}}]})),
            "invalid tool call arguments"
        );
        assert_eq!(
            refused(json!({"role": 3, "content": ""})),
            "json: cannot unmarshal number into Go struct field \
             ChatCompletionRequest.messages.role of type string"
        );
    }

    #[test]
    fn a_tool_message_takes_the_name_of_its_call() {
        let mapped = messages(&[
            json!({"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": {}}}]}),
            json!({"role": "tool", "tool_call_id": "x", "content": "1"}),
        ])
        .unwrap();
        assert_eq!(mapped[1].tool_name, "f");
    }
}
