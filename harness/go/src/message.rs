//! Reads a case's messages as Ollama's endpoints do.
//!
//! Source: openai/openai.go (`FromChatRequest`, `FromCompletionToolCall`,
//! `nameFromToolCallID`, `decodeImageURL`), server/prompt.go (`imageTaggedMessages`) and
//! api/types.go (`Message.UnmarshalJSON`) of 0.33.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value as Json;

use crate::base64_text;
use crate::error::Error;
use crate::unmarshal;
use crate::values::{Text, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageRules {
    /// The rules of the native endpoint, `/api/chat`.
    Native,
    /// The rules of the endpoint for clients of OpenAI, `/v1/chat/completions`.
    OpenAi,
    /// Everything that either endpoint accepts: the rules for clients of OpenAI, and also
    /// arguments as an object, `images`, `tool_name`, the index of a call, and the reasoning under
    /// any of its names.
    Either,
}

/// Where a message is among the messages as written.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Written {
    /// The number of the message with the content.
    pub(crate) message: usize,
    /// The number of the part with the content, if the content is a list.
    pub(crate) part: Option<usize>,
    /// The number of the message with the calls, the reasoning and the names.
    pub(crate) fields: usize,
}

/// An Ollama message: `api.Message`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    pub(crate) written: Written,
    pub(crate) role: String,
    pub(crate) content: String,
    pub(crate) thinking: String,
    /// None if the message does not have the key.
    pub(crate) images: Option<Vec<Vec<u8>>>,
    pub(crate) calls: Vec<Call>,
    pub(crate) tool_name: String,
    pub(crate) tool_call_id: String,
}

/// A tool call: `api.ToolCall`.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) index: i64,
    pub(crate) name: String,
    /// None if the JSON is null.
    pub(crate) arguments: Option<BTreeMap<Text, Value>>,
}

/// A message as the endpoint for clients of OpenAI reads it.
struct OpenAiMessage<'j> {
    role: &'j str,
    content: Option<&'j Json>,
    thinking: &'j str,
    calls: Option<Vec<OpenAiCall<'j>>>,
    /// The name of the tool whose result it is, if the message has it.
    name: &'j str,
    /// The tool's name that is handed on for every role.
    tool_name: Option<&'j str>,
    tool_call_id: &'j str,
    images: Option<Vec<Vec<u8>>>,
}

struct OpenAiCall<'j> {
    id: &'j str,
    index: i64,
    name: &'j str,
    arguments: Option<&'j Json>,
}

const PLACE: &str = "ChatCompletionRequest.messages";

/// The type's name in the native endpoint's error messages.
const NATIVE: &str = "Alias";

/// Reads the messages of a case, with a mark in the content for each image.
pub(crate) fn messages(messages: &[Json], rules: MessageRules) -> Result<Vec<Message>, Error> {
    let mut read = read(messages, rules)?;
    let mut media = 0;
    for message in &mut read {
        tag_images(message, &mut media);
    }
    Ok(read)
}

/// Reads the messages of a case.
pub(crate) fn read(messages: &[Json], rules: MessageRules) -> Result<Vec<Message>, Error> {
    let mut mapped = if rules == MessageRules::Native {
        let mut read: Vec<Message> = messages.iter().map(native).collect::<Result<_, _>>()?;
        for (number, message) in read.iter_mut().enumerate() {
            message.written = Written::whole(number);
        }
        read
    } else {
        let request = |message| request(message, rules);
        let requests: Vec<_> = messages.iter().map(request).collect::<Result<_, _>>()?;
        if requests.is_empty() {
            return Err(Error::new("[] is too short - 'messages'"));
        }
        let called = called_names(&requests);
        let mut mapped = Vec::with_capacity(requests.len());
        for (number, request) in requests.into_iter().enumerate() {
            map(number, request, &called, &mut mapped)?;
        }
        mapped
    };
    if mapped.is_empty() {
        return Err(Error::new(
            "without messages the endpoint loads the model and renders nothing",
        ));
    }
    for message in &mut mapped {
        message.role = lower(&message.role);
    }
    Ok(mapped)
}

