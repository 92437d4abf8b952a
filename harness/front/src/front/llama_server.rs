//! The server of llama.cpp, as the package xllamacpp 2026.10.11549 has it: the endpoint
//! `/v1/chat/completions`, for a model that takes no media.
//!
//! The server has its own engine for Jinja, so some templates print something else there even if they see
//! the same: the engine `llama.cpp` of `scripts/setup-engines` shows that. The prompt is that of a model
//! to which the server adds no tokens. For others it takes `bos_token` from the beginning of the prompt,
//! and adds its token.

use std::sync::Arc;

use rolecall_core::{CONTENT, Case, Dialect};
use serde_json::{Map, Number, Value, json};

use super::change::{
    Change, ChangeKind, Request, ServedRules, Source, is_from, parts, refused, text_of,
};
use super::definition::{FrontDefinition, PreparationRules};
use super::families::FamilyMessages;
use super::named;
use super::preparation::{Opening, Preparation};

pub(super) static FRONT: FrontDefinition = FrontDefinition {
    name: "llama-server",
    description: "/v1/chat/completions of llama.cpp's server of October 2026",
    dialect: Some(Dialect::Jinja),
    others: &[],
    choose: named::of_tokenizer,
    alternative: named::for_tools,
    preparation: PreparationRules::Changes(ServedRules {
        changes: CHANGES,
        then: |case| Preparation {
            case: Ok(Some(Arc::new(case.clone()))),
            ..Preparation::unchanged()
        },
        probes: true,
    }),
};

const SERVER: &str = "tools/server/server-common.cpp";
const CHAT: &str = "common/chat.cpp";
const CAPABILITIES: &str = "common/jinja/caps.cpp";
const VALUES: &str = "common/jinja/value.h";

