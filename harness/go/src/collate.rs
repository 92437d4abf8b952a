//! Converts a case into the values that Go templates see.
//!
//! Source: template/template.go, `collate` and `convertMessagesForTemplate`.

use crate::error::Error;
use crate::message::{self, Message, MessageRules};
use crate::tools;
use crate::values::{ListKind, Map, MapKind, StructKind, Text, Value};
use rolecall_core::Case;

/// What Ollama puts between two texts that it joins.
pub(crate) const BETWEEN: &str = "\n\n";

/// A case in Ollama's values.
#[derive(Debug)]
pub(crate) struct CollatedCase {
    /// All system texts, joined.
    pub(crate) system: Value,
    pub(crate) messages: Value,
    pub(crate) tools: Value,
    /// Role and content of each message, for templates that know no messages.
    pub(crate) turns: Vec<(String, Text)>,
}

impl CollatedCase {
    /// Converts a case, or returns the reason why Ollama would refuse it.
    pub(crate) fn new(case: &Case) -> Result<CollatedCase, Error> {
        let mapped = message::messages(&case.messages, MessageRules::Either)?;
        let tools = tools::tools(case.tools.as_deref())?;
        let (system, collated) = collate(mapped);
        let turns = collated
            .iter()
            .map(|message| {
                let content = Text::from(message.content.as_bytes());
                (message.role.clone(), content)
            })
            .collect();
        let messages = collated.iter().map(value).collect();
        Ok(CollatedCase {
            system: Value::text(&system),
            messages: Value::list(ListKind::Messages, messages),
            tools,
            turns,
        })
    }
}

/// Joins the system texts, and adjacent messages of one role. The first of them keeps its other
/// fields; the later ones keep only their content. Results of tools stay separate.
fn collate(messages: Vec<Message>) -> (String, Vec<Message>) {
    let system: Vec<&str> = messages
        .iter()
        .filter(|message| message.role == "system")
        .map(|message| message.content.as_str())
        .collect();
    let system = system.join(BETWEEN);
    let mut collated: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        match collated.last_mut() {
            Some(last) if are_one(last, &message) => {
                last.content.push_str(BETWEEN);
                last.content.push_str(&message.content);
            }
            _ => collated.push(message),
        }
    }
    (system, collated)
}

/// Whether two neighbours become one message.
pub(crate) fn are_one(one: &Message, next: &Message) -> bool {
    one.role == next.role && next.role != "tool"
}

fn value(message: &Message) -> Value {
    let images = match &message.images {
        None => Value::nil_list(ListKind::Images),
        Some(images) => {
            let bytes = |image: &Vec<u8>| Value::Bytes(Text::from(image.as_slice()));
            Value::list(ListKind::Images, images.iter().map(bytes).collect())
        }
    };
    let calls = if message.calls.is_empty() {
        Value::nil_list(ListKind::ToolCalls)
    } else {
        let calls = message.calls.iter().map(|call| {
            let arguments = Value::Map(Map {
                kind: MapKind::Arguments,
                entries: call.arguments.clone().map(std::sync::Arc::new),
            });
            let function = vec![Value::Int(call.index), Value::text(&call.name), arguments];
            let function = Value::structure(StructKind::ToolCallFunction, function);
            Value::structure(StructKind::ToolCall, vec![Value::text(&call.id), function])
        });
        Value::list(ListKind::ToolCalls, calls.collect())
    };
    Value::structure(
        StructKind::Message,
        vec![
            Value::text(&message.role),
            Value::text(&message.content),
            Value::text(&message.thinking),
            images,
            calls,
            Value::text(&message.tool_name),
            Value::text(&message.tool_call_id),
        ],
    )
}