/// A message as the native endpoint reads it.
fn native(json: &Json) -> Result<Message, Error> {
    let message = unmarshal::object(json, NATIVE, "api.Message")?.unwrap_or(unmarshal::nothing());
    let text = |name| unmarshal::string(message, name, NATIVE).map(str::to_owned);
    let calls = unmarshal::list(message, "tool_calls", NATIVE, "[]api.ToolCall")?;
    Ok(Message {
        written: Written::default(),
        role: text("role")?,
        content: text("content")?,
        thinking: text("thinking")?,
        images: images(message, NATIVE)?,
        calls: calls
            .unwrap_or_default()
            .iter()
            .map(native_call)
            .collect::<Result<_, _>>()?,
        tool_name: text("tool_name")?,
        tool_call_id: text("tool_call_id")?,
    })
}

fn native_call(json: &Json) -> Result<Call, Error> {
    let place = format!("{NATIVE}.tool_calls");
    let call = unmarshal::object(json, &place, "api.ToolCall")?.unwrap_or(unmarshal::nothing());
    let place = format!("{place}.function");
    let function = match unmarshal::member(call, "function") {
        Some(json) => {
            unmarshal::object(json, &place, "api.ToolCallFunction")?.unwrap_or(unmarshal::nothing())
        }
        None => unmarshal::nothing(),
    };
    let arguments = match unmarshal::member(function, "arguments") {
        None => None,
        Some(Json::Object(object)) => Some(unmarshal::members(object)?),
        Some(other) => {
            return Err(unmarshal::mismatch(
                other,
                &format!("{place}.arguments"),
                "map[string]interface {}",
            ));
        }
    };
    Ok(Call {
        id: unmarshal::string(call, "id", NATIVE)?.to_owned(),
        index: unmarshal::integer(function, "index", &place)?,
        name: unmarshal::string(function, "name", &place)?.to_owned(),
        arguments,
    })
}

/// The member `images`: texts in base64.
fn images(
    message: &serde_json::Map<String, Json>,
    place: &str,
) -> Result<Option<Vec<Vec<u8>>>, Error> {
    let Some(images) = unmarshal::list(message, "images", place, "[]api.ImageData")? else {
        return Ok(None);
    };
    let image = |image: &Json| match image {
        Json::Null => Ok(Vec::new()),
        Json::String(text) => {
            base64_text::decode(text).ok_or_else(|| Error::new("illegal base64 data"))
        }
        other => Err(unmarshal::mismatch(
            other,
            &format!("{place}.images"),
            "api.ImageData",
        )),
    };
    images.iter().map(image).collect::<Result<_, _>>().map(Some)
}

fn request(json: &Json, rules: MessageRules) -> Result<OpenAiMessage<'_>, Error> {
    let message = unmarshal::object(json, PLACE, "openai.Message")?.unwrap_or(unmarshal::nothing());
    let is_either = rules == MessageRules::Either;
    let mut thinking = "";
    let names: &[&str] = if is_either {
        &["reasoning", "reasoning_content", "thinking"]
    } else {
        &["reasoning"]
    };
    for name in names {
        let said = unmarshal::string(message, name, PLACE)?;
        if thinking.is_empty() {
            thinking = said;
        }
    }
    let calls = match unmarshal::list(message, "tool_calls", PLACE, "[]openai.ToolCall")? {
        None => None,
        Some(calls) => {
            let call = |json| call(json, rules);
            Some(calls.iter().map(call).collect::<Result<_, _>>()?)
        }
    };
    let content = unmarshal::member(message, "content");
    if let Some(content) = content {
        // A number that does not fit a float64 is refused anywhere.
        unmarshal::anything(content)?;
    }
    let tool_name = unmarshal::string(message, "tool_name", PLACE);
    Ok(OpenAiMessage {
        role: unmarshal::string(message, "role", PLACE)?,
        content,
        thinking,
        calls,
        name: unmarshal::string(message, "name", PLACE)?,
        tool_name: (is_either && unmarshal::member(message, "tool_name").is_some())
            .then_some(tool_name)
            .transpose()?,
        tool_call_id: unmarshal::string(message, "tool_call_id", PLACE)?,
        images: is_either
            .then(|| images(message, PLACE))
            .transpose()?
            .flatten(),
    })
}

