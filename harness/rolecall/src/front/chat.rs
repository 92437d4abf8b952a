//! What tokenizers and processors of transformers 5.23 have in common: both drop what is null
//! and call `render_jinja_template` (`utils/chat_template_utils.py`).

use std::sync::Arc;

use rolecall_model::{CONTENT, Case};
use serde_json::{Map, Value};

use super::continuation::{Aliases, Continuation};
use super::prepared::Prepared;

/// An `apply_chat_template`, where one differs from another.
pub(super) struct Method {
    /// Variables that are arguments of the method: no template sees them.
    pub(super) swallowed: &'static [&'static str],
    /// Refuses what only this method refuses.
    pub(super) check: fn(&Case) -> Result<(), String>,
    /// What a part of a message's content becomes, if it becomes another one.
    pub(super) part: fn(&Value) -> Option<Value>,
}

/// The names of what a model thought before it answered. The first of them that a message
/// has fills the others.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// The argument that asks which of a prompt's tokens are the assistant's.
pub(super) const MASK: &str = "return_assistant_tokens_mask";

/// Variables that no template can be given: the functions between the caller and the
/// template are given them already, and Python takes no argument twice.
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

impl Method {
    /// Whether users may get something else of a case than what templates give alone.
    pub(super) fn changes(&self, case: &Case) -> bool {
        case.continue_final_message.is_some() || self.check(case).is_err() || self.is_changed(case)
    }

    /// What a template sees of a case.
    pub(super) fn prepare(&self, case: &Case) -> Prepared {
        if let Err(why) = self.check(case) {
            return Prepared::refused(why);
        }
        let mut prepared = Prepared::unchanged();
        let mut changed = self.is_changed(case).then(|| self.changed(case));
        if let Some(field) = &case.continue_final_message {
            let aliases = Aliases {
                names: &REASONING,
                shared: case.messages.last().map(shared).unwrap_or_default(),
            };
            let case = changed.get_or_insert_with(|| case.clone());
            match Continuation::mark(case, field, &aliases) {
                Ok(continuation) => prepared.continuation = Some(continuation),
                Err(why) => return Prepared::refused(why),
            }
        }
        prepared.case = Ok(changed.map(Arc::new));
        prepared
    }

    /// Refuses what transformers refuses, whatever the template.
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

    /// Whether a template sees another case than the written one.
    fn is_changed(&self, case: &Case) -> bool {
        let is_changed = |message: &Map<String, Value>| {
            message.values().any(Value::is_null)
                || has_reasoning(message)
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

    /// A case without the fields of messages that are null, with every name for reasoning,
    /// and with the method's own parts of content.
    fn changed(&self, case: &Case) -> Case {
        let mut case = case.clone();
        for message in case.messages.iter_mut().filter_map(Value::as_object_mut) {
            message.retain(|_, value| !value.is_null());
            if has_reasoning(message) {
                *message = with_aliases(message);
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

/// A message that has its reasoning under the names that templates read: `thinking` comes
/// first, `reasoning_content` stays where it is or comes last.
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

/// The names under which a message, as it is written, comes to have one and the same object
/// for its reasoning: that which it was found under, and those that were filled with it.
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
