//! vLLM 0.33: the endpoint `/v1/chat/completions`, for a model whose tokenizer transformers has.
//!
//! The server has a parser for calls, and otherwise its usual settings. It takes the media that the
//! template mentions. A model of the type `gpt_oss` has no template there, so it is not meant here.

use rolecall_core::{CONTENT, Cut, Dialect};
use serde_json::{Map, Value, json};

use super::change::{
    Change, ChangeKind, Request, ServedRules, Source, fill_tool, is_from, is_null_or, parts,
    refused, sort, text_of,
};
use super::definition::{FrontDefinition, PreparationRules};
use super::named;
use super::transformers::OF_SERVERS;

pub(super) static FRONT: FrontDefinition = FrontDefinition {
    name: "vllm",
    description: "/v1/chat/completions of vLLM 0.33",
    dialect: Some(Dialect::Jinja),
    others: &[],
    choose: named::of_tokenizer,
    alternative: named::for_tools,
    preparation: PreparationRules::Changes(ServedRules {
        changes: CHANGES,
        then: |case| OF_SERVERS.prepare(case),
        probes: false,
    }),
};

const PROTOCOL: &str = "vllm/entrypoints/openai/chat_completion/protocol.py";
const MESSAGES: &str = "vllm/renderers/chat_utils/chat_message.py";
const TYPES: &str = "vllm/renderers/chat_utils/types.py";
const RENDERER: &str = "vllm/renderers/hf.py";
const TOOLS: &str = "vllm/entrypoints/generate/base/protocol.py";

