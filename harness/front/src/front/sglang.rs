//! SGLang 0.5.23: the endpoint `/v1/chat/completions`, for a model whose tokenizer transformers has.
//!
//! The server has its usual settings. It takes media if the template mentions any.

use rolecall_core::{CONTENT, Case, Dialect, Template};
use serde_json::{Map, Number, Value, json};

use super::change::{
    Change, ChangeKind, Request, ServedRules, Source, fill_tool, is_from, is_null_or, parts,
    refused, sort, text_of,
};
use super::definition::{FrontDefinition, PreparationRules};
use super::named;
use super::schema;
use super::transformers::OF_SERVERS;

pub(super) static FRONT: FrontDefinition = FrontDefinition {
    name: "sglang",
    description: "/v1/chat/completions of SGLang 0.5.23",
    dialect: Some(Dialect::Jinja),
    others: &[],
    choose: |template, _| Ok(first_of(template).unwrap_or(template)),
    alternative: |template| first_of(template).filter(|first| !std::ptr::eq(*first, template)),
    preparation: PreparationRules::Changes(ServedRules {
        changes: CHANGES,
        then: |case| OF_SERVERS.prepare(case),
        probes: false,
    }),
};

const PROTOCOL: &str = "sglang/srt/entrypoints/openai/protocol.py";
const SERVING: &str = "sglang/srt/entrypoints/openai/serving_chat.py";
const CONTENTS: &str = "sglang/srt/parser/jinja_template_utils.py";
const SCHEMAS: &str = "sglang/srt/function_call/utils.py";

