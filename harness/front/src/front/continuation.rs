//! Prompts that end inside the last message, so that the model continues it.
//!
//! transformers finds that place with a tag. It appends the tag to the message's text, renders the
//! template, and cuts the prompt at the tag (`utils/chat_template_utils.py` of transformers 5.24,
//! `render_jinja_template`).

use rolecall_core::{Case, Cut, Template};
use serde_json::{Map, Value};

/// The tag after the text while the template renders. The template can see it.
const TAG: &str = "CONTINUE_FINAL_MESSAGE_TAG ";

/// A text that the model should continue.
#[derive(Debug)]
pub(super) struct Continuation {
    /// The text, without white space around it.
    text: String,
    /// The names of the fields that hold it. The template has to mention one of them.
    fields: Vec<String>,
}

impl Continuation {
    /// Marks the place in the last message of a case. `aliases` are the fields of the message that
    /// hold the same value, with the requested one among them. They are empty if the field has no
    /// aliases.
    pub(super) fn mark(case: &mut Case, field: &str, aliases: &Aliases) -> Result<Self, String> {
        let message = case.messages.last_mut().and_then(Value::as_object_mut);
        let message = message.ok_or("there is no message to continue")?;
        let value = message.get(field).filter(|value| !value.is_null());
        let Some(value) = value.cloned() else {
            return Err(format!("the last message has no `{field}` to continue"));
        };
        let fields = aliases.equal_to(field, &value, message);
        let text = match value {
            Value::String(text) => {
                for field in &fields {
                    message.insert(field.clone(), Value::String(format!("{text}{TAG}")));
                }
                text
            }
            Value::Array(parts) => {
                let (text, parts) = mark_part(parts)?;
                for field in aliases.shared_with(field) {
                    message.insert(field.to_owned(), Value::Array(parts.clone()));
                }
                text
            }
            _ => {
                return Err(format!(
                    "the `{field}` of the last message is no text that could be continued"
                ));
            }
        };
        Ok(Continuation {
            text: text.trim_matches(is_space).to_owned(),
            fields,
        })
    }

    /// Checks that the template mentions one of the fields.
    pub(super) fn check(&self, template: &Template) -> Result<(), String> {
        let is_mentioned = |field: &String| template.source.contains(field.as_str());
        if self.fields.iter().any(is_mentioned) {
            return Ok(());
        }
        let names: Vec<_> = self
            .fields
            .iter()
            .map(|field| format!("`{field}`"))
            .collect();
        Err(format!(
            "the template does not mention {}, which shall be continued",
            names.join(" or ")
        ))
    }

    /// The prompt up to the end of the text.
    pub(super) fn cut(&self, prompt: &str) -> Result<String, String> {
        let tag = TAG.trim_end();
        let place = prompt
            .rfind(tag)
            .filter(|_| prompt.contains(self.text.as_str()))
            .ok_or("the text of the last message that shall be continued is not in the prompt")?;
        let before = prompt.cut(..place);
        // A template that trims the text also trims the end of the tag.
        let is_trimmed = !prompt.cut(place..).starts_with(TAG);
        let before = if is_trimmed {
            before.trim_end_matches(is_space)
        } else {
            before
        };
        Ok(before.to_owned())
    }
}

/// Fields of a message that replace each other.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    pub(super) names: &'static [&'static str],
    /// The fields of the last message that share one Python object. A change to a list in one of
    /// them shows in all.
    pub(super) shared: Vec<&'static str>,
}

impl Aliases {
    /// The fields of a message whose value equals the requested field's.
    fn equal_to(&self, field: &str, value: &Value, message: &Map<String, Value>) -> Vec<String> {
        if !self.names.contains(&field) {
            return vec![field.to_owned()];
        }
        self.names
            .iter()
            .filter(|name| message.get(**name) == Some(value))
            .map(|name| (*name).to_owned())
            .collect()
    }

    fn shared_with<'f>(&'f self, field: &'f str) -> Vec<&'f str> {
        if self.shared.contains(&field) {
            self.shared.clone()
        } else {
            vec![field]
        }
    }
}

/// Appends the tag to the last part of a message that has a text.
fn mark_part(mut parts: Vec<Value>) -> Result<(String, Vec<Value>), String> {
    for part in parts.iter_mut().rev() {
        let has_text = match &*part {
            Value::Object(map) => map.contains_key("text"),
            // Python's `in` accepts a text or a list here, but the next lookup of a field fails.
            Value::String(text) => text.contains("text"),
            Value::Array(items) => items.iter().any(|item| item == "text"),
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        };
        if !has_text {
            continue;
        }
        let Some(Value::String(text)) = part.get_mut("text") else {
            return Err("a part of the last message has no text that could be continued".into());
        };
        let found = text.clone();
        text.push_str(TAG);
        return Ok((found, parts));
    }
    Err("no part of the last message has a text to continue".to_owned())
}

/// White space for Python's `str.strip` (CPython 3.11).
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}
