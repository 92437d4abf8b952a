//! What clients of chats send: of OpenAI's chat, of Anthropic's messages, of Ollama. Their messages
//! differ in few fields and parts, so that one reader knows them all.
//!
//! Sources: OpenAI's API reference (chat completions, 2025), Anthropic's (messages, version
//! 2023-06-01), and Ollama's `docs/api.md` (0.33).

use serde_json::{Map, Value};

use super::record::{Record, Wrong, call, content, image, object};

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
    for key in ["system", "instructions"] {
        let text = match record.take(key) {
            Some(Value::String(text)) if !text.is_empty() => text.into(),
            Some(Value::Array(blocks)) => content(blocks),
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

/// Messages as templates know them.
pub(super) fn messages(list: Vec<Value>, record: &mut Record) -> Result<Vec<Value>, Wrong> {
    let mut all = Vec::with_capacity(list.len());
    for (number, value) in (1..).zip(list) {
        let Value::Object(mut message) = value else {
            return Err(format!("message {number} is not an object"));
        };
        if !message.contains_key("role") {
            return Err(format!("message {number} has no `role`"));
        }
        rename(&mut message, record);
        call_of_old(&mut message, record);
        images(&mut message, record);
        all.extend(apart(message, record));
    }
    Ok(all)
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
    if let Some(Value::Object(old)) = message.get_mut("function_call").map(Value::take) {
        let [name, arguments] = ["name", "arguments"].map(|key| old.get(key).cloned());
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
    if message["role"] == "function" {
        message["role"] = "tool".into();
        record.became.insert("the role `function` became `tool`");
    }
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
    let (mut results, mut calls, mut reasoning) = (Vec::new(), Vec::new(), Vec::new());
    let mut kept = Vec::new();
    for mut part in std::mem::take(parts) {
        let kind = part["type"].as_str().unwrap_or_default().to_owned();
        match kind.as_str() {
            "tool_use" => calls.push(call(
                part.get_mut("id").map(Value::take),
                part["name"].take(),
                part["input"].take(),
            )),
            "tool_result" => results.push(result(part)),
            "thinking" => reasoning.extend(part["thinking"].as_str().map(str::to_owned)),
            "image" if part.get("source").is_some() => kept.push(of_source(&part["source"])),
            known if PARTS.contains(&known) => kept.push(part),
            other => {
                record.skipped.insert(format!("parts `{other}`"));
            }
        }
    }
    record
        .became
        .insert("parts of Anthropic's became calls, results, reasoning and images");
    let is_only_results = kept.is_empty() && calls.is_empty() && !results.is_empty();
    message.insert("content".to_owned(), content(kept));
    if !reasoning.is_empty() {
        message.insert("reasoning_content".to_owned(), reasoning.join("\n").into());
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    if !is_only_results {
        results.push(message.into());
    }
    results
}

/// A part with a result as a message of its own.
fn result(mut part: Value) -> Value {
    let said = match part["content"].take() {
        Value::Array(mut parts) => {
            for part in &mut parts {
                if let (true, Some(source)) = (part["type"] == "image", part.get("source")) {
                    *part = of_source(source);
                }
            }
            content(parts)
        }
        Value::Null => "".into(),
        other => other,
    };
    let id = part["tool_use_id"].take();
    object([
        ("role", "tool".into()),
        ("tool_call_id", id),
        ("content", said),
    ])
    .into()
}

/// An image of Anthropic's.
fn of_source(source: &Value) -> Value {
    let text = |key: &str| source[key].as_str().unwrap_or_default();
    match source.get("url") {
        Some(url) => image(url.clone()),
        None => image(format!(
            "data:{};base64,{}",
            text("media_type"),
            text("data")
        )),
    }
}

/// Tools as templates know them: Anthropic's have their schema under another name, those of the
/// Responses API and the old `functions` lie flat.
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
    for mut tool in all {
        let kind = tool["type"].as_str().unwrap_or("function").to_owned();
        // What a server does itself no template sees.
        if !matches!(kind.as_str(), "function" | "custom") {
            record.skipped.insert(format!("tools `{kind}`"));
            continue;
        }
        if tool.get("name").is_some() && tool.get("function").is_none() {
            let fields = tool.as_object_mut().map(std::mem::take).unwrap_or_default();
            let fields = fields.into_iter().filter(|(key, _)| key != "type");
            let fields = fields.map(|(key, value)| match key.as_str() {
                "input_schema" => ("parameters".to_owned(), value),
                _ => (key, value),
            });
            let function: Map<String, Value> = fields.collect();
            tool = object([("type", "function".into()), ("function", function.into())]).into();
            record.became.insert("flat tools became functions");
        }
        read.push(tool);
    }
    record.fields.insert("tools".to_owned(), read.into());
    Ok(())
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