const CHANGES: &[Change] = &[
    Change {
        name: "the shape of a request",
        sentence: "A request is refused if its messages, tools or options are not as in OpenAI's API, \
                   or if it has no messages. Roles that the API does not have are refused, too.",
        source: Source(PROTOCOL, "909"),
        kind: ChangeKind::Refused,
        make: check,
    },
    Change {
        name: "roles in small letters",
        sentence: "All roles but the user's may have capital letters, which become small.",
        source: Source(PROTOCOL, "772"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.each(|message| {
                if let Some(role) = message.get("role").and_then(Value::as_str) {
                    let small = role.to_lowercase();
                    message.insert("role".to_owned(), small.into());
                }
                Ok(())
            })
        },
    },
    Change {
        name: "other fields are lost",
        sentence: "The template sees only those fields of a message that SGLang knows: of a user's the \
                   role and the content, of others no `reasoning` but `reasoning_content`.",
        source: Source(PROTOCOL, "754"),
        kind: ChangeKind::Lost,
        make: |request| {
            request.each(|message| {
                let known = if is_from(message, "user") {
                    2
                } else {
                    FIELDS.len()
                };
                message.retain(|name, value| {
                    FIELDS.iter().take(known).any(|field| field == name)
                        && (!value.is_null() || name == CONTENT)
                });
                Ok(())
            })
        },
    },
    Change {
        name: "no content is an empty one",
        sentence: "A content that is null or missing becomes an empty text.",
        source: Source(SERVING, "2135"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.each(|message| {
                let content = message.entry(CONTENT).or_insert(Value::Null);
                if content.is_null() {
                    *content = "".into();
                }
                Ok(())
            })
        },
    },
    Change {
        name: "arguments become an object",
        sentence: "The arguments of a call, which clients send as text, become the object that the \
                   text says.",
        source: Source(SERVING, "184"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.arguments(|text| match serde_json::from_str(text) {
                Ok(Value::Object(mut read)) => {
                    read.values_mut().for_each(short_numbers);
                    Ok(Some(read.into()))
                }
                Ok(_) => refused("Assistant tool call function.arguments must be a JSON object."),
                Err(_) => refused("Assistant tool call function.arguments must be valid JSON."),
            })
        },
    },
    Change {
        name: "calls are filled in",
        sentence: "Every call has an `index`, which is null if nobody wrote it, and no fields that \
                   SGLang does not know.",
        source: Source(PROTOCOL, "743"),
        kind: ChangeKind::Invented,
        make: |request| {
            request.each(|message| {
                let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
                for call in calls.into_iter().flatten().filter_map(Value::as_object_mut) {
                    fill(call, &["id", "index", "type", "function"]);
                    if call["type"].is_null() {
                        call["type"] = "function".into();
                    }
                    if let Some(function) = call["function"].as_object_mut() {
                        fill(function, &["name", "arguments"]);
                    }
                }
                Ok(())
            })
        },
    },
    Change {
        name: "media become places",
        sentence: "An image, audio or video becomes a part without its data. A template of texts alone \
                   sees nothing of it, and a model without media refuses it.",
        source: Source(CONTENTS, "271"),
        kind: ChangeKind::Intended,
        make: places,
    },
    Change {
        name: "thoughts are lost",
        sentence: "The parts of a content that are thoughts are taken away.",
        source: Source(CONTENTS, "303"),
        kind: ChangeKind::Lost,
        make: |request| {
            request.each(|message| {
                if let Some(parts) = parts(message) {
                    let kinds = ["thinking", "reasoning"].map(Value::from);
                    parts.retain(|part| !kinds.contains(&part["type"]));
                }
                Ok(())
            })
        },
    },
    Change {
        name: "other fields of parts are lost",
        sentence: "A text in a content has no fields but its type and the text.",
        source: Source(CONTENTS, "310"),
        kind: ChangeKind::Lost,
        make: |request| {
            request.each(|message| {
                for part in parts(message).into_iter().flatten() {
                    if let Some(text) = text_of(part) {
                        *part = json!({"type": "text", "text": text});
                    }
                }
                Ok(())
            })
        },
    },
    Change {
        name: "parts become a text",
        sentence: "The texts of a content are joined by blanks: in a tool's result, and wherever the \
                   template takes no parts.",
        source: Source(CONTENTS, "336"),
        kind: ChangeKind::Intended,
        make: |request| {
            let is_for_parts = request.facts.is_for_parts;
            request.each(|message| {
                let is_tool = is_from(message, "tool");
                let Some(parts) = parts(message) else {
                    return Ok(());
                };
                let texts: Vec<&str> = parts.iter().filter_map(text_of).collect();
                if !is_for_parts || (is_tool && texts.len() == parts.len()) {
                    let joined = texts.join(" ");
                    message.insert(CONTENT.to_owned(), joined.into());
                }
                Ok(())
            })
        },
    },
    Change {
        name: "fields have an order",
        sentence: "Messages have their fields in SGLang's order.",
        source: Source(PROTOCOL, "754"),
        kind: ChangeKind::Intended,
        make: |request| {
            let is_for_parts = request.facts.is_for_parts;
            request.each(|message| {
                let is_last = is_for_parts && message.get(CONTENT).is_some_and(Value::is_array);
                sort(message, &FIELDS);
                if is_last && let Some(content) = message.shift_remove(CONTENT) {
                    message.insert(CONTENT.to_owned(), content);
                }
                Ok(())
            })
        },
    },
    Change {
        name: "the last message is continued behind",
        sentence: "The last message that should be continued is taken away; its text is written behind \
                   the prompt for a new one.",
        source: Source(SERVING, "542"),
        kind: ChangeKind::Intended,
        make: |request| {
            let is_asked = request.case.continue_final_message.take().is_some();
            if let Some(text) = last_answer(&mut request.case).filter(|_| is_asked) {
                request.behind = text;
                request.case.messages.pop();
            } else if is_asked {
                request.is_continued = true;
            }
            Ok(())
        },
    },
    Change {
        name: "the last answer becomes the user's",
        sentence: "If the conversation ends with an assistant's message, that becomes a user's, without \
                   its calls and its reasoning.",
        source: Source(SERVING, "548"),
        kind: ChangeKind::Lost,
        make: |request| {
            let is_new = request.behind.is_empty() && !request.is_continued;
            if let Some(text) = last_answer(&mut request.case).filter(|_| is_new) {
                request.case.messages.pop();
                let message = json!({"role": "user", "content": text});
                request.case.messages.push(message);
            }
            Ok(())
        },
    },
    Change {
        name: "a new message always begins",
        sentence: "The prompt always ends with the beginning of the assistant's message.",
        source: Source(SERVING, "2204"),
        kind: ChangeKind::Invented,
        make: |request| {
            request.case.add_generation_prompt = true;
            Ok(())
        },
    },
    Change {
        name: "documents are lost",
        sentence: "A request has no documents of its own; they may be among the variables.",
        source: Source(PROTOCOL, "909"),
        kind: ChangeKind::Lost,
        make: |request| {
            request.case.documents = None;
            Ok(())
        },
    },
    Change {
        name: "documents in variables",
        sentence: "A variable named `documents` is the argument of that name.",
        source: Source(SERVING, "2167"),
        kind: ChangeKind::Intended,
        make: |request| {
            let case = &mut request.case;
            match case.variables.shift_remove("documents") {
                Some(Value::Array(documents)) => case.documents = Some(documents),
                None | Some(Value::Null) => {}
                Some(_) => return refused("Documents should be a list of dicts"),
            }
            Ok(())
        },
    },
    Change {
        name: "tools only if they may be called",
        sentence: "With the `tool_choice` `none` the template sees no tools, and with a named one only \
                   that. An empty list of tools is none.",
        source: Source(SERVING, "1861"),
        kind: ChangeKind::Intended,
        make: choose_tools,
    },
    Change {
        name: "tools are filled in",
        sentence: "Every tool has a type, a description and parameters, which are null if nobody wrote \
                   them.",
        source: Source(PROTOCOL, "813"),
        kind: ChangeKind::Invented,
        make: |request| {
            request.each_tool(fill_tool);
            Ok(())
        },
    },
    Change {
        name: "a key that nobody wrote",
        sentence: "Every tool has the key `defer_loading` beside its function, mostly null.",
        source: Source(PROTOCOL, "849"),
        kind: ChangeKind::Invented,
        make: |request| {
            request.each_tool(|tool, function| {
                let deferred = tool.entry("defer_loading").or_insert(Value::Null).clone();
                if !deferred.is_null() && function.get("defer_loading").is_none_or(Value::is_null) {
                    function.insert("defer_loading".to_owned(), deferred);
                }
            });
            Ok(())
        },
    },
    Change {
        name: "other fields of tools are lost",
        sentence: "A tool has no fields but its type and the function's name, description, parameters \
                   and strict.",
        source: Source(PROTOCOL, "810"),
        kind: ChangeKind::Lost,
        make: |request| {
            request.each_tool(|tool, function| {
                tool.retain(|name, _| {
                    ["type", "function", "defer_loading"].contains(&name.as_str())
                });
                sort(tool, &["type", "function", "defer_loading"]);
                function.retain(|name, value| match name.as_str() {
                    "name" | "description" | "parameters" => true,
                    "strict" | "defer_loading" => !value.is_null(),
                    _ => false,
                });
            });
            Ok(())
        },
    },
    Change {
        name: "types of schemas are corrected",
        sentence: "Types of parameters that are not JSON Schema's, such as `int` and `varchar`, become \
                   those that are meant.",
        source: Source(SCHEMAS, "113"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.each_tool(|_, function| {
                if let Some(parameters) = function.get_mut("parameters") {
                    schema::correct_types(parameters);
                }
            });
            Ok(())
        },
    },
    Change {
        name: "wrong schemas are refused",
        sentence: "A tool whose parameters are no JSON Schema is refused.",
        source: Source(SERVING, "1171"),
        kind: ChangeKind::Refused,
        make: |request| {
            let tools = request.case.tools.iter().flatten();
            let mut parameters = tools.filter_map(|tool| tool.pointer("/function/parameters"));
            if parameters.all(|parameters| parameters.is_null() || schema::is_valid(parameters)) {
                return Ok(());
            }
            refused("Tool function has invalid 'parameters' schema")
        },
    },
    Change {
        name: "effort turns thinking on",
        sentence: "With `reasoning_effort`, `thinking` and `enable_thinking` are true, or false for \
                   `none`, unless the request sets them.",
        source: Source(PROTOCOL, "1148"),
        kind: ChangeKind::Intended,
        make: |request| {
            let low = request.facts.has_low_effort;
            let variables = &mut request.case.variables;
            let Some(effort) = variables.shift_remove("reasoning_effort") else {
                return Ok(());
            };
            if effort.is_null() {
                return Ok(());
            }
            let thinks = Value::from(effort != "none");
            for name in ["thinking", "enable_thinking"] {
                variables.entry(name).or_insert_with(|| thinks.clone());
            }
            if low && effort == "low" {
                variables.entry("low_effort").or_insert_with(|| true.into());
            }
            variables.insert("reasoning_effort".to_owned(), effort);
            Ok(())
        },
    },
    Change {
        name: "bare functions in a second try",
        sentence: "If the template fails with the tools, it gets once more only their functions.",
        source: Source(SERVING, "2210"),
        kind: ChangeKind::Intended,
        make: |request| {
            let bare = |tool: &Value| tool.get("function").unwrap_or(tool).clone();
            let tools = request.case.tools.as_ref();
            request.other_tools = tools.map(|tools| tools.iter().map(bare).collect());
            Ok(())
        },
    },
];