const CHANGES: &[Change] = &[
    Change {
        name: "a template that renders",
        sentence: "The server does not start with a template that refuses a question.",
        source: Source("tools/server/server-context.cpp", "load_model"),
        kind: ChangeKind::Refused,
        make: |request| {
            if request.probes().starts {
                return Ok(());
            }
            refused("the server does not start with this template")
        },
    },
    Change {
        name: "the shape of messages",
        sentence: "A message is refused if it has no role, no content where it needs one, a part that is no \
                   text, a field that is null where a text is meant, or a call that is not as in OpenAI's \
                   API.",
        source: Source(CHAT, "common_chat_msgs_parse_oaicompat"),
        kind: ChangeKind::Refused,
        make: |request| request.case.messages.iter().try_for_each(check_message),
    },
    Change {
        name: "the shape of tools",
        sentence: "A tool is refused if it is no function with a name.",
        source: Source(CHAT, "common_chat_tools_parse_oaicompat"),
        kind: ChangeKind::Refused,
        make: |request| request.case.tools.iter().flatten().try_for_each(check_tool),
    },
    Change {
        name: "the choice of a tool stays outside",
        sentence: "`tool_choice` is no variable of the template, and an unknown one is refused. The tools \
                   stay even if it is `none`.",
        source: Source(CHAT, "common_chat_tool_choice_parse_oaicompat"),
        kind: ChangeKind::Intended,
        make: |request| match request.case.variables.shift_remove("tool_choice") {
            Some(Value::String(choice))
                if !["auto", "none", "required"].contains(&choice.as_str()) =>
            {
                refused(format!("Invalid tool_choice: {choice}"))
            }
            _ => Ok(()),
        },
    },
    Change {
        name: "an answer at the end is continued",
        sentence: "If the last message is an answer, the model continues it. Two of them at the end are \
                   refused, and an answer with calls.",
        source: Source(SERVER, "oaicompat_chat_params_parse"),
        kind: ChangeKind::Intended,
        make: find_continuation,
    },
    Change {
        name: "effort `none` switches thinking off",
        sentence: "`reasoning_effort` is also `reasoning_strength`; `none` makes `enable_thinking` false \
                   instead.",
        source: Source(SERVER, "oaicompat_chat_params_parse"),
        kind: ChangeKind::Intended,
        make: |request| {
            read_effort(request);
            Ok(())
        },
    },
    Change {
        name: "only known fields",
        sentence: "The template sees only those fields of a message that the server knows, and no empty \
                   ones. `reasoning` is not among them.",
        source: Source(CHAT, "common_chat_msg::to_json_oaicompat"),
        kind: ChangeKind::Lost,
        make: rebuild,
    },
    Change {
        name: "the last message stays outside",
        sentence: "The template does not see a message that is continued. The server writes it behind the \
                   prompt.",
        source: Source(CHAT, "common_chat_templates_apply"),
        kind: ChangeKind::Intended,
        make: |request| {
            take_last(request);
            Ok(())
        },
    },
    Change {
        name: "StepFun's texts are trimmed",
        sentence: "White space around texts and thoughts goes, for templates of StepFun.",
        source: Source(CHAT, "common_chat_templates_apply"),
        kind: ChangeKind::Intended,
        make: |request| {
            let is_trimmed = request.probes().is_trimmed;
            request.each(|message| {
                let content = message.get_mut(CONTENT);
                let contents = content.into_iter().flat_map(|content| match content {
                    Value::Array(parts) => parts
                        .iter_mut()
                        .filter_map(|part| part.get_mut("text"))
                        .collect(),
                    content => vec![content],
                });
                for content in contents.filter(|_| is_trimmed) {
                    trim(content);
                }
                if let Some(thought) = message.get_mut(THOUGHT).filter(|_| is_trimmed) {
                    trim(thought);
                }
                Ok(())
            })
        },
    },
    Change {
        name: "parts become a text",
        sentence: "The texts of a content are joined by line breaks if the template prints texts and no \
                   parts.",
        source: Source(CAPABILITIES, "caps_get"),
        kind: ChangeKind::Intended,
        make: |request| {
            let joins = request.probes().takes_texts && !request.probes().takes_parts;
            request.each(|message| {
                if let Some(parts) = parts(message).filter(|_| joins) {
                    let joined = join(parts, "\n");
                    message.insert(CONTENT.to_owned(), joined.into());
                }
                Ok(())
            })
        },
    },
    Change {
        name: "texts become parts",
        sentence: "A text becomes a list of one part if the template prints parts and no texts.",
        source: Source(CAPABILITIES, "caps_get"),
        kind: ChangeKind::Intended,
        make: |request| {
            let wraps = request.probes().takes_parts && !request.probes().takes_texts;
            request.each(|message| {
                let content = message
                    .get_mut(CONTENT)
                    .filter(|content| content.is_string());
                if let Some(content) = content.filter(|_| wraps) {
                    *content = json!([{"type": "text", "text": content.take()}]);
                }
                Ok(())
            })
        },
    },
    Change {
        name: "developer becomes system",
        sentence: "A developer's message becomes a system message, except for templates with channels.",
        source: Source(CHAT, "common_chat_templates_apply"),
        kind: ChangeKind::Intended,
        make: |request| {
            let keeps = request.probes().has_channels;
            request.each(|message| {
                if is_from(message, "developer") && !keeps {
                    message.insert("role".to_owned(), "system".into());
                }
                Ok(())
            })
        },
    },
    Change {
        name: "the system's text joins the next message",
        sentence: "A system message at the beginning becomes a part of the next message if the template \
                   ignores it.",
        source: Source(CHAT, "common_chat_templates_apply"),
        kind: ChangeKind::Intended,
        make: merge_system,
    },
    Change {
        name: "arguments become values",
        sentence: "Arguments of calls become what their text says, if the template reads them as an object. \
                   A text that is no JSON is refused then.",
        source: Source(CHAT, "common_chat_templates_apply"),
        kind: ChangeKind::Intended,
        make: |request| {
            if !request.probes().reads_arguments {
                return Ok(());
            }
            request.each(|message| {
                let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
                for call in calls.into_iter().flatten() {
                    let text = call.pointer("/function/arguments").and_then(Value::as_str);
                    let read: Value =
                        serde_json::from_str(text.unwrap_or_default()).map_err(|error| {
                            format!("Failed to parse tool call arguments as JSON: {error}")
                        })?;
                    if let Some(Value::Object(function)) = call.get_mut("function") {
                        function.insert("arguments".to_owned(), read);
                    }
                }
                Ok(())
            })
        },
    },
    Change {
        name: "tools have three fields",
        sentence: "A tool has its type, and a function with name, description and parameters. Everything \
                   else is lost, such as `strict`.",
        source: Source(CHAT, "common_chat_tools_parse_oaicompat"),
        kind: ChangeKind::Lost,
        make: |request| {
            request.each_tool(|tool, function| {
                tool.clear();
                tool.insert("type".to_owned(), "function".into());
                tool.insert("function".to_owned(), Value::Null);
                let given = std::mem::take(function);
                for name in FUNCTION {
                    function.extend(
                        given
                            .get(name)
                            .map(|value| (name.to_owned(), value.clone())),
                    );
                }
            });
            Ok(())
        },
    },
    Change {
        name: "tools are filled in",
        sentence: "A tool without a description or parameters gets empty ones.",
        source: Source(CHAT, "common_chat_tools_parse_oaicompat"),
        kind: ChangeKind::Invented,
        make: |request| {
            request.each_tool(|_, function| {
                for (name, empty) in FUNCTION.iter().zip([json!(""), json!(""), json!({})]) {
                    let given = function.shift_remove(*name);
                    function.insert((*name).to_owned(), given.unwrap_or(empty));
                }
            });
            Ok(())
        },
    },
    Change {
        name: "messages of some families",
        sentence: "For some families of templates, thoughts are under `thinking` or are parts, and results \
                   move to their calls.",
        source: Source("common/parsers/*.cpp", "common_chat_params_init_…"),
        kind: ChangeKind::Intended,
        make: adjust,
    },
    Change {
        name: "numbers are rewritten",
        sentence: "A number such as `2.0` or `1e3` is written as `2` or `1000`, and one of 2^63 or more is \
                   negative.",
        source: Source(VALUES, "value_float_t"),
        kind: ChangeKind::Lost,
        make: |request| {
            let Case {
                messages, tools, ..
            } = &mut request.case;
            messages
                .iter_mut()
                .chain(tools.iter_mut().flatten())
                .for_each(round);
            Ok(())
        },
    },
    Change {
        name: "thinking is on or off",
        sentence: "`enable_thinking` is true if the server finds that the template has thoughts, and false if \
                   not, unless the request sets it.",
        source: Source(SERVER, "oaicompat_chat_params_parse"),
        kind: ChangeKind::Invented,
        make: |request| {
            let thinks = request.probes().thinks;
            let variables = &mut request.case.variables;
            if variables.get(SWITCH).is_some_and(Value::is_string) {
                return refused(
                    "invalid type for \"enable_thinking\" (expected boolean, got string)",
                );
            }
            variables.entry(SWITCH).or_insert_with(|| thinks.into());
            Ok(())
        },
    },
    Change {
        name: "the date is known",
        sentence: "`date_string` and `datetime` are today's date, unless the request sets them.",
        source: Source(CHAT, "common_chat_template_direct_apply"),
        kind: ChangeKind::Invented,
        make: |request| {
            let now = request.case.now;
            let variables = &mut request.case.variables;
            for (name, form) in [("datetime", "%b %d %Y"), ("date_string", "%d %b %Y")] {
                variables
                    .entry(name)
                    .or_insert_with(|| now.strftime(form).into());
            }
            Ok(())
        },
    },
    Change {
        name: "tokens are always there",
        sentence: "A model without `bos_token` or `eos_token` has an empty one.",
        source: Source(CHAT, "common_chat_templates_init"),
        kind: ChangeKind::Intended,
        make: |request| {
            for name in request.probes().missing.iter().copied() {
                let variables = &mut request.case.variables;
                variables.entry(name).or_insert_with(|| "".into());
            }
            Ok(())
        },
    },
    Change {
        name: "only what is there",
        sentence: "Documents do not reach the template. Without tools `tools` is not defined, and without a \
                   new message `add_generation_prompt`. Of the special tokens it sees `bos_token` and \
                   `eos_token`.",
        source: Source(CHAT, "common_chat_template_direct_apply"),
        kind: ChangeKind::Lost,
        make: |request| {
            leave_out(request);
            Ok(())
        },
    },
];

