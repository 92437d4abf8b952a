//! What clients of chats send: of OpenAI's chat, of Anthropic's messages, of Ollama. Their messages
//! differ in few fields and parts, so that one reader knows them all.
//!
//! Sources: OpenAI's API reference (chat completions, 2025), Anthropic's (messages, version
//! 2023-06-01), and Ollama's `docs/api.md` (0.33).

use serde_json::{Map, Value};

use super::record::{Record, Wrong, call, content, image, is_nothing, object, text};
use super::sharegpt;

/// The parts of messages that are read as they are: those of OpenAI and of Hugging Face.
const PARTS: [&str; 9] = [
    "text",
    "image_url",
    "image",
    "input_audio",
    "audio",
    "audio_url",
    "video",
    "video_url",
    "file",
];

/// The instructions that come beside the messages, as a message.
pub(super) fn instructions(record: &mut Record) -> Result<Option<Value>, Wrong> {
    // Anthropic's key, and that of OpenAI's Responses API.
    for key in ["system", "instructions"] {
        let text = match record.take(key) {
            Some(Value::String(text)) if !text.is_empty() => text.into(),
            Some(Value::Array(blocks)) => joined(blocks, record),
            None | Some(Value::String(_)) => continue,
            Some(_) => return Err(format!("`{key}` is neither a text nor a list")),
        };
        record
            .became
            .insert("instructions beside the messages became a system message");
        let message = object([("role", "system".into()), ("content", text)]);
        return Ok(Some(message.into()));
    }
    Ok(None)
}

/// The content of blocks. Servers join those that are all texts, with nothing between them.
fn joined(blocks: Vec<Value>, record: &mut Record) -> Value {
    if blocks.len() < 2 || !blocks.iter().all(|block| block["type"] == "text") {
        return content(blocks);
    }
    let mut all = String::new();
    for block in blocks {
        if let Value::Object(mut block) = block {
            all.extend(block.get("text").and_then(Value::as_str));
            block.retain(|key, _| !matches!(key.as_str(), "type" | "text"));
            record.leave(&block, "of blocks of `system`");
        }
    }
    record
        .became
        .insert("the texts of several blocks of instructions were joined");
    all.into()
}

/// Messages as templates know them.
pub(super) fn messages(list: Vec<Value>, record: &mut Record) -> Result<Vec<Value>, Wrong> {
    let mut all = Vec::with_capacity(list.len());
    for (number, value) in (1..).zip(list) {
        let Value::Object(mut message) = value else {
            return Err(format!("message {number} is not an object"));
        };
        // In this order: a turn has no role before, and the content is complete once images are parts
        // of it.
        sharegpt::turn(&mut message, number, record)?;
        if !message.contains_key("role") {
            return Err(format!("message {number} has no `role`"));
        }
        rename(&mut message, record);
        call_of_old(&mut message, record);
        calls(&mut message, number, record)?;
        images(&mut message, record);
        check(&message, number)?;
        let invoked = invocations(&mut message, record);
        all.extend(apart(message, record));
        all.extend(invoked);
    }
    Ok(all)
}

/// Checks that a message says something as templates know it: a text, parts, calls or reasoning.
/// Null is a content that says nothing, unless a field of another shape says it.
fn check(message: &Map<String, Value>, number: usize) -> Result<(), Wrong> {
    let is = |key: &str| message.get(key).is_some_and(|value| !is_nothing(value));
    let kind = match message.get("content") {
        Some(Value::String(_)) => return Ok(()),
        Some(Value::Array(parts)) => {
            let is_known = |part: &Value| part.is_string() || part["type"].is_string();
            let Some(at) = parts.iter().position(|part| !is_known(part)) else {
                return Ok(());
            };
            let part = at + 1;
            return Err(format!("part {part} of message {number} has no `type`"));
        }
        None | Some(Value::Null) => {
            let mut elsewhere = ["value", "text", "parts"].iter().filter(|key| is(key));
            let others = ["tool_calls", "reasoning_content", "reasoning", "audio"];
            return match elsewhere.next() {
                Some(key) => Err(format!(
                    "message {number} has no `content`: what it says is under `{key}`"
                )),
                None if message.contains_key("content") || others.iter().any(|key| is(key)) => {
                    Ok(())
                }
                None => Err(format!("message {number} has no `content`")),
            };
        }
        Some(Value::Object(_)) => "an object",
        Some(Value::Bool(_) | Value::Number(_)) => "no text",
    };
    Err(format!(
        "the content of message {number} is {kind}, where a text or a list of parts is expected"
    ))
}