/// The fields of a message, in SGLang's order. A user's has the first two.
const FIELDS: [&str; 9] = [
    "role",
    CONTENT,
    "tool_call_id",
    "name",
    "phase",
    "reasoning_content",
    "tool_calls",
    "tools",
    "prefix",
];

const EFFORTS: [&str; 8] = [
    "none", "minimal", "low", "medium", "high", "xhigh", "ultra", "max",
];

/// The roles but the user's.
const ROLES: [&str; 7] = [
    "system",
    "assistant",
    "tool",
    "function",
    "developer",
    "latest_reminder",
    "root",
];

/// The first of a model's templates, which SGLang takes with or without tools
/// (`parser/template_manager.py`, `_select_named_template`).
fn first_of(template: &Template) -> Option<&Template> {
    let (name, first) = template.named.first()?;
    let own = named::default(template).ok().filter(|_| name == "default");
    Some(own.unwrap_or(first))
}

fn check(request: &mut Request) -> Result<(), String> {
    let case = &request.case;
    if case.messages.is_empty() {
        return refused("Messages cannot be empty.");
    }
    case.messages.iter().try_for_each(check_message)?;
    for tool in case.tools.iter().flatten() {
        check_tool(tool)?;
    }
    if case
        .continue_final_message
        .as_ref()
        .is_some_and(|field| field != CONTENT)
    {
        return refused("continue_final_message: Input should be a valid boolean");
    }
    let is_effort = match case.variables.get("reasoning_effort") {
        None | Some(Value::Null) => true,
        Some(Value::String(effort)) => EFFORTS.contains(&effort.as_str()),
        Some(effort) => effort
            .as_f64()
            .is_some_and(|effort| (0.0..=0.99).contains(&effort)),
    };
    if !is_effort {
        return refused("reasoning_effort: Input should be one of the efforts");
    }
    for name in [
        "tools",
        "add_generation_prompt",
        "chat_template",
        "conversation",
        "messages",
        "tokenize",
        "return_dict",
    ] {
        if case.variables.contains_key(name) {
            return refused(format!("got multiple values for keyword argument '{name}'"));
        }
    }
    if case.variables.get("continue_final_message") == Some(&true.into()) {
        return refused("continue_final_message and add_generation_prompt are not compatible.");
    }
    Ok(())
}

