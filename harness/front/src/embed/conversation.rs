//! A conversation as JSON: the form of Rolecall's case files, with transformers' names.

use crate::front::Front;
use rolecall_core::{CONTENT, Case, Dialect, Moment};
use serde_json::{Map, Value};

use crate::embed::fields::Fields;

/// Fields of a case that say something about the case itself. No template sees them.
const ABOUT_THE_CASE: [&str; 3] = ["about", "flags", "dialects"];

/// Reads a conversation for a template of a dialect. Also returns the front, if the conversation names
/// one. `now` says what the clock shows if the conversation does not. It is a JSON text: a list of
/// messages, or an object. The object has `messages`; all other fields are optional:
///
/// - `tools`, `documents`: lists
/// - `add_generation_prompt`: true if it is absent, unless a message is continued
/// - `continue_final_message`: true, or the name of the field to continue
/// - `variables`, also as `chat_template_kwargs`: further variables of the template
/// - `now`: the time that the template's clock shows, such as `2026-01-02T03:04:05+01:00`
/// - `front`: the application around the template, if it is not the template's own
///
/// # Errors
///
/// The text is no conversation. The error says why in words.
pub fn read_conversation(
    text: &str,
    dialect: Dialect,
    now: impl FnOnce() -> Moment,
) -> Result<(Case, Option<Front>), String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("the conversation is not JSON: {error}"))?;
    let fields = match value {
        Value::Object(fields) => fields,
        Value::Array(_) => Map::from_iter([("messages".to_owned(), value)]),
        _ => return Err("the conversation is neither an object nor a list of messages".to_owned()),
    };
    let mut fields = Fields::new("the conversation", fields);
    for name in ABOUT_THE_CASE {
        fields.take(name);
    }
    let messages = fields.list("messages")?;
    let mut case =
        Case::from_messages(messages.ok_or("the conversation has no `messages`".to_owned())?);
    case.tools = fields.list("tools")?;
    case.documents = fields.list("documents")?;
    case.continue_final_message = match fields.take("continue_final_message") {
        None | Some(Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(CONTENT.to_owned()),
        Some(Value::String(field)) => Some(field),
        Some(_) => {
            return Err(
                "`continue_final_message` is not true, false or the name of a field".into(),
            );
        }
    };
    let opens = fields.boolean("add_generation_prompt")?;
    case.add_generation_prompt = opens.unwrap_or(case.continue_final_message.is_none());
    case.variables = fields.object("variables")?;
    // The name in requests to vLLM and others.
    case.variables
        .extend(fields.object("chat_template_kwargs")?);
    case.now = match fields.text("now")? {
        Some(now) => now.parse().map_err(|error| format!("`now`: {error}"))?,
        None => now(),
    };
    let front = fields.front(dialect)?;
    fields.finish()?;
    Ok((case, front))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, dialect: Dialect) -> Result<(Case, Option<Front>), String> {
        read_conversation(text, dialect, Moment::default)
    }

    fn error(text: &str) -> String {
        read(text, Dialect::Jinja).unwrap_err()
    }

    #[test]
    fn a_conversation_is_read_with_every_digit_and_in_order() {
        let text = r#"{"messages": [{"b": 1.0, "a": 123456789012345678901234567890}],
            "tools": null, "continue_final_message": true, "now": "2026-07-09T23:04:05+02:00",
            "variables": {"x": 1}, "chat_template_kwargs": {"y": 2}, "front": "raw", "about": "A case."}"#;
        let (case, front) = read(text, Dialect::Jinja).unwrap();
        assert_eq!(
            case.messages[0].to_string(),
            r#"{"b":1.0,"a":123456789012345678901234567890}"#
        );
        assert_eq!(case.continue_final_message.as_deref(), Some(CONTENT));
        assert!(!case.add_generation_prompt && case.tools.is_none());
        assert_eq!(case.variables.len(), 2);
        assert_eq!(case.now.strftime("%d %H:%M"), "09 23:04");
        assert_eq!(front, Some(Front::Raw));
        let (case, front) = read("[]", Dialect::Go).unwrap();
        assert!(case.add_generation_prompt && case.messages.is_empty() && front.is_none());
        assert_eq!(case.now, Moment::default());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("", "the conversation is not JSON: EOF"),
            ("1", "neither an object nor a list"),
            ("{}", "has no `messages`"),
            (
                r#"{"messages": {}}"#,
                "`messages` of the conversation is not a list",
            ),
            (
                r#"{"messages": [], "tool": []}"#,
                "no field of the conversation is named `tool`",
            ),
            (
                r#"{"messages": [], "front": "ollama"}"#,
                "no front of jinja templates is named `ollama`; there are `raw`",
            ),
            (
                r#"{"messages": [], "now": "noon"}"#,
                "`now`: `noon` is not a date",
            ),
            (r#"{"messages": ["\ud800 "]}"#, "is not JSON"),
        ] {
            assert!(error(text).contains(expected), "{text}: {}", error(text));
        }
    }
}