/// Checks that each call has a name, where templates look for it. Inspect has the name in the place of
/// the function.
fn calls(
    message: &mut Map<String, Value>,
    number: usize,
    record: &mut Record,
) -> Result<(), Wrong> {
    let Some(calls) = message
        .get_mut("tool_calls")
        .filter(|calls| !calls.is_null())
    else {
        return Ok(());
    };
    let Value::Array(calls) = calls else {
        return Err(format!("`tool_calls` of message {number} is not a list"));
    };
    for (at, made) in (1..).zip(calls) {
        if let (true, Value::Object(fields)) = (made["function"].is_string(), &mut *made) {
            let mut take = |key| fields.shift_remove(key);
            let (id, name, arguments) = (take("id"), take("function"), take("arguments"));
            take("type");
            record.leave(&std::mem::take(fields), "of calls");
            *made = call(id, name.unwrap_or_default(), arguments.unwrap_or_default());
            record.became.insert("calls got a `function` with a name");
        }
        if !["/function/name", "/name"]
            .iter()
            .any(|name| made.pointer(name).is_some_and(Value::is_string))
        {
            return Err(format!(
                "call {at} of message {number} has no `function` with a `name`"
            ));
        }
    }
    Ok(())
}

/// Gives fields of Ollama's messages the names that templates use.
fn rename(message: &mut Map<String, Value>, record: &mut Record) {
    let names = [
        ("tool_name", "name", "`tool_name` became `name`"),
        (
            "thinking",
            "reasoning_content",
            "`thinking` became `reasoning_content`",
        ),
    ];
    for (from, to, words) in names {
        if message.contains_key(from) && !message.contains_key(to) {
            let renamed = std::mem::take(message).into_iter();
            let renamed = renamed.map(|(key, value)| {
                let name = if key == from { to.to_owned() } else { key };
                (name, value)
            });
            *message = renamed.collect();
            record.became.insert(words);
        }
    }
}

/// The one call that a message could have before there were lists of them, and its result.
fn call_of_old(message: &mut Map<String, Value>, record: &mut Record) {
    if let Some(Value::Object(mut old)) = message.get_mut("function_call").map(Value::take) {
        let [name, arguments] = ["name", "arguments"].map(|key| old.shift_remove(key));
        record.leave(&old, "of `function_call`");
        let new = call(
            None,
            name.unwrap_or_default(),
            arguments.unwrap_or_default(),
        );
        message.shift_remove("function_call");
        message.insert("tool_calls".to_owned(), vec![new].into());
        record
            .became
            .insert("`function_call` became a call of a tool");
    }
    if let (true, Some(refusal)) = (
        message.get("content").is_none_or(Value::is_null),
        message.get_mut("refusal").filter(|text| text.is_string()),
    ) {
        let refusal = refusal.take();
        message.insert("content".to_owned(), refusal);
        message.shift_remove("refusal");
        record.became.insert("`refusal` became the content");
    }
    if message["role"] == "function" {
        message["role"] = "tool".into();
        record.became.insert("the role `function` became `tool`");
    }
}

/// Makes calls of the invocations that Vercel's AI SDK (4) keeps beside a text. Returns their results.
fn invocations(message: &mut Map<String, Value>, record: &mut Record) -> Vec<Value> {
    let Some(Value::Array(list)) = message.shift_remove("toolInvocations") else {
        return Vec::new();
    };
    let parts = list.into_iter().flat_map(|one| {
        let kinds = match one.get("result") {
            Some(_) => ["tool-call", "tool-result"].as_slice(),
            None => &["tool-call"],
        };
        let part = |kind: &&str| {
            let mut part = one.as_object().cloned().unwrap_or_default();
            part.insert("type".to_owned(), (*kind).into());
            Value::Object(part)
        };
        kinds.iter().map(part).collect::<Vec<_>>()
    });
    let parts = Parts::of(parts.collect(), record);
    message.insert("tool_calls".to_owned(), parts.calls.into());
    parts.results
}