const THOUGHT: &str = "reasoning_content";
const SWITCH: &str = "enable_thinking";
const FUNCTION: [&str; 3] = ["name", "description", "parameters"];

fn check_message(message: &Value) -> Result<(), String> {
    let role = message.get("role").and_then(Value::as_str);
    let has_calls = message.get("tool_calls").is_some();
    match message.get(CONTENT) {
        None if role == Some("assistant") && has_calls => {}
        None => return refused("All non-assistant messages must contain 'content'"),
        Some(Value::Null | Value::String(_)) => {}
        Some(Value::Array(parts)) => {
            if parts.iter().any(|part| text_of(part).is_none()) {
                return refused("unsupported content[].type");
            }
        }
        Some(_) => return refused("Expected 'content' to be a string or an array"),
    }
    if role.is_none() {
        return refused("Failed to parse messages: Missing 'role' in message");
    }
    for name in [THOUGHT, "name", "tool_call_id"] {
        if message.get(name).is_some_and(|value| !value.is_string()) {
            return refused(format!("Failed to parse messages: {name} must be string"));
        }
    }
    match message.get("tool_calls") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(calls)) => calls.iter().try_for_each(|call| {
            let function = &call["function"];
            let is_call = call["type"] == "function"
                && function["name"].is_string()
                && function.get("arguments").is_some()
                && call.get("id").is_none_or(Value::is_string);
            if is_call {
                return Ok(());
            }
            refused("Failed to parse messages: Missing tool call type")
        }),
        Some(_) => refused("Failed to parse messages: Missing tool call type"),
    }
}