fn check_message(message: &Value) -> Result<(), String> {
    let Some(role) = message.get("role").and_then(Value::as_str) else {
        return refused("messages: role: 'role' must be a string");
    };
    let small = role.to_lowercase();
    let is_user = role == "user";
    if !is_user && !ROLES.contains(&small.as_str()) {
        return refused("messages: role: 'role' must be one of 'system', 'assistant', 'tool', …");
    }
    let is_right = match message.get(CONTENT) {
        Some(Value::String(_)) => true,
        None | Some(Value::Null) => !is_user,
        Some(Value::Array(parts)) => parts.iter().all(|part| is_part(part, small == "assistant")),
        Some(_) => false,
    };
    if !is_right {
        return refused("messages: content: Input should be a valid string");
    }
    if is_user {
        return Ok(());
    }
    for name in ["tool_call_id", "name", "reasoning_content"] {
        if message
            .get(name)
            .is_some_and(|value| !value.is_null() && !value.is_string())
        {
            return refused(format!("messages: {name}: Input should be a valid string"));
        }
    }
    match message.get("tool_calls") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(calls)) if calls.iter().all(is_call) => Ok(()),
        Some(_) => refused("messages: tool_calls: Input should be a valid list"),
    }?;
    let tools = message.get("tools").and_then(Value::as_array);
    tools.into_iter().flatten().try_for_each(check_tool)
}

fn is_call(call: &Value) -> bool {
    let function = call.get("function").and_then(Value::as_object);
    call.get("type").is_none_or(|kind| kind == "function")
        && is_null_or(call.get("id"), Value::is_string)
        && is_null_or(call.get("index"), Value::is_i64)
        && function.is_some_and(|function| {
            is_null_or(function.get("name"), Value::is_string)
                && is_null_or(function.get("arguments"), |value| {
                    value.is_string() || value.is_object()
                })
        })
}