/// Images that Ollama's clients put beside the text, as parts before it.
fn images(message: &mut Map<String, Value>, record: &mut Record) {
    if !message.get("images").is_some_and(Value::is_array) {
        return;
    }
    let Some(Value::Array(images)) = message.shift_remove("images") else {
        return;
    };
    let images = images.into_iter().map(|one| match one.as_str() {
        // Ollama's images are base64 alone, without a media type.
        Some(data) => image(format!("data:;base64,{data}")),
        None => one,
    });
    let mut parts: Vec<Value> = images.collect();
    match message.get_mut("content").map(Value::take) {
        Some(Value::Array(others)) => parts.extend(others),
        Some(Value::String(text)) => {
            parts.push(object([("type", "text".into()), ("text", text.into())]).into());
        }
        _ => {}
    }
    message.insert("content".to_owned(), parts.into());
    record.became.insert("`images` became parts");
}

/// The messages of a message whose parts may be calls, results and reasoning, as Anthropic's are.
/// Results come before what the user says beside them.
fn apart(mut message: Map<String, Value>, record: &mut Record) -> Vec<Value> {
    let is_other = |part: &Value| match part["type"].as_str() {
        Some("image") => part.get("source").is_some(),
        Some(kind) => !PARTS.contains(&kind),
        None => false,
    };
    let parts = message.get_mut("content").and_then(Value::as_array_mut);
    let Some(parts) = parts.filter(|parts| parts.iter().any(is_other)) else {
        return vec![message.into()];
    };
    let parts = Parts::of(std::mem::take(parts), record);
    let mut results = parts.results;
    let is_only_results = parts.kept.is_empty() && parts.calls.is_empty() && !results.is_empty();
    message.insert("content".to_owned(), content(parts.kept));
    if !parts.reasoning.is_empty() {
        let reasoning = parts.reasoning.join("\n");
        message.insert("reasoning_content".to_owned(), reasoning.into());
    }
    if !parts.calls.is_empty() {
        message.insert("tool_calls".to_owned(), parts.calls.into());
    }
    // A user's message with nothing but results would leave an empty message after them.
    if !is_only_results {
        results.push(message.into());
    }
    results
}

/// What the parts of a message are for templates.
#[derive(Default)]
struct Parts {
    kept: Vec<Value>,
    results: Vec<Value>,
    calls: Vec<Value>,
    reasoning: Vec<String>,
}

