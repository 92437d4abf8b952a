//! What is in a message, and how a message is named.

use rolecall_core::transcript::encode_char;
use rolecall_core::{CONTENT, Case};
use serde_json::Value;

/// The kinds of parts that are no texts, and what each is.
pub(super) const MEDIA: [(&str, &str); 7] = [
    ("image", "an image"),
    ("image_url", "an image"),
    ("audio", "a recording"),
    ("audio_url", "a recording"),
    ("input_audio", "a recording"),
    ("video", "a video"),
    ("video_url", "a video"),
];

/// The calls of a message, in order.
pub(super) fn calls_of(message: &Value) -> impl Iterator<Item = &Value> {
    message["tool_calls"].as_array().into_iter().flatten()
}

/// The name of a call's function, or of a tool.
pub(super) fn name_of(function: &Value) -> &str {
    let name = function["function"].get("name").or(function.get("name"));
    name.and_then(Value::as_str).unwrap_or_default()
}

/// Whether a conversation has a tool of this name.
pub(super) fn has_tool(case: &Case, name: &str) -> bool {
    let mut tools = case.tools.iter().flatten();
    tools.any(|tool| name_of(tool) == name)
}

/// The texts of a message's content.
pub(super) fn texts_of(message: &Value) -> Vec<&str> {
    match &message[CONTENT] {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str().or(part.as_str()))
            .collect(),
        _ => Vec::new(),
    }
}

pub(super) fn in_message(at: usize, text: &str) -> String {
    format!("message {}: {}", at + 1, shown(text))
}

/// The number of the message that [`in_message`] names, alone or after a field of it. What a text says of
/// messages is none.
pub(super) fn number_in(words: &str) -> Option<usize> {
    let (before, after) = words.split_once("message ")?;
    let is_named = before.is_empty() || before.starts_with('`') && before.ends_with("` of ");
    let after = Some(after).filter(|_| is_named)?;
    after
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// The beginning of a text, on one line.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.trim().lines().next().unwrap_or_default();
    let mut start = String::new();
    line.chars()
        .take(MOST)
        .for_each(|c| encode_char(c, &mut start));
    let more = if line.chars().nth(MOST).is_none() && line == text.trim() {
        ""
    } else {
        "…"
    };
    format!("`{start}{more}`")
}