fn check_tool(tool: &Value) -> Result<(), String> {
    let field = |name: &str| tool.pointer(&format!("/function/{name}"));
    let is_tool = tool.get("type").is_none_or(Value::is_string)
        && field("name").is_some_and(Value::is_string)
        && is_null_or(field("description"), Value::is_string)
        && is_null_or(field("strict"), Value::is_boolean);
    if is_tool {
        Ok(())
    } else {
        refused("tools: not a tool of OpenAI's API")
    }
}

/// Whether a part of a content is as in the API.
fn is_part(part: &Value, is_assistants: bool) -> bool {
    let is_text = |place: &str| part.pointer(place).is_some_and(Value::is_string);
    match part.get("type").and_then(Value::as_str) {
        Some("text") => is_text("/text"),
        Some(kind @ ("image_url" | "audio_url" | "video_url")) => is_text(&format!("/{kind}/url")),
        Some("input_audio") => is_text("/input_audio/data"),
        Some("tool_reference") => is_text("/name"),
        Some("thinking" | "reasoning") => is_assistants && is_text("/thinking") != is_text("/text"),
        _ => false,
    }
}

/// Leaves these fields, in this order, and makes the missing ones null.
fn fill(fields: &mut Map<String, Value>, names: &[&str]) {
    let filled = names.iter().map(|name| {
        let value = fields.shift_remove(*name).unwrap_or(Value::Null);
        ((*name).to_owned(), value)
    });
    *fields = filled.collect();
}

/// Makes a float of each integer that has more than 64 bits, as orjson does.
fn short_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if !number.is_i64() && !number.is_u64() => {
            let is_whole = !number.to_string().contains(['.', 'e', 'E']);
            if let Some(float) = number
                .as_f64()
                .filter(|_| is_whole)
                .and_then(Number::from_f64)
            {
                *number = float;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(short_numbers),
        Value::Object(fields) => fields.values_mut().for_each(short_numbers),
        _ => {}
    }
}

fn places(request: &mut Request) -> Result<(), String> {
    let is_for_media = request.facts.media.contains(&true);
    let is_for_parts = request.facts.is_for_parts;
    request.each(|message| {
        let Some(parts) = parts(message) else {
            return Ok(());
        };
        for part in &mut *parts {
            let kind = match part.get("type").and_then(Value::as_str) {
                Some("image_url") => "image",
                Some("audio_url" | "input_audio") => "audio",
                Some("video_url") => "video",
                _ => continue,
            };
            if !is_for_media {
                return refused(
                    "Model only supports text input; received unsupported content type",
                );
            }
            *part = json!({"type": kind});
        }
        if !is_for_parts {
            parts.retain(|part| text_of(part).is_some());
        }
        Ok(())
    })
}

/// The text of the last message if it is the assistant's.
fn last_answer(case: &mut Case) -> Option<String> {
    let last = case.messages.last()?.as_object()?;
    let text = last.get(CONTENT).filter(|_| is_from(last, "assistant"));
    text?.as_str().map(str::to_owned)
}

fn choose_tools(request: &mut Request) -> Result<(), String> {
    let case = &mut request.case;
    let choice = case
        .variables
        .shift_remove("tool_choice")
        .unwrap_or(Value::Null);
    let Some(tools) = case.tools.take().filter(|tools| !tools.is_empty()) else {
        return match choice {
            Value::Object(_) => {
                refused("Tools cannot be empty if tool choice is set to a specific tool.")
            }
            choice if choice == "required" => {
                refused("Tools cannot be empty if tool choice is set to required.")
            }
            _ => Ok(()),
        };
    };
    case.tools = match choice {
        Value::String(choice) if choice == "none" => None,
        Value::String(choice) if choice != "auto" && choice != "required" => {
            return refused("tool_choice: Input should be 'auto', 'required' or 'none'");
        }
        Value::Object(choice) => {
            let name = choice
                .get("function")
                .and_then(|function| function.get("name"))
                .cloned();
            let is_named = |tool: &Value| tool.pointer("/function/name") == name.as_ref();
            if !tools.iter().any(is_named) {
                return refused("Tool not found in tools list.");
            }
            Some(tools.into_iter().filter(is_named).collect())
        }
        _ => Some(tools),
    };
    Ok(())
}