impl Parts {
    fn of(list: Vec<Value>, record: &mut Record) -> Parts {
        let mut all = Parts::default();
        for part in list {
            let kind = part.get("type").and_then(Value::as_str);
            let kind = kind.unwrap_or_default().to_owned();
            let is_sourced = part.get("source").is_some_and(Value::is_object);
            let mut part = match part {
                Value::Object(part) if !PARTS.contains(&kind.as_str()) || is_sourced => part,
                known => {
                    all.kept.push(known);
                    continue;
                }
            };
            let is_url = part.get("image_url").is_some_and(Value::is_string);
            let mut take = |key: &str| part.shift_remove(key).unwrap_or_default();
            take("type");
            let is_anthropics = match kind.as_str() {
                "input_text" | "output_text" => {
                    all.kept.push(text(take("text")));
                    false
                }
                "refusal" => {
                    all.kept.push(text(take("refusal")));
                    false
                }
                "input_image" if is_url => {
                    all.kept.push(image(take("image_url")));
                    false
                }
                "tool_use" => {
                    let id = Some(take("id")).filter(|id| !id.is_null());
                    all.calls.push(call(id, take("name"), take("input")));
                    true
                }
                "tool_result" => {
                    let said = match take("content") {
                        Value::Array(parts) => content(Parts::of(parts, record).kept),
                        Value::Null => "".into(),
                        other => other,
                    };
                    let id = take("tool_use_id");
                    all.results.push(result(id, said));
                    true
                }
                "tool-call" | "tool-result" => {
                    let (id, name) = (take("toolCallId"), take("toolName"));
                    let [input, args, output, said] =
                        ["input", "args", "output", "result"].map(take);
                    if kind == "tool-call" && !name.is_string() {
                        record.skipped.insert("calls without a name".to_owned());
                        continue;
                    }
                    if kind == "tool-call" {
                        let arguments = if input.is_null() { args } else { input };
                        all.calls.push(call(Some(id), name, arguments));
                    } else {
                        let mut said = if output.is_null() { said } else { output };
                        // A result of version 5 says of what type it is.
                        if said.get("type").is_some_and(Value::is_string)
                            && let Some(value) = said.get_mut("value")
                        {
                            said = value.take();
                        }
                        let said = if said.is_string() {
                            said
                        } else {
                            said.to_string().into()
                        };
                        all.results.push(result(id, said));
                    }
                    record
                        .became
                        .insert("calls and results of Vercel's AI SDK became those of tools");
                    continue;
                }
                "thinking" | "reasoning" => {
                    let said = [take(&kind), take("text")];
                    all.reasoning
                        .extend(said.iter().find_map(Value::as_str).map(str::to_owned));
                    kind == "thinking"
                }
                "image" => {
                    all.kept.push(image(address(&take("source"))));
                    true
                }
                "document" if is_sourced => {
                    all.kept.extend(document(take("source"), record));
                    true
                }
                other => {
                    record.skipped.insert(format!("parts `{other}`"));
                    continue;
                }
            };
            if is_anthropics {
                record
                    .became
                    .insert("parts of Anthropic's became calls, results, reasoning and images");
            }
            record.leave(&part, &format!("of parts `{kind}`"));
        }
        all
    }
}

/// The parts of a document of Anthropic's: its text, its own parts, or a file.
fn document(mut source: Value, record: &mut Record) -> Vec<Value> {
    match source.get("type").and_then(Value::as_str) {
        Some("text") => {
            let data = source.get_mut("data").map(Value::take);
            vec![text(data.unwrap_or_default())]
        }
        Some("content") => match source.get_mut("content").map(Value::take) {
            Some(Value::Array(parts)) => Parts::of(parts, record).kept,
            said => vec![text(said.unwrap_or_default())],
        },
        _ => {
            let file = object([("file_data", address(&source))]);
            vec![object([("type", "file".into()), ("file", file.into())]).into()]
        }
    }
}

/// The result of a call as a message.
pub(super) fn result(id: Value, said: Value) -> Value {
    object([
        ("role", "tool".into()),
        ("tool_call_id", id),
        ("content", said),
    ])
    .into()
}

/// Where an image or a file of Anthropic's is, or what it has.
fn address(source: &Value) -> Value {
    let text = |key: &str| source[key].as_str().unwrap_or_default();
    source
        .get("url")
        .cloned()
        .unwrap_or_else(|| format!("data:{};base64,{}", text("media_type"), text("data")).into())
}

/// The fields of a function that templates know. The schema has other names elsewhere: Anthropic's,
/// that of MCP, and Gemini's.
const FUNCTION: [(&str, &str); 9] = [
    ("name", "name"),
    ("description", "description"),
    ("parameters", "parameters"),
    ("input_schema", "parameters"),
    ("inputSchema", "parameters"),
    ("parametersJsonSchema", "parameters"),
    ("strict", "strict"),
    ("return", "return"),
    ("returns", "returns"),
];