const CHANGES: &[Change] = &[
    Change {
        name: "no empty list of tools",
        sentence: "An empty list of tools is refused.",
        source: Source(PROTOCOL, "981"),
        kind: ChangeKind::Refused,
        make: |request| match &request.case.tools {
            Some(tools) if tools.is_empty() => refused(
                "`tools` must not be an empty array. Either provide at least one tool or omit the \
                 field entirely.",
            ),
            _ => Ok(()),
        },
    },
    Change {
        name: "one end of the prompt",
        sentence: "A request that continues a message and asks for a new one is refused.",
        source: Source(PROTOCOL, "1063"),
        kind: ChangeKind::Refused,
        make: |request| {
            let case = &request.case;
            if case.continue_final_message.is_some() && case.add_generation_prompt {
                return refused(
                    "Cannot set both `continue_final_message` and `add_generation_prompt` to True.",
                );
            }
            Ok(())
        },
    },
    Change {
        name: "the shape of options",
        sentence: "Tools, documents and options are refused if they are not as in OpenAI's API and \
                   vLLM's additions to it.",
        source: Source(PROTOCOL, "235"),
        kind: ChangeKind::Refused,
        make: check_options,
    },
    Change {
        name: "the shape of messages",
        sentence: "A message is refused if its fields are not as in OpenAI's API, such as a call \
                   without an `id`, arguments that are not text, or a user's content that is null.",
        source: Source(TYPES, "316"),
        kind: ChangeKind::Refused,
        make: |request| request.case.messages.iter().try_for_each(check_message),
    },
    Change {
        name: "arguments in variables",
        sentence: "Variables named `tools` and `documents` are the arguments of that name; others are \
                   refused or have no effect.",
        source: Source(RENDERER, "803"),
        kind: ChangeKind::Intended,
        make: arguments_in_variables,
    },
    Change {
        name: "reasoning has two names",
        sentence: "The assistant's reasoning is under `reasoning` and `reasoning_content`, whichever \
                   was sent.",
        source: Source(MESSAGES, "657"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.each(|message| {
                let names = ["reasoning", "reasoning_content"];
                let sent = names.map(|name| message.shift_remove(name));
                let mut sent = sent.into_iter().flatten();
                if let Some(reasoning) = sent.find(|value| !value.is_null())
                    && is_from(message, "assistant")
                {
                    message.extend(names.map(|name| (name.to_owned(), reasoning.clone())));
                }
                Ok(())
            })
        },
    },
    Change {
        name: "other fields are lost",
        sentence: "The template sees only those fields of a message that vLLM knows for its role.",
        source: Source(MESSAGES, "646"),
        kind: ChangeKind::Lost,
        make: |request| {
            request.each(|message| {
                let [is_assistant, is_tool, is_developer] =
                    ["assistant", "tool", "developer"].map(|role| is_from(message, role));
                message.retain(|name, value| match name.as_str() {
                    "role" | CONTENT | "reasoning" | "reasoning_content" => true,
                    "tool_calls" => is_assistant && !value.is_null(),
                    "tool_call_id" => is_tool,
                    "name" | "task" => value.is_string(),
                    "tools" => is_developer,
                    _ => false,
                });
                Ok(())
            })
        },
    },
    Change {
        name: "no list of no calls",
        sentence: "An empty list of calls is taken away.",
        source: Source(MESSAGES, "713"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.each(|message| {
                let calls = message.get("tool_calls");
                if calls.is_some_and(|calls| *calls == json!([]) || *calls == json!({})) {
                    message.shift_remove("tool_calls");
                }
                Ok(())
            })
        },
    },
    Change {
        name: "arguments become an object",
        sentence: "The arguments of a call, which clients send as text, become the object that the \
                   text says.",
        source: Source(MESSAGES, "740"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.arguments(|text| {
                let text = if text.is_empty() { "{}" } else { text };
                let read: Option<Value> = serde_json::from_str(text).ok();
                Ok(read.filter(Value::is_object))
            })
        },
    },
    Change {
        name: "bad arguments are lost",
        sentence: "Arguments that are not the text of an object become an empty object.",
        source: Source(MESSAGES, "767"),
        kind: ChangeKind::Lost,
        make: |request| {
            request.arguments(|text| {
                let read: Option<Value> = serde_json::from_str(text).ok();
                let is_object = read.is_some_and(|value| value.is_object());
                Ok((!is_object).then(|| json!({})))
            })
        },
    },
    Change {
        name: "no content is an empty one",
        sentence: "A content that is null or missing becomes an empty text, or an empty list where \
                   the template loops over contents.",
        source: Source(MESSAGES, "632"),
        kind: ChangeKind::Intended,
        make: |request| {
            let lists = request.facts.loops_over_content;
            request.each(|message| {
                if message.get(CONTENT).is_none_or(Value::is_null) {
                    let empty = if lists { json!([]) } else { json!("") };
                    message.insert(CONTENT.to_owned(), empty);
                }
                Ok(())
            })
        },
    },
    Change {
        name: "texts become parts",
        sentence: "A text becomes a list of one part, because the template loops over contents.",
        source: Source(RENDERER, "596"),
        kind: ChangeKind::Intended,
        make: |request| {
            let lists = request.facts.loops_over_content;
            request.each(|message| {
                let lists = lists && !is_from(message, "tool");
                let content = message
                    .get_mut(CONTENT)
                    .filter(|content| content.is_string());
                if let Some(content) = content.filter(|_| lists) {
                    *content = json!([{"type": "text", "text": content.take()}]);
                }
                Ok(())
            })
        },
    },
    Change {
        name: "Claude Code's header is lost",
        sentence: "A system text loses its first line if that begins with \
                   `x-anthropic-billing-header`.",
        source: Source(MESSAGES, "578"),
        kind: ChangeKind::Lost,
        make: cut_header,
    },
    Change {
        name: "parts have one form",
        sentence: "A bare text, a refusal or a thought in a content becomes a part of the type `text`.",
        source: Source(MESSAGES, "480"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.each(|message| {
                parts(message).into_iter().flatten().for_each(plain);
                Ok(())
            })
        },
    },
    Change {
        name: "media become places",
        sentence: "An image, audio or video becomes a part without its data. A template of texts alone \
                   sees nothing of it, and a model without media refuses it.",
        source: Source(MESSAGES, "563"),
        kind: ChangeKind::Intended,
        make: places,
    },
    Change {
        name: "parts become a text",
        sentence: "The texts of a content are joined by line breaks: in a tool's result, and wherever \
                   the template does not loop over contents, which empty texts do not reach.",
        source: Source(MESSAGES, "419"),
        kind: ChangeKind::Intended,
        make: |request| {
            let lists = request.facts.loops_over_content;
            request.each(|message| {
                let is_tool = is_from(message, "tool");
                let Some(parts) = parts(message) else {
                    return Ok(());
                };
                let mut texts: Vec<&str> = parts.iter().filter_map(text_of).collect();
                if !lists {
                    // Only a part that stays an object counts without a text (line 402).
                    texts.retain(|text| !text.is_empty());
                }
                if !lists || (is_tool && texts.len() == parts.len()) {
                    let joined = texts.join("\n");
                    message.insert(CONTENT.to_owned(), joined.into());
                }
                Ok(())
            })
        },
    },
    Change {
        name: "developer becomes system",
        sentence: "A developer's message becomes a system message if the template does not name that \
                   role; then all system texts become one at the beginning.",
        source: Source(RENDERER, "604"),
        kind: ChangeKind::Intended,
        make: developers,
    },
    Change {
        name: "fields have an order",
        sentence: "Messages and calls have their fields in vLLM's order: a function's arguments come \
                   before its name.",
        source: Source(TYPES, "316"),
        kind: ChangeKind::Intended,
        make: order,
    },
    Change {
        name: "tools are filled in",
        sentence: "Every tool has a type, a description and parameters, which are null if nobody wrote \
                   them.",
        source: Source(TOOLS, "300"),
        kind: ChangeKind::Invented,
        make: |request| {
            request.each_tool(fill_tool);
            Ok(())
        },
    },
    Change {
        name: "other fields of tools are lost",
        sentence: "A tool has no fields but its type and the function's name, description, parameters \
                   and strict.",
        source: Source(TOOLS, "308"),
        kind: ChangeKind::Lost,
        make: |request| {
            request.each_tool(|tool, function| {
                tool.retain(|name, value| match name.as_str() {
                    "type" | "function" => true,
                    name => name == DEFERRED && !value.is_null(),
                });
                if let Some(deferred) = tool.get(DEFERRED) {
                    function.entry(DEFERRED).or_insert(deferred.clone());
                }
                function.retain(|name, value| match name.as_str() {
                    "strict" | DEFERRED => !value.is_null(),
                    name => FUNCTION.contains(&name),
                });
            });
            Ok(())
        },
    },
    Change {
        name: "tools have an order",
        sentence: "A tool has its type before its function, and that its name, description and \
                   parameters in this order.",
        source: Source(TOOLS, "298"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.each_tool(|tool, function| {
                sort(tool, &["type", "function", DEFERRED]);
                sort(function, &FUNCTION);
            });
            Ok(())
        },
    },
    Change {
        name: "effort turns thinking on",
        sentence: "With `reasoning_effort`, `enable_thinking` is true, or false for `none`, unless the \
                   request sets it.",
        source: Source(PROTOCOL, "666"),
        kind: ChangeKind::Intended,
        make: |request| {
            let variables = &mut request.case.variables;
            let effort = variables.get(EFFORT);
            if let Some(effort) = effort.filter(|effort| !effort.is_null()) {
                let thinks = effort != "none";
                variables
                    .entry("enable_thinking")
                    .or_insert_with(|| thinks.into());
            }
            Ok(())
        },
    },
    Change {
        name: "null and auto are lost",
        sentence: "A variable that is null or the text `auto` does not reach the template.",
        source: Source("vllm/renderers/params.py", "50"),
        kind: ChangeKind::Lost,
        make: |request| {
            let variables = &mut request.case.variables;
            variables.retain(|_, value| !value.is_null() && *value != "auto");
            Ok(())
        },
    },
    Change {
        name: "the choice of a tool stays outside",
        sentence: "`tool_choice` is no variable of the template. The tools stay even if it is `none`.",
        source: Source(PROTOCOL, "680"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.case.variables.shift_remove(CHOICE);
            Ok(())
        },
    },
];

