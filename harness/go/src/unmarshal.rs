//! Reading JSON into Go's types: Go's `encoding/json.Unmarshal`.
//!
//! Keys match without regard to case, null leaves the zero value, unknown keys are
//! dropped.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value as Json};

use crate::error::Error;
use crate::values::{ListKind, MapKind, Text, Value};

/// An object without members.
pub(crate) fn nothing() -> &'static Map<String, Json> {
    static NOTHING: LazyLock<Map<String, Json>> = LazyLock::new(Map::new);
    &NOTHING
}

/// A member of an object; one that is null counts as missing.
pub(crate) fn member<'j>(object: &'j Map<String, Json>, name: &str) -> Option<&'j Json> {
    let exact = object.get(name);
    let found = match exact {
        Some(value) => Some(value),
        None => object
            .iter()
            .rev()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value),
    };
    found.filter(|value| !value.is_null())
}

/// A member that is a string; a missing one is empty.
pub(crate) fn string<'j>(
    object: &'j Map<String, Json>,
    name: &str,
    place: &str,
) -> Result<&'j str, Error> {
    match member(object, name) {
        None => Ok(""),
        Some(Json::String(text)) => Ok(text),
        Some(other) => Err(mismatch(other, &format!("{place}.{name}"), "string")),
    }
}

/// A member that is a whole number; a missing one is 0.
pub(crate) fn integer(object: &Map<String, Json>, name: &str, place: &str) -> Result<i64, Error> {
    member(object, name).map_or(Ok(0), |json| {
        json.as_i64()
            .ok_or_else(|| mismatch(json, &format!("{place}.{name}"), "int"))
    })
}

/// An object; null is an empty one.
pub(crate) fn object<'j>(
    json: &'j Json,
    place: &str,
    wanted: &str,
) -> Result<Option<&'j Map<String, Json>>, Error> {
    match json {
        Json::Object(object) => Ok(Some(object)),
        Json::Null => Ok(None),
        other => Err(mismatch(other, place, wanted)),
    }
}

/// A member that is a list; a missing one is none.
pub(crate) fn list<'j>(
    object: &'j Map<String, Json>,
    name: &str,
    place: &str,
    wanted: &str,
) -> Result<Option<&'j [Json]>, Error> {
    match member(object, name) {
        None => Ok(None),
        Some(Json::Array(items)) => Ok(Some(items)),
        Some(other) => Err(mismatch(other, &format!("{place}.{name}"), wanted)),
    }
}

/// A list of strings; null in it is an empty string.
pub(crate) fn strings(items: &[Json], place: &str) -> Result<Vec<Value>, Error> {
    items
        .iter()
        .map(|item| match item {
            Json::Null => Ok(Value::text("")),
            Json::String(text) => Ok(Value::text(text)),
            other => Err(mismatch(other, place, "string")),
        })
        .collect()
}

/// A value of type `any`: numbers are `float64`.
pub(crate) fn anything(json: &Json) -> Result<Value, Error> {
    Ok(match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => {
            let text = number.to_string();
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Value::Float(value),
                _ => {
                    return Err(Error::new(format!(
                        "json: cannot unmarshal number {text} into Go value of type float64"
                    )));
                }
            }
        }
        Json::String(text) => Value::text(text),
        Json::Array(items) => Value::list(
            ListKind::Anything,
            items.iter().map(anything).collect::<Result<_, _>>()?,
        ),
        Json::Object(object) => Value::map(MapKind::Anything, members(object)?),
    })
}

/// The members of an object of type `map[string]any`.
pub(crate) fn members(object: &Map<String, Json>) -> Result<BTreeMap<Text, Value>, Error> {
    object
        .iter()
        .map(|(key, value)| Ok((Text::from(key.as_bytes()), anything(value)?)))
        .collect()
}

/// The members of a `map[string]any` as JSON again.
pub(crate) fn to_json(members: &BTreeMap<Text, Value>) -> Json {
    members
        .iter()
        .map(|(key, value)| (written(key), any_to_json(value)))
        .collect()
}

/// A value of type `any` as JSON again.
fn any_to_json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => Json::from(*value),
        Value::Float(value) => Json::from(*value),
        Value::Text(value) => Json::from(written(value)),
        Value::List(list) => list.items().iter().map(any_to_json).collect(),
        Value::Map(map) => map.entries.as_deref().map_or(Json::Null, to_json),
        // Nothing else is read from JSON.
        _ => Json::Null,
    }
}

fn written(text: &Text) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// The words for a value of the wrong type.
pub(crate) fn mismatch(found: &Json, place: &str, wanted: &str) -> Error {
    let found = match found {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    };
    Error::new(format!(
        "json: cannot unmarshal {found} into Go struct field {place} of type {wanted}"
    ))
}