/// Tools as templates know them. Those of Anthropic, of MCP, of the Responses API and of the old
/// `functions` lie flat, and Gemini's are in lists.
pub(super) fn tools(record: &mut Record) -> Result<(), Wrong> {
    let mut all = None;
    for key in ["tools", "functions"] {
        if let Some(list) = record.take_list(key)? {
            if !list.iter().all(Value::is_object) {
                return Err(format!("`{key}` is not a list of objects"));
            }
            all.get_or_insert_with(Vec::new).extend(list);
        }
    }
    let Some(all) = all else {
        return Ok(());
    };
    let mut read = Vec::new();
    for (number, mut tool) in (1..).zip(all) {
        let is_list = |key: &&str| tool.get(*key).is_some_and(Value::is_array);
        let declared = ["function_declarations", "functionDeclarations"];
        let declared = declared.into_iter().find(is_list);
        let declared = declared.and_then(|key| tool.get_mut(key));
        if let Some(Value::Array(declared)) = declared.map(Value::take) {
            for mut one in declared {
                lower_types(&mut one);
                read.push(flat(one, number, record)?);
            }
            record
                .became
                .insert("`function_declarations` became functions");
            continue;
        }
        let kind = tool.get("type").and_then(Value::as_str);
        let kind = kind.unwrap_or("function").to_owned();
        let has = |key| tool.get(key).is_some_and(Value::is_object);
        match kind.as_str() {
            "function" if has("function") => read.push(tool),
            "function" => read.push(flat(tool, number, record)?),
            "custom" if has("input_schema") => {
                read.push(flat(tool, number, record)?);
            }
            "custom" => {
                return Err(format!(
                    "tool {number} is a custom one, which takes a text: templates know only functions \
                     with a schema"
                ));
            }
            // What a server does itself no template sees.
            _ => {
                record.skipped.insert(format!("tools `{kind}`"));
            }
        }
    }
    record.fields.insert("tools".to_owned(), read.into());
    Ok(())
}

/// A flat tool as a function.
fn flat(mut tool: Value, number: usize, record: &mut Record) -> Result<Value, Wrong> {
    if !tool.get("name").is_some_and(Value::is_string) {
        return Err(format!("tool {number} has no `function` and no `name`"));
    }
    let mut fields = tool.as_object_mut().map(std::mem::take).unwrap_or_default();
    fields.shift_remove("type");
    let mut function = Map::new();
    for (key, name) in FUNCTION {
        if let Some(value) = fields.shift_remove(key) {
            function.insert(name.to_owned(), value);
        }
    }
    record.leave(&fields, "of tools");
    record.became.insert("flat tools became functions");
    Ok(object([("type", "function".into()), ("function", function.into())]).into())
}

/// Writes the types of a schema of Gemini's as JSON Schema does: in small letters.
fn lower_types(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(kind) if key == "type" => *kind = kind.to_lowercase(),
                    value => lower_types(value),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(lower_types),
        _ => {}
    }
}

/// The fields that say how to render, and the variables of templates.
pub(super) fn settings(record: &mut Record) -> Result<(), Wrong> {
    if let Some(documents) = record.take_list("documents")? {
        if !documents.iter().all(Value::is_object) {
            return Err("`documents` is not a list of objects".to_owned());
        }
        record
            .fields
            .insert("documents".to_owned(), documents.into());
    }
    for key in ["add_generation_prompt", "continue_final_message"] {
        match record.take(key) {
            None => {}
            Some(value @ Value::Bool(_)) => {
                record.fields.insert(key.to_owned(), value);
            }
            Some(_) => return Err(format!("`{key}` is neither true nor false")),
        }
    }
    // vLLM and others take the variables of a template there.
    for (key, words) in [
        (
            "chat_template_kwargs",
            "`chat_template_kwargs` became variables",
        ),
        ("variables", ""),
    ] {
        match record.take(key) {
            None => {}
            Some(Value::Object(variables)) => {
                if !words.is_empty() && !variables.is_empty() {
                    record.became.insert(words);
                }
                for (name, value) in variables {
                    record.set_variable(&name, value);
                }
            }
            Some(_) => return Err(format!("`{key}` is not an object")),
        }
    }
    // A case keeps the fields of a request that concern the prompt among its variables.
    for key in ["reasoning_effort", "tool_choice"] {
        if let Some(value) = record.take(key) {
            record.set_variable(key, value);
        }
    }
    if let Some(think) = record.take("think") {
        // Ollama takes true, false, or a level such as `high`.
        let name = if think.is_boolean() {
            "enable_thinking"
        } else {
            "reasoning_effort"
        };
        record.set_variable(name, think);
        record.became.insert("`think` became a variable");
    }
    Ok(())
}
