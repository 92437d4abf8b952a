//! The common part of tokenizers and processors of transformers 5.24. Both drop null fields and
//! call `render_jinja_template` (`utils/chat_template_utils.py`).

use std::sync::Arc;

use rolecall_core::{CONTENT, Case};
use serde_json::{Map, Value};

use super::continuation::{Aliases, Continuation};
use super::preparation::Preparation;

/// The points in which one `apply_chat_template` differs from another.
pub(super) struct ChatMethod {
    /// Variables that are arguments of the method, so that no template sees them.
    pub(super) swallowed: &'static [&'static str],
    /// Whether it drops null fields of messages and fills the names of reasoning. Versions before 5.21
    /// do neither.
    pub(super) normalises: bool,
    /// Refuses the cases that only this method refuses.
    pub(super) check: fn(&Case) -> Result<(), String>,
    /// Replaces a part of a message's content; none if the part stays.
    pub(super) part: fn(&Value) -> Option<Value>,
}

/// The field names for a model's reasoning. The first one in a message fills the others.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// The argument that asks which tokens of a prompt are the assistant's.
pub(super) const MASK: &str = "return_assistant_tokens_mask";

/// Variables that a caller cannot pass to a template. They are already arguments of functions
/// between caller and template, and Python accepts no argument twice.
const TAKEN: [&str; 11] = [
    "self",
    "conversation",
    "conversations",
    "messages",
    "tools",
    "documents",
    "chat_template",
    "add_generation_prompt",
    "continue_final_message",
    "sanitize_control_tokens",
    "tokenize",
];

impl ChatMethod {
    /// Whether users may get another outcome for a case than the template alone gives.
    pub(super) fn changes(&self, case: &Case) -> bool {
        case.continue_final_message.is_some() || self.check(case).is_err() || self.is_changed(case)
    }

    /// Prepares a case for the template.
    pub(super) fn prepare(&self, case: &Case) -> Preparation {
        if let Err(why) = self.check(case) {
            return Preparation::refused(why);
        }
        let mut prepared = Preparation::unchanged();
        let mut changed = self.is_changed(case).then(|| self.changed(case));
        if let Some(field) = &case.continue_final_message {
            let aliases = if self.normalises {
                Aliases {
                    names: &REASONING,
                    shared: case.messages.last().map(shared).unwrap_or_default(),
                }
            } else {
                Aliases::default()
            };
            let case = changed.get_or_insert_with(|| case.clone());
            match Continuation::mark(case, field, &aliases) {
                Ok(continuation) => prepared.continuation = Some(continuation),
                Err(why) => return Preparation::refused(why),
            }
        }
        prepared.case = Ok(changed.map(Arc::new));
        prepared
    }

    /// Refuses the cases that transformers refuses for any template.
    fn check(&self, case: &Case) -> Result<(), String> {
        if case.messages.is_empty() {
            return Err("the conversation has no messages".to_owned());
        }
        for (what, items) in [
            ("message", Some(&case.messages)),
            ("tool", case.tools.as_ref()),
            ("document", case.documents.as_ref()),
        ] {
            let mut items = items.into_iter().flatten();
            if let Some(item) = items.find(|item| !item.is_object()) {
                return Err(format!("a {what} that is no object: {item}"));
            }
        }
        if case.continue_final_message.is_some() && case.add_generation_prompt {
            return Err(
                "`continue_final_message` and `add_generation_prompt` exclude each other"
                    .to_owned(),
            );
        }
        let mut names = case.variables.keys();
        if let Some(name) = names.find(|name| TAKEN.contains(&name.as_str())) {
            return Err(format!("`{name}` cannot be a variable: it is an argument"));
        }
        (self.check)(case)
    }

    /// Whether the template's case differs from the written one.
    fn is_changed(&self, case: &Case) -> bool {
        let is_changed = |message: &Map<String, Value>| {
            self.normalises && (message.values().any(Value::is_null) || has_reasoning(message))
                || parts(message)
                    .iter()
                    .any(|part| (self.part)(part).is_some())
        };
        let mut messages = case.messages.iter().filter_map(Value::as_object);
        messages.any(is_changed) || case.variables.keys().any(|name| self.swallows(name))
    }

    fn swallows(&self, name: &str) -> bool {
        self.swallowed.contains(&name)
    }

    /// A case without the null fields of messages, with the reasoning under every name, and with
    /// the method's own parts of content.
    fn changed(&self, case: &Case) -> Case {
        let mut case = case.clone();
        for message in case.messages.iter_mut().filter_map(Value::as_object_mut) {
            if self.normalises {
                message.retain(|_, value| !value.is_null());
                if has_reasoning(message) {
                    *message = with_aliases(message);
                }
            }
            if let Some(Value::Array(parts)) = message.get_mut(CONTENT) {
                for part in parts {
                    if let Some(other) = (self.part)(part) {
                        *part = other;
                    }
                }
            }
        }
        case.variables.retain(|name, _| !self.swallows(name));
        case
    }
}

/// The parts of a message's content, where it is a list of them.
fn parts(message: &Map<String, Value>) -> &[Value] {
    match message.get(CONTENT) {
        Some(Value::Array(parts)) => parts,
        _ => &[],
    }
}

/// Whether Python takes a value for true.
pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_true) => *is_true,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

fn has_reasoning(message: &Map<String, Value>) -> bool {
    REASONING.iter().any(|field| message.contains_key(*field))
}

/// A message with its reasoning under all names that templates read: `thinking` comes first,
/// `reasoning_content` stays in its place or comes last.
fn with_aliases(message: &Map<String, Value>) -> Map<String, Value> {
    let reasoning = REASONING.iter().find_map(|field| message.get(*field));
    let Some(reasoning) = reasoning.cloned() else {
        return message.clone();
    };
    let mut aliased = Map::new();
    aliased.insert("thinking".to_owned(), reasoning.clone());
    for (name, value) in message {
        aliased.insert(name.clone(), value.clone());
    }
    aliased.insert("reasoning_content".to_owned(), reasoning);
    aliased
}

/// The field names that share one object for a written message's reasoning: the name in the
/// message, and the names that were filled from it.
fn shared(message: &Value) -> Vec<&'static str> {
    let has = |field: &&&str| message.get(**field).is_some_and(|value| !value.is_null());
    let Some(source) = REASONING.iter().find(has) else {
        return Vec::new();
    };
    let is_filled = |field: &&str| match *field {
        "reasoning_content" => true,
        "thinking" => !has(&field),
        _ => false,
    };
    let is_shared = |field: &&&str| field == &source || is_filled(field);
    REASONING.iter().filter(is_shared).copied().collect()
}