fn check_tool(tool: &Value) -> Result<(), String> {
    let function = &tool["function"];
    let is_tool = tool["type"] == "function"
        && function["name"].is_string()
        && function.get("description").is_none_or(Value::is_string);
    if is_tool {
        return Ok(());
    }
    refused("Failed to parse tools: Missing tool type")
}

fn find_continuation(request: &mut Request) -> Result<(), String> {
    let case = &mut request.case;
    let asks = case.add_generation_prompt;
    let is_answer = |message: &Value| message["role"] == "assistant";
    let said = case.continue_final_message.take();
    let said = said.filter(|field| [CONTENT, THOUGHT].contains(&field.as_str()));
    let Some(last) = case.messages.last() else {
        return Ok(());
    };
    if said.is_none() {
        if !is_answer(last) {
            return Ok(());
        }
        if case.messages.iter().rev().nth(1).is_some_and(is_answer) {
            return refused("Cannot have 2 or more assistant messages at the end of the list.");
        }
    } else if asks {
        return refused(
            "Cannot set both add_generation_prompt and continue_final_message to true.",
        );
    }
    if is_answer(last)
        && last["tool_calls"]
            .as_array()
            .is_some_and(|calls| !calls.is_empty())
    {
        return refused("Cannot continue an assistant message that contains tool calls.");
    }
    let has_text = last[CONTENT].as_array().map_or_else(
        || last[CONTENT].as_str().is_some_and(|text| !text.is_empty()),
        |parts| !parts.is_empty(),
    );
    let thought = last[THOUGHT].as_str().unwrap_or_default();
    // Protocols send `true` for the content; then the message says what is meant.
    let field = said.filter(|field| field == THOUGHT).unwrap_or_else(|| {
        let is_thought = !thought.is_empty() && !has_text;
        (if is_thought { THOUGHT } else { CONTENT }).to_owned()
    });
    case.continue_final_message = Some(field);
    case.add_generation_prompt = false;
    Ok(())
}

