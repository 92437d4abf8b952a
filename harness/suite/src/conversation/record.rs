//! A record of a log: what is read of it becomes the fields of a case, and the rest is counted.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What a reader finds wrong with a record, in a sentence without a place.
pub(super) type Wrong = String;

/// The conversations of a record: what the name of each ends with, and its messages.
pub(super) type Read = Vec<(&'static str, Vec<Value>)>;

/// A record that is being read.
#[derive(Default)]
pub(super) struct Record {
    /// What nothing has read yet. In the end it is not read at all.
    pub(super) rest: Map<String, Value>,
    /// What the record says besides messages, under the keys of a case.
    pub(super) fields: Map<String, Value>,
    /// What became of fields that a case has under another name, in words.
    pub(super) became: BTreeSet<&'static str>,
    /// What in the messages is not read, in words.
    pub(super) skipped: BTreeSet<String>,
}

impl Record {
    pub(super) fn of(rest: Map<String, Value>) -> Record {
        Record {
            rest,
            ..Record::default()
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.rest.get(key).is_some_and(|value| !value.is_null())
    }

    /// Takes a field that is there and is not null.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.rest.shift_remove(key).filter(|value| !value.is_null())
    }

    /// Takes a list. Tables of data sets keep lists as JSON in a text.
    pub(super) fn take_list(&mut self, key: &str) -> Result<Option<Vec<Value>>, Wrong> {
        let wrong = || format!("`{key}` is not a list");
        match self.take(key) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => match serde_json::from_str(&text) {
                Ok(Value::Null) => Ok(None),
                Ok(Value::Array(list)) => {
                    self.became.insert("a list that is JSON in a text was read");
                    Ok(Some(list))
                }
                _ => Err(wrong()),
            },
            Some(_) => Err(wrong()),
        }
    }

    /// Sets a variable of templates.
    pub(super) fn set_variable(&mut self, name: &str, value: Value) {
        let variables = self.fields.entry("variables");
        let variables = variables.or_insert_with(|| Map::new().into());
        if let Some(variables) = variables.as_object_mut() {
            variables.insert(name.to_owned(), value);
        }
    }
}

/// An object with these fields, in this order.
pub(super) fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    Map::from_iter(fields.map(|(key, value)| (key.to_owned(), value)))
}

/// A call as clients of OpenAI's chat have it.
pub(super) fn call(id: Option<Value>, name: Value, arguments: Value) -> Value {
    let mut call = Map::new();
    if let Some(id) = id {
        call.insert("id".to_owned(), id);
    }
    call.insert("type".to_owned(), "function".into());
    let function = object([("name", name), ("arguments", arguments)]);
    call.insert("function".to_owned(), function.into());
    call.into()
}

/// A part with an image as clients of OpenAI's chat have it.
pub(super) fn image(url: impl Into<Value>) -> Value {
    let url = object([("url", url.into())]);
    object([("type", "image_url".into()), ("image_url", url.into())]).into()
}

/// The content of these parts: a single text is a text.
pub(super) fn content(mut parts: Vec<Value>) -> Value {
    match parts.as_mut_slice() {
        [] => "".into(),
        [one] if one["type"] == "text" => one["text"].take(),
        _ => parts.into(),
    }
}