const EFFORT: &str = "reasoning_effort";
const CHOICE: &str = "tool_choice";
const DEFERRED: &str = "defer_loading";

const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The fields of a function, in vLLM's order.
const FUNCTION: [&str; 5] = ["name", "description", "parameters", "strict", DEFERRED];

fn check_options(request: &mut Request) -> Result<(), String> {
    let case = &request.case;
    for (at, tool) in case.tools.iter().flatten().enumerate() {
        let function = tool.get("function");
        let field = |name| function.and_then(|function| function.get(name));
        if !(tool.get("type").is_none_or(|kind| kind == "function")
            && field("name").is_some_and(Value::is_string)
            && is_null_or(field("description"), Value::is_string)
            && is_null_or(field("parameters"), Value::is_object)
            && is_null_or(field("strict"), Value::is_boolean))
        {
            return refused(format!("tools.{at}: not a tool of OpenAI's API"));
        }
    }
    for (at, document) in case.documents.iter().flatten().enumerate() {
        let has_texts = |fields: &Map<_, _>| fields.values().all(Value::is_string);
        if !document.as_object().is_some_and(has_texts) {
            return refused(format!("documents.{at}: Input should be a valid string"));
        }
    }
    if case
        .continue_final_message
        .as_ref()
        .is_some_and(|field| field != CONTENT)
    {
        return refused("continue_final_message: Input should be a valid boolean");
    }
    let is_effort = |effort: &Value| effort.as_str().is_some_and(|one| EFFORTS.contains(&one));
    if !case
        .variables
        .get(EFFORT)
        .is_none_or(|effort| effort.is_null() || is_effort(effort))
    {
        return refused(
            "reasoning_effort: Input should be 'none', 'minimal', 'low', 'medium', 'high', 'xhigh' or \
             'max'",
        );
    }
    match case.variables.get(CHOICE) {
        None | Some(Value::Null) => Ok(()),
        Some(choice) if choice == "none" => Ok(()),
        Some(_) if case.tools.is_none() => {
            refused("When using `tool_choice`, `tools` must be set.")
        }
        Some(Value::Object(choice)) => {
            let name = choice
                .get("function")
                .and_then(|function| function.get("name"));
            let mut tools = case.tools.iter().flatten();
            if tools.any(|tool| name.is_some() && tool.pointer("/function/name") == name) {
                return Ok(());
            }
            refused(
                "The tool specified in `tool_choice` does not match any of the specified `tools`",
            )
        }
        Some(choice) if choice == "auto" || choice == "required" => Ok(()),
        Some(choice) => refused(format!("Invalid value for `tool_choice`: {choice}!")),
    }
}