fn read_effort(request: &mut Request) {
    let variables = &mut request.case.variables;
    match variables.get("reasoning_effort").and_then(Value::as_str) {
        Some("none") => {
            variables.shift_remove("reasoning_effort");
            variables.entry(SWITCH).or_insert(false.into());
        }
        Some(effort) if !effort.is_empty() => {
            let effort = effort.to_owned();
            variables
                .entry("reasoning_strength")
                .or_insert(effort.into());
        }
        _ => {
            variables.shift_remove("reasoning_effort");
        }
    }
    if let Some(Value::Bool(keeps)) = variables.get("preserve_reasoning").cloned() {
        for (name, value) in [
            ("preserve_thinking", keeps),
            ("clear_thinking", !keeps),
            ("truncate_history_thinking", !keeps),
            ("drop_thinking", !keeps),
        ] {
            variables.entry(name).or_insert(value.into());
        }
    }
}

/// Makes a message of the fields that the server knows.
fn rebuild(request: &mut Request) -> Result<(), String> {
    request.each(|message| {
        let given = std::mem::take(message);
        let is_set = |value: &&Value| match value {
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        };
        let field = |name: &str| given.get(name).filter(is_set).cloned();
        let role = given.get("role").cloned();
        message.extend(role.map(|role| ("role".to_owned(), role)));
        let content = field(CONTENT).map(|content| match content {
            Value::Array(parts) => {
                let texts = parts.iter().filter_map(text_of);
                texts
                    .map(|text| json!({"type": "text", "text": text}))
                    .collect()
            }
            text => text,
        });
        message.insert(CONTENT.to_owned(), content.unwrap_or("".into()));
        for name in [THOUGHT, "name", "tool_call_id"] {
            message.extend(field(name).map(|value| (name.to_owned(), value)));
        }
        if let Some(Value::Array(calls)) = field("tool_calls") {
            let calls = calls.iter().map(|call| {
                let function = &call["function"];
                let arguments = &function["arguments"];
                let text = arguments
                    .as_str()
                    .map_or_else(|| arguments.to_string(), str::to_owned);
                let mut made = json!({"type": "function", "function":
                    {"name": function["name"], "arguments": text}});
                if let (Some(id), Some(made)) =
                    (call.get("id").filter(is_set), made.as_object_mut())
                {
                    made.insert("id".to_owned(), id.clone());
                }
                made
            });
            message.insert("tool_calls".to_owned(), calls.collect());
        }
        Ok(())
    })
}

fn trim(text: &mut Value) {
    if let Value::String(text) = text {
        *text = text
            .trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b')
            .to_owned();
    }
}

fn join(parts: &[Value], between: &str) -> String {
    let mut joined = String::new();
    for text in parts.iter().filter_map(text_of) {
        // An empty text at the beginning leaves no line.
        if !joined.is_empty() {
            joined.push_str(between);
        }
        joined.push_str(text);
    }
    joined
}

/// Takes the message that is continued out of the conversation, and writes its text behind the prompt.
fn take_last(request: &mut Request) {
    let Some(field) = request.case.continue_final_message.take() else {
        return;
    };
    let Some(last) = request.case.messages.pop() else {
        return;
    };
    let content = last.get(CONTENT).unwrap_or(&Value::Null);
    let text = match content {
        Value::Array(parts) => join(parts, "\n\n"),
        text => text.as_str().unwrap_or_default().to_owned(),
    };
    let thought = last
        .get(THOUGHT)
        .and_then(Value::as_str)
        .unwrap_or_default();
    let is_empty = text.is_empty()
        && thought.is_empty()
        && ["name", "tool_call_id"]
            .iter()
            .all(|name| last.get(*name).is_none());
    if is_empty && content.as_array().is_none_or(Vec::is_empty) {
        return;
    }
    let is_thought = field == THOUGHT;
    let probes = request.probes();
    let (own, thoughts) = match probes.family {
        Some(family) => (
            family.opening.is_none(),
            family.thought.map(|[start, end]| {
                let is_bare =
                    family.messages == FamilyMessages::SortedResults && thought.is_empty();
                [if is_bare { "" } else { start }, end].map(str::to_owned)
            }),
        ),
        None => (
            true,
            Some(probes.thought.clone()).filter(|tags| !tags[0].is_empty()),
        ),
    };
    let opening = probes
        .family
        .and_then(|family| family.opening)
        .unwrap_or_default();
    let mut behind = opening.to_owned();
    let mut until = None;
    if let Some([start, end]) = thoughts {
        behind.push_str(&start);
        behind.push_str(thought);
        if !is_thought {
            behind.push_str(&end);
        }
        until = Some(start);
    }
    if !is_thought {
        behind.push_str(&text);
    }
    request.behind = behind;
    request.opening = own.then_some(Opening { until });
}