fn call(json: &Json, rules: MessageRules) -> Result<OpenAiCall<'_>, Error> {
    let place = format!("{PLACE}.tool_calls");
    let call = unmarshal::object(json, &place, "openai.ToolCall")?.unwrap_or(unmarshal::nothing());
    unmarshal::string(call, "type", &place)?;
    unmarshal::integer(call, "index", &place)?;
    let place = format!("{place}.function");
    let function = match unmarshal::member(call, "function") {
        Some(json) => unmarshal::object(json, &place, "struct")?.unwrap_or(unmarshal::nothing()),
        None => unmarshal::nothing(),
    };
    let arguments = unmarshal::member(function, "arguments");
    match arguments {
        None | Some(Json::String(_)) => {}
        Some(Json::Object(_)) if rules == MessageRules::Either => {}
        Some(other) => {
            return Err(unmarshal::mismatch(
                other,
                &format!("{place}.arguments"),
                "string",
            ));
        }
    }
    // The OpenAI endpoint does not hand the index of a call on.
    let index = match rules {
        MessageRules::Either => unmarshal::integer(function, "index", &place)?,
        MessageRules::Native | MessageRules::OpenAi => 0,
    };
    Ok(OpenAiCall {
        id: unmarshal::string(call, "id", PLACE)?,
        index,
        name: unmarshal::string(function, "name", &place)?,
        arguments,
    })
}