fn check_message(message: &Value) -> Result<(), String> {
    let text = |name: &str| message.get(name).and_then(Value::as_str);
    let Some(role) = text("role") else {
        return refused("messages: role: Input should be a valid string");
    };
    let is_right = match message.get(CONTENT) {
        None | Some(Value::String(_)) => true,
        Some(Value::Null) => role == "assistant" || role == "function" && text("name").is_some(),
        Some(Value::Array(parts)) if parts.iter().any(is_part) => {
            parts.iter().all(|part| is_part(part) || is_text(part))
        }
        Some(Value::Array(parts)) => parts.is_empty(),
        Some(_) => false,
    };
    if !is_right {
        return refused("messages: content: Input should be a valid string");
    }
    let is_named = message.get("name").is_none_or(Value::is_string);
    let is_answer =
        role == "tool" && text("tool_call_id").is_some() && message.get(CONTENT).is_some();
    if !is_named && !is_answer {
        return refused("messages: name: Input should be a valid string");
    }
    let id = message.get("tool_call_id").filter(|_| role == "tool");
    if id.is_some_and(|id| !id.is_null() && !id.is_string()) {
        return refused("messages: tool_call_id: Input should be a valid string");
    }
    match message.get("tool_calls").filter(|_| role == "assistant") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(calls)) => calls.iter().try_for_each(check_call),
        Some(Value::Object(calls)) if calls.is_empty() => Ok(()),
        Some(_) => refused("messages: tool_calls: Input should be a valid list"),
    }
}

fn check_call(call: &Value) -> Result<(), String> {
    let is_text = |place| call.pointer(place).is_some_and(Value::is_string);
    if call.get("type").is_some_and(|kind| kind == "custom") {
        return refused("chat completions only support assistant tool_calls of type 'function'.");
    }
    if call.get("type").is_none_or(|kind| kind != "function") {
        return refused("tool_calls: type: Input should be 'function'");
    }
    for place in ["/id", "/function/name", "/function/arguments"] {
        if !is_text(place) {
            return refused(format!(
                "tool_calls: {}: Input should be a valid string",
                place.cut(1..)
            ));
        }
    }
    Ok(())
}

/// Whether a part of a content is as in the API.
fn is_part(part: &Value) -> bool {
    let is_text = |place: &str| part.pointer(place).is_some_and(Value::is_string);
    match part.get("type").and_then(Value::as_str) {
        Some(kind @ ("text" | "refusal" | "thinking")) => is_text(&format!("/{kind}")),
        Some(kind @ ("image_url" | "audio_url" | "video_url")) => is_text(&format!("/{kind}/url")),
        Some("input_audio") => is_text("/input_audio/data"),
        _ => false,
    }
}

/// Whether a part is a text in a form that is accepted beside others.
fn is_text(part: &Value) -> bool {
    let kind = part.get("type").and_then(Value::as_str);
    let has_text = part.get("text").is_some_and(Value::is_string);
    part.is_string() || has_text && matches!(kind, Some("input_text" | "output_text"))
}