fn merge_system(request: &mut Request) -> Result<(), String> {
    let takes_system = request.probes().takes_system;
    let messages = &mut request.case.messages;
    let is_first = messages
        .first()
        .is_some_and(|message| message["role"] == "system");
    if takes_system || !is_first {
        return Ok(());
    }
    let system = messages.remove(0);
    let Some(next) = messages.first_mut() else {
        return Ok(());
    };
    let system = system.get(CONTENT).and_then(Value::as_str);
    let (Some(system), Some(text)) = (system, next[CONTENT].as_str()) else {
        return refused("type must be string, but is array");
    };
    next[CONTENT] = format!("{system}\n{text}").into();
    Ok(())
}

fn adjust(request: &mut Request) -> Result<(), String> {
    let Some(family) = request.probes().family else {
        return Ok(());
    };
    match family.messages {
        FamilyMessages::Same => Ok(()),
        FamilyMessages::SortedResults => {
            sort_results(&mut request.case.messages);
            Ok(())
        }
        FamilyMessages::ResultsWithCalls => {
            results_with_calls(&mut request.case.messages);
            Ok(())
        }
        FamilyMessages::ThoughtParts => request.each(|message| {
            thought_part(message);
            Ok(())
        }),
        kind => request.each(|message| {
            if let Some(thought) = message.get(THOUGHT).cloned() {
                message.insert("thinking".to_owned(), thought);
                if kind == FamilyMessages::ThinkingAndNoText && message.contains_key("tool_calls") {
                    message.shift_remove(CONTENT);
                }
            }
            Ok(())
        }),
    }
}

/// Makes the thought and the text of a message parts of its content (`ministral3.cpp`).
fn thought_part(message: &mut Map<String, Value>) {
    if !is_from(message, "system") && !is_from(message, "assistant") {
        return;
    }
    let mut content = Vec::new();
    if let Some(thought) = message.shift_remove(THOUGHT) {
        content.push(json!({"type": "thinking", "thinking": thought}));
    }
    match message.get(CONTENT).cloned() {
        Some(Value::Array(parts)) => content.extend(parts),
        Some(text) => content.push(json!({"type": "text", "text": text})),
        None => {}
    }
    message.insert(CONTENT.to_owned(), content.into());
}

/// Puts the results between two answers into the order of their calls (`deepseek.cpp`).
fn sort_results(messages: &mut [Value]) {
    let mut order: Vec<Value> = Vec::new();
    for turn in messages.chunk_by_mut(|one, other| is_turn(one) == is_turn(other)) {
        if !turn.first().is_some_and(is_turn) {
            let mut calls = turn
                .iter()
                .filter_map(|message| message["tool_calls"].as_array());
            if let Some(calls) = calls.next_back() {
                order = calls.iter().map(|call| call["id"].clone()).collect();
            }
            continue;
        }
        let is_result = |message: &&Value| message["role"] == "tool";
        let place = |result: &Value| {
            let mut ids = order.iter();
            ids.position(|id| *id == result["tool_call_id"])
                .unwrap_or(0)
        };
        let mut results: Vec<Value> = turn.iter().filter(is_result).cloned().collect();
        results.sort_by_key(place);
        let places = turn.iter_mut().filter(|message| message["role"] == "tool");
        for (message, result) in places.zip(results) {
            *message = result;
        }
    }
}

