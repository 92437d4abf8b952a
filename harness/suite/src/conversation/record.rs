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
    /// What within the fields, or beside the request, is not read, in words.
    pub(super) skipped: BTreeSet<String>,
    /// Whether it has a shape that is read.
    pub(super) has_shape: bool,
    /// Whether it is a request: it names a model.
    pub(super) is_request: bool,
    /// The answer to the request, in messages or in items of OpenAI's Responses API.
    pub(super) answer: Vec<Value>,
    /// Why the answer was cut off, if it was.
    pub(super) cut: Option<Value>,
}

impl Record {
    pub(super) fn of(rest: Map<String, Value>) -> Record {
        Record {
            rest,
            ..Record::default()
        }
    }

    pub(super) fn is_text(&self, key: &str) -> bool {
        self.rest.get(key).is_some_and(Value::is_string)
    }

    pub(super) fn is_list(&self, key: &str) -> bool {
        self.rest.get(key).is_some_and(Value::is_array)
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
                Ok(_) => Err(wrong()),
                Err(_) => Err(format!("`{key}` is a text that is not JSON")),
            },
            Some(_) => Err(wrong()),
        }
    }

    /// Takes the fields of a field, unless there are others of these names.
    pub(super) fn lift(&mut self, key: &str) {
        if !self.rest.get(key).is_some_and(Value::is_object) {
            return;
        }
        if let Some(Value::Object(fields)) = self.rest.shift_remove(key) {
            for (name, value) in fields {
                self.rest.entry(name).or_insert(value);
            }
        }
    }

    /// Counts what is left of an object as not read. `place` says where the object is.
    pub(super) fn leave(&mut self, object: &Map<String, Value>, place: &str) {
        let left = object.iter().filter(|(_, value)| !is_nothing(value));
        let left = left.map(|(key, _)| format!("`{key}` {place}"));
        self.skipped.extend(left);
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

/// Whether a value says nothing: null, or a list or an object without elements.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
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

/// A part with a text.
pub(super) fn text(text: Value) -> Value {
    object([("type", "text".into()), ("text", text)]).into()
}

/// The content of these parts: a single text is a text.
pub(super) fn content(mut parts: Vec<Value>) -> Value {
    match parts.as_mut_slice() {
        [] => "".into(),
        [one] if one["type"] == "text" => one["text"].take(),
        _ => parts.into(),
    }
}