fn arguments_in_variables(request: &mut Request) -> Result<(), String> {
    let case = &mut request.case;
    for name in ["chat_template", "tokenize", "conversation", "messages"] {
        if case.variables.contains_key(name) {
            return refused(format!(
                "Found unexpected chat template kwargs from request: {name}"
            ));
        }
    }
    let mut list = |name| match case.variables.shift_remove(name) {
        Some(Value::Array(items)) => Some(items),
        _ => None,
    };
    let (tools, documents) = (list("tools"), list("documents"));
    if tools.is_some() {
        case.tools = tools;
    }
    if case.documents.is_none() {
        case.documents = documents;
    }
    for name in ["add_generation_prompt", "continue_final_message"] {
        case.variables.shift_remove(name);
    }
    Ok(())
}

fn cut_header(request: &mut Request) -> Result<(), String> {
    let begins = |text: &&str| text.starts_with("x-anthropic-billing-header");
    request.each(|message| {
        let is_system = is_from(message, "system");
        match message.get_mut(CONTENT).filter(|_| is_system) {
            Some(Value::String(text)) if begins(&text.as_str()) => {
                *text = text
                    .split_once('\n')
                    .map_or("", |(_, rest)| rest)
                    .to_owned();
            }
            Some(Value::Array(parts)) => parts.retain_mut(|part| {
                let Some(text) = text_of(part).filter(begins) else {
                    return true;
                };
                let rest = text
                    .split_once('\n')
                    .map_or("", |(_, rest)| rest)
                    .to_owned();
                let is_left = !rest.is_empty();
                part["text"] = rest.into();
                is_left
            }),
            _ => {}
        }
        Ok(())
    })
}

/// Makes a part of the type `text` of a text in another form.
fn plain(part: &mut Value) {
    if part.is_string() {
        *part = json!({"type": "text", "text": part.take()});
    } else if is_text(part) {
        part["type"] = "text".into();
    }
    for kind in ["refusal", "thinking"] {
        if part.get("type").is_some_and(|own| own == kind) {
            *part = json!({"type": "text", "text": part.get(kind)});
        }
    }
    if let Some(part) = part.as_object_mut() {
        sort(part, &["type", "text"]);
    }
}

fn places(request: &mut Request) -> Result<(), String> {
    let lists = request.facts.loops_over_content;
    let [has_images, has_audio, has_video] = request.facts.media;
    request.each(|message| {
        let Some(parts) = parts(message) else {
            return Ok(());
        };
        for part in &mut *parts {
            let (is_known, kind) = match part.get("type").and_then(Value::as_str) {
                Some("image_url") => (has_images, "image"),
                Some("audio_url" | "input_audio") => (has_audio, "audio"),
                Some("video_url") => (has_video, "video"),
                _ => continue,
            };
            if !is_known {
                return refused("the model is not a multimodal model");
            }
            *part = json!({"type": kind});
        }
        if !lists {
            parts.retain(|part| text_of(part).is_some());
        }
        Ok(())
    })
}

fn developers(request: &mut Request) -> Result<(), String> {
    if request.facts.has_developer {
        return Ok(());
    }
    let mut has_any = false;
    request.each(|message| {
        if is_from(message, "developer") {
            has_any = true;
            message.insert("role".to_owned(), "system".into());
            message.shift_remove("tools");
        }
        Ok(())
    })?;
    let is_system = |message: &Value| message.get("role").is_some_and(|role| role == "system");
    let messages = &mut request.case.messages;
    let is_in_place = messages.iter().skip(1).all(|message| !is_system(message));
    if !has_any || is_in_place {
        return Ok(());
    }
    let texts = messages.iter().filter(|message| is_system(message));
    let texts = texts.filter_map(|message| match message.get(CONTENT)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(text_of).collect();
            Some(texts.join("\n"))
        }
        _ => None,
    });
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    messages.retain(|message| !is_system(message));
    messages.insert(0, json!({"role": "system", "content": texts.join("\n\n")}));
    Ok(())
}

fn order(request: &mut Request) -> Result<(), String> {
    request.each(|message| {
        if is_from(message, "developer") {
            message.entry("tools").or_insert(Value::Null);
        }
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten().filter_map(Value::as_object_mut) {
            if let Some(Value::Object(function)) = call.get_mut("function") {
                sort(function, &["arguments", "name"]);
            }
            sort(call, &["id", "function", "type"]);
        }
        sort(
            message,
            &[
                "role",
                CONTENT,
                "tool_calls",
                "reasoning",
                "reasoning_content",
                "tool_call_id",
                "name",
                "task",
                "tools",
            ],
        );
        Ok(())
    })
}