/// Whether a message is in a turn of the user: a question or a result.
fn is_turn(message: &Value) -> bool {
    message["role"] == "user" || message["role"] == "tool"
}

/// Moves results into the message with their calls, and the answer that follows (`gemma4.cpp`).
fn results_with_calls(messages: &mut Vec<Value>) {
    let mut rest = std::mem::take(messages).into_iter().peekable();
    while let Some(message) = rest.next() {
        let Some(calls) = message.get("tool_calls").cloned() else {
            messages.push(message);
            continue;
        };
        let mut made = Map::new();
        made.insert("role".to_owned(), "assistant".into());
        let mut results = Vec::new();
        while let Some(result) = rest.next_if(|message| message["role"] == "tool") {
            let response = match result.get(CONTENT) {
                Some(Value::String(text)) => {
                    serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())
                }
                content => content.cloned().unwrap_or_default(),
            };
            let call = calls.get(results.len());
            let name = call.and_then(|call| call.pointer("/function/name"));
            let id = result.get("tool_call_id").cloned().unwrap_or("".into());
            let name = match name {
                None | Some(Value::Null) => id,
                Some(name) if name == "" => id,
                Some(name) => name.clone(),
            };
            results.push(json!({"name": name, "response": response}));
        }
        made.insert("tool_calls".to_owned(), calls);
        if !results.is_empty() {
            made.insert("tool_responses".to_owned(), results.into());
        }
        let answers = |message: &Value| {
            let content = &message[CONTENT];
            message["role"] == "assistant"
                && message.get("tool_calls").is_none()
                && (content.is_array() || content.as_str().is_some_and(|text| !text.is_empty()))
        };
        if let Some(answer) = rest.next_if(answers) {
            let content = answer.get(CONTENT).cloned();
            made.insert(CONTENT.to_owned(), content.unwrap_or_default());
        }
        if let Some(thought) = message.get(THOUGHT) {
            made.insert(THOUGHT.to_owned(), thought.clone());
        }
        messages.push(made.into());
    }
}

/// Writes whole numbers without a point, wherever they are in a value.
fn round(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        Value::Number(number) => {
            let float = number.as_f64().filter(|float| float.fract() == 0.0);
            let is_float = number.to_string().contains(['.', 'e', 'E']);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_possible_wrap,
                reason = "a float is whole and below 2^53, and the server lets a large number wrap"
            )]
            if let Some(float) = float.filter(|float| is_float && float.abs() < 1e15) {
                *number = Number::from(float as i64);
            } else if let Some(large) = number.as_u64().filter(|_| !number.is_i64()) {
                *number = Number::from(large as i64);
            }
        }
        _ => {}
    }
}

fn leave_out(request: &mut Request) {
    let probes = request.probes();
    let mut undefined = probes.hidden.clone();
    let has_turns = probes
        .family
        .is_some_and(|family| family.opening == Some(""));
    let Case {
        tools,
        documents,
        add_generation_prompt,
        ..
    } = &mut request.case;
    *documents = None;
    let named = |name: &str| name.to_owned();
    undefined.push(named("documents"));
    if tools.as_ref().is_none_or(Vec::is_empty) {
        undefined.push(named("tools"));
    }
    if !*add_generation_prompt {
        undefined.push(named("add_generation_prompt"));
    }
    if request.opening.is_some() {
        let mut beside = request.case.clone();
        beside.add_generation_prompt = true;
        beside.undefined.clone_from(&undefined);
        beside
            .undefined
            .retain(|name| name != "add_generation_prompt");
        request.beside = Some(beside);
    }
    // The handler of Gemma 4 opens a turn if the template does not.
    if has_turns && (request.case.add_generation_prompt || !request.behind.is_empty()) {
        request.turn = Some(("<turn|>\n", "<|turn>model\n"));
    }
    request.case.undefined = undefined;
}
