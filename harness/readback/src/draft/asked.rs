//! Answers of made-up words, as a template writes them.

use rolecall_model::Case;
use serde_json::{Value, json};

use crate::written::{Writer, Written};

/// The question.
pub(super) const QUESTION: &str = "askquill";
/// The text of an answer.
pub(super) const TEXT: &str = "saidquill";
/// The thoughts before it.
pub(super) const THOUGHTS: &str = "mindquill";
/// The tool that is called.
pub(super) const TOOL: &str = "find_quill";
/// The names of its arguments.
pub(super) const KEYS: [&str; 2] = ["zonequill", "areaquill"];
/// The values of the arguments: two for each call.
pub(super) const VALUES: [&str; 4] = ["northquill", "southquill", "eastquill", "westquill"];
/// The IDs of the calls.
pub(super) const CALL_IDS: [&str; 2] = ["callquil1", "callquil2"];

/// A prompt, and the answer that the template writes behind it.
pub(super) struct Seen {
    pub(super) prompt: String,
    pub(super) text: String,
}

/// What a template writes of an answer.
pub(super) fn seen(writer: &Writer<'_, '_>, mut message: Value) -> Result<Seen, Option<Written>> {
    message["role"] = "assistant".into();
    let with_calls = !message["tool_calls"].is_null();
    let mut case = Case::from_messages(vec![json!({"role": "user", "content": QUESTION}), message]);
    case.tools = with_calls.then(|| vec![tool()]);
    match writer.answers(&case).last().map(|answer| answer.outcome) {
        Some(Written::Text { prompt, text, .. }) => Ok(Seen { prompt, text }),
        other => Err(other),
    }
}

pub(super) fn tool() -> Value {
    json!({"type": "function", "function": {
        "name": TOOL,
        "description": "A tool.",
        "parameters": {"type": "object", "properties": {
            KEYS[0]: {"type": "string", "description": "the first"},
            KEYS[1]: {"type": "string", "description": "the second"},
        }},
    }})
}

pub(super) fn calling(arguments: &[Value]) -> Value {
    let calls = arguments.iter().zip(CALL_IDS);
    let calls = calls.map(|(arguments, id)| {
        let function = json!({"name": TOOL, "arguments": arguments});
        json!({"id": id, "type": "function", "function": function})
    });
    json!({"content": "", "tool_calls": calls.collect::<Vec<_>>()})
}
