//! What an assistant's message means: its reasoning, its content and its calls.
//!
//! A conversation and a reader may write the same message in several ways. This is the form in which
//! both are compared.

use serde_json::{Map, Value};

/// The fields that hold reasoning, the usual one first: templates and response templates know it
/// by several names.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meaning {
    /// The reasoning; empty if there is none.
    pub reasoning: String,
    /// The content; empty if there is none.
    pub content: String,
    pub calls: Vec<Call>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub name: String,
    /// The arguments. They are an object, or text that is not the JSON of one.
    pub arguments: Value,
}

impl Meaning {
    /// What a message means. None if a part of it has a form that no answer of a model has, such as
    /// an image, or a number as content.
    pub fn of(message: &Value) -> Option<Meaning> {
        let message = message.as_object()?;
        Some(Meaning {
            reasoning: reasoning(message)?,
            content: message.get("content").map_or(Some(String::new()), text)?,
            calls: calls(message.get("tool_calls"))?,
        })
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.reasoning.is_empty() && self.content.is_empty() && self.calls.is_empty()
    }
}

fn reasoning(message: &Map<String, Value>) -> Option<String> {
    let found = REASONING.iter().filter_map(|field| message.get(*field));
    let mut texts = found.map(text).collect::<Option<Vec<_>>>()?.into_iter();
    Some(texts.find(|text| !text.is_empty()).unwrap_or_default())
}

/// A text, or the texts of a list of parts.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => parts.iter().map(part).collect(),
        _ => None,
    }
}

fn part(part: &Value) -> Option<String> {
    match part {
        Value::String(text) => Some(text.clone()),
        Value::Object(part) => Some(part.get("text")?.as_str()?.to_owned()),
        _ => None,
    }
}

fn calls(calls: Option<&Value>) -> Option<Vec<Call>> {
    match calls {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(calls)) => calls.iter().map(call).collect(),
        Some(_) => None,
    }
}

fn call(call: &Value) -> Option<Call> {
    let call = call.get("function").unwrap_or(call);
    let arguments = match call.get("arguments") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(object @ Value::Object(_)) => object,
            _ => Value::String(text.clone()),
        },
        Some(arguments) => arguments.clone(),
    };
    Some(Call {
        name: call.get("name")?.as_str()?.to_owned(),
        arguments,
    })
}

/// Whether two JSON values are equal: the order of keys does not matter, and an integer is not a
/// number with a point.
pub fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => is_same_number(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_in_other = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|other| is_same(value, other))
            };
            one.len() == other.len() && one.iter().all(is_in_other)
        }
        _ => one == other,
    }
}

fn is_same_number(one: &serde_json::Number, other: &serde_json::Number) -> bool {
    // A number keeps its digits as they are written.
    let (one, other) = (one.to_string(), other.to_string());
    let is_integer = |text: &str| !text.contains(['.', 'e', 'E']);
    match (is_integer(&one), is_integer(&other)) {
        // Python has no negative zero among its integers.
        (true, true) => one.replace("-0", "0") == other.replace("-0", "0"),
        (false, false) => one.parse::<f64>() == other.parse::<f64>(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_message_is_written_in_several_ways() {
        let meant = Meaning::of(&json!({
            "role": "assistant",
            "content": [{"type": "text", "text": "a"}, "b"],
            "thinking": "t",
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}],
        }));
        let read = Meaning::of(&json!({
            "reasoning_content": "t",
            "content": "ab",
            "tool_calls": [{"name": "f", "arguments": {"x": 1}}],
        }));
        assert_eq!(meant, read);
        assert!(meant.is_some_and(|meant| !meant.is_empty()));
        for none in [
            json!({}),
            json!({"content": null, "tool_calls": []}),
            json!({"content": "", "reasoning": ""}),
        ] {
            assert!(Meaning::of(&none).unwrap().is_empty(), "{none}");
        }
        for unknown in [
            json!([]),
            json!({"content": 3}),
            json!({"content": [{"type": "image"}]}),
            json!({"tool_calls": [{"arguments": {}}]}),
        ] {
            assert_eq!(Meaning::of(&unknown), None, "{unknown}");
        }
    }

    #[test]
    fn types_of_numbers_count_and_the_order_of_keys_does_not() {
        let same = |one: &str, other: &str| {
            is_same(
                &serde_json::from_str(one).unwrap(),
                &serde_json::from_str(other).unwrap(),
            )
        };
        assert!(same(r#"{"a": 1, "b": [1.50]}"#, r#"{"b": [1.5], "a": 1}"#));
        assert!(same("1e2", "100.0"));
        assert!(same("-0", "0"));
        assert!(!same("1", "1.0"));
        assert!(!same("1", "\"1\""));
        assert!(!same(r#"{"a": 1}"#, r#"{"a": 1, "b": 1}"#));
        assert!(!same("9007199254740993", "9007199254740992"));
    }
}