fn map(
    number: usize,
    request: OpenAiMessage<'_>,
    called: &HashMap<&str, &str>,
    mapped: &mut Vec<Message>,
) -> Result<(), Error> {
    let mut tool_name = "";
    if let Some(written) = request.tool_name {
        tool_name = written;
    } else if lower(request.role) == "tool" {
        tool_name = request.name;
        if tool_name.is_empty() && !request.tool_call_id.is_empty() {
            tool_name = called.get(request.tool_call_id).copied().unwrap_or("");
        }
    }
    let message = Message {
        written: Written::whole(number),
        role: request.role.to_owned(),
        thinking: request.thinking.to_owned(),
        tool_call_id: request.tool_call_id.to_owned(),
        images: request.images,
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
            for (place, content) in parts.iter().enumerate() {
                mapped.push(Message {
                    written: Written {
                        part: Some(place),
                        ..Written::whole(number)
                    },
                    role: request.role.to_owned(),
                    ..part(content)?
                });
            }
            // The message's other fields go to the last message, even if that is an earlier one.
            if request
                .calls
                .as_ref()
                .is_some_and(|calls| !calls.is_empty())
                && let Some(last) = mapped.last_mut()
            {
                last.written.fields = number;
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

fn calls(calls: Option<&[OpenAiCall<'_>]>) -> Result<Vec<Call>, Error> {
    calls
        .unwrap_or_default()
        .iter()
        .map(|call| {
            Ok(Call {
                id: call.id.to_owned(),
                index: call.index,
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

/// The name for each call's ID. The last message with the ID decides, and within it the first call.
fn called_names<'j>(requests: &[OpenAiMessage<'j>]) -> HashMap<&'j str, &'j str> {
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
                images: Some(vec![image(&url.ok_or_else(invalid)?)?]),
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
                images: Some(vec![bytes]),
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

/// Puts a mark into the content for each image: in place of an `[img]`, or at the front.
fn tag_images(message: &mut Message, media: &mut usize) {
    let mut prefix = String::new();
    for _ in message.images.iter().flatten() {
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

impl Written {
    fn whole(number: usize) -> Written {
        Written {
            message: number,
            part: None,
            fields: number,
        }
    }
}

impl Message {
    /// Writes the message so that [`MessageRules::Either`] reads the same message back.
    pub(crate) fn to_json(&self) -> Json {
        let mut written = serde_json::Map::new();
        let mut write = |name: &str, value: Json| written.insert(name.to_owned(), value);
        write("role", self.role.as_str().into());
        write("content", self.content.as_str().into());
        if !self.thinking.is_empty() {
            write("thinking", self.thinking.as_str().into());
        }
        if let Some(images) = &self.images {
            let images = images
                .iter()
                .map(|image| Json::from(base64_text::text(image)));
            write("images", images.collect());
        }
        if !self.calls.is_empty() {
            write("tool_calls", self.calls.iter().map(Call::to_json).collect());
        }
        // A tool's result without a name keeps none: the reader does not look for one.
        if !self.tool_name.is_empty() || self.role == "tool" {
            write("tool_name", self.tool_name.as_str().into());
        }
        if !self.tool_call_id.is_empty() {
            write("tool_call_id", self.tool_call_id.as_str().into());
        }
        Json::Object(written)
    }
}

impl Call {
    fn to_json(&self) -> Json {
        let arguments = match &self.arguments {
            None => Json::from("null"),
            Some(arguments) => unmarshal::to_json(arguments),
        };
        serde_json::json!({
            "id": self.id,
            "function": {"index": self.index, "name": self.name, "arguments": arguments},
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(message: Json) -> String {
        messages(&[message], MessageRules::Either)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn what_is_written_again_is_read_as_what_it_is() {
        let call = json!({"id": "x", "function": {"index": 2, "name": "f", "arguments": {"b": [1.5, null, "é"], "a": 1e300}}});
        let written = [
            json!({"role": "User", "content": "a [img]", "images": ["AQI=", null], "tool_name": "n"}),
            json!({"role": "assistant", "thinking": "t", "tool_calls": [call, {"function": null}]}),
            json!({"role": "tool", "content": null, "tool_call_id": "x"}),
            json!(null),
        ];
        let native = read(&written, MessageRules::Native).unwrap();
        let write = |messages: &[Message]| messages.iter().map(Message::to_json).collect();
        let written_again: Vec<Json> = write(&native);
        let again = read(&written_again, MessageRules::Either).unwrap();
        assert_eq!(written_again, write(&again) as Vec<Json>);
        assert_eq!(native[2].tool_name, "");
        // By the other rules, the result gets its tool's name.
        let either = read(&written[1..3], MessageRules::Either);
        assert!(either.is_err(), "the second call has no arguments");
    }

    #[test]
    fn each_endpoint_is_as_strict_as_it_is() {
        let reads = |message: &Json, rules| read(std::slice::from_ref(message), rules).is_ok();
        for (message, native, openai, either) in [
            (json!({"role": "user", "content": "x"}), true, true, true),
            (json!({"role": "user", "content": null}), true, false, false),
            (
                json!({"role": "user", "content": [{"type": "text", "text": "x"}]}),
                false,
                true,
                true,
            ),
            (
                json!({"tool_calls": [{"function": {"arguments": {}}}]}),
                true,
                false,
                true,
            ),
            (
                json!({"tool_calls": [{"function": {"arguments": "{}"}}]}),
                false,
                true,
                true,
            ),
            (json!({"content": "", "images": ["?"]}), false, true, false),
            (
                json!({"content": "", "tool_calls": [{"function": {"arguments": null}}]}),
                true,
                false,
                false,
            ),
        ] {
            let found = [
                MessageRules::Native,
                MessageRules::OpenAi,
                MessageRules::Either,
            ]
            .map(|rules| reads(&message, rules));
            assert_eq!(found, [native, openai, either], "{message}");
        }
    }

    #[test]
    fn text_parts_become_messages_and_the_last_gets_the_calls() {
        let mapped = messages(
            &[json!({
                "role": "Assistant",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": "{}"}}],
            })],
            MessageRules::OpenAi,
        )
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
        ], MessageRules::Either)
        .unwrap();
        assert_eq!(mapped[1].tool_name, "f");
    }
}
