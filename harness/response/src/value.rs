//! Values of a message: JSON, and what else Python's `json` makes of texts.

use std::fmt;

use indexmap::IndexMap;
use serde_json::{Map, Number, Value as Json, json};

use crate::text::Text;

/// An object. The keys are in the order in which they were first written.
pub type Object = IndexMap<Text, Value>;

/// A value that a response template can make of a text.
///
/// # As JSON
///
/// [`Value::to_json`] writes ordinary values as themselves. Three kinds of values do not exist in
/// JSON; each is an object with one key:
///
/// | value | form |
/// |---|---|
/// | a float that is no number or not finite | `{"$float": "nan"}`, `"inf"` or `"-inf"` |
/// | a text with a lone surrogate | `{"$text": "a\\ud83d"}`: see [`Text::escape`] |
/// | an object with such a key, or with exactly one key, which begins with `$` | `{"$object": [["key", value], …]}` |
///
/// A float always has a point or an exponent, and an integer has neither. So [`Value::from_json`]
/// gets back the very value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Python's `None`.
    Null,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of any length.
    Integer(Integer),
    /// A float, which may be infinite or not a number.
    Float(f64),
    /// A text.
    Text(Text),
    /// A list.
    List(Vec<Value>),
    /// An object.
    Object(Object),
}

/// An integer of any length, in decimal digits without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integer(String);

impl Integer {
    /// The integer of a sign and decimal digits.
    pub(crate) fn new(negative: bool, digits: &str) -> Integer {
        let digits = digits.trim_start_matches('0');
        Integer(match (negative, digits) {
            (_, "") => "0".to_owned(),
            (true, digits) => format!("-{digits}"),
            (false, digits) => digits.to_owned(),
        })
    }

    /// The decimal digits, after a minus if it is negative.
    pub fn digits(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const FLOAT: &str = "$float";
const TEXT: &str = "$text";
const OBJECT: &str = "$object";

impl Value {
    /// The value of a JSON document, in which `$` has no meaning. A number is a float if it has a
    /// point or an exponent.
    pub fn of(json: &Json) -> Value {
        match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => number_of(number),
            Json::String(text) => Value::Text(Text::from(text.as_str())),
            Json::Array(items) => Value::List(items.iter().map(Value::of).collect()),
            Json::Object(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, value)| (Text::from(key.as_str()), Value::of(value)))
                    .collect(),
            ),
        }
    }

    /// The value as JSON, without loss.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Integer(integer) => {
                Json::Number(Number::from_string_unchecked(integer.0.clone()))
            }
            Value::Float(float) => match Number::from_f64(*float) {
                Some(number) => Json::Number(number),
                None if float.is_nan() => json!({FLOAT: "nan"}),
                None if *float > 0.0 => json!({FLOAT: "inf"}),
                None => json!({FLOAT: "-inf"}),
            },
            Value::Text(text) => text_to_json(text),
            Value::List(items) => Json::Array(items.iter().map(Value::to_json).collect()),
            Value::Object(entries) => object_to_json(entries),
        }
    }

    /// The value that [`Value::to_json`] wrote, unless a form with `$` is wrong.
    pub fn from_json(json: &Json) -> Option<Value> {
        match json {
            Json::Array(items) => {
                let items: Option<_> = items.iter().map(Value::from_json).collect();
                Some(Value::List(items?))
            }
            Json::Object(entries) if entries.len() == 1 => {
                let (key, inner) = entries.iter().next()?;
                match key.as_str() {
                    FLOAT => Some(Value::Float(match inner.as_str()? {
                        "nan" => f64::NAN,
                        "inf" => f64::INFINITY,
                        "-inf" => f64::NEG_INFINITY,
                        _ => return None,
                    })),
                    TEXT => Some(Value::Text(Text::unescape(inner.as_str()?)?)),
                    OBJECT => pairs_from_json(inner.as_array()?),
                    key if key.starts_with('$') => None,
                    _ => object_from_json(entries),
                }
            }
            Json::Object(entries) => object_from_json(entries),
            plain => Some(Value::of(plain)),
        }
    }

    /// Whether Python takes the value for true.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(value) => *value,
            Value::Integer(integer) => integer.0 != "0",
            Value::Float(float) => *float != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Object(entries) => !entries.is_empty(),
        }
    }

    /// Python's name of the type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "NoneType",
            Value::Bool(_) => "bool",
            Value::Integer(_) => "int",
            Value::Float(_) => "float",
            Value::Text(_) => "str",
            Value::List(_) => "list",
            Value::Object(_) => "dict",
        }
    }
}

fn number_of(number: &Number) -> Value {
    let text = number.to_string();
    if text.contains(['.', 'e', 'E']) {
        // Too large a number is infinite, in Rust as in Python.
        Value::Float(text.parse().unwrap_or(f64::NAN))
    } else {
        let digits = text.trim_start_matches('-');
        Value::Integer(Integer::new(digits.len() < text.len(), digits))
    }
}

fn text_to_json(text: &Text) -> Json {
    match text.to_utf8() {
        Some(text) => Json::String(text),
        None => json!({TEXT: text.escape()}),
    }
}

fn object_to_json(entries: &Object) -> Json {
    let keys: Option<Vec<String>> = entries.keys().map(Text::to_utf8).collect();
    match keys {
        Some(keys) if !(keys.len() == 1 && keys[0].starts_with('$')) => {
            let values = entries.values().map(Value::to_json);
            Json::Object(keys.into_iter().zip(values).collect())
        }
        _ => {
            let pairs = entries.iter();
            let pairs = pairs.map(|(key, value)| json!([text_to_json(key), value.to_json()]));
            json!({OBJECT: pairs.collect::<Vec<_>>()})
        }
    }
}

fn object_from_json(entries: &Map<String, Json>) -> Option<Value> {
    let pairs = entries.iter();
    let pairs =
        pairs.map(|(key, value)| Some((Text::from(key.as_str()), Value::from_json(value)?)));
    Some(Value::Object(pairs.collect::<Option<Object>>()?))
}

fn pairs_from_json(pairs: &[Json]) -> Option<Value> {
    let pairs = pairs.iter().map(|pair| match pair.as_array()?.as_slice() {
        [key, value] => match Value::from_json(key)? {
            Value::Text(key) => Some((key, Value::from_json(value)?)),
            _ => None,
        },
        _ => None,
    });
    Some(Value::Object(pairs.collect::<Option<Object>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_read_back_from_its_json() {
        let odd = Text::from(vec![0xD83D, 0x5C]);
        let values = [
            Value::Null,
            Value::Integer(Integer::new(true, "00123456789012345678901234567890")),
            Value::Integer(Integer::new(true, "0")),
            Value::Float(2.0),
            Value::Float(-0.0),
            Value::Float(1e22),
            Value::Float(f64::INFINITY),
            Value::Float(f64::NEG_INFINITY),
            Value::Text(odd.clone()),
            Value::List(vec![Value::Text(Text::from("$float")), Value::Bool(true)]),
            Value::Object(Object::from([
                (odd, Value::Null),
                (Text::from("b"), Value::Null),
            ])),
            Value::Object(Object::from([(
                Text::from("$float"),
                Value::Text(Text::from("nan")),
            )])),
            Value::Object(Object::from([(Text::from("$a"), Value::Null)])),
            Value::Object(Object::from([(Text::from("a"), Value::Float(0.5))])),
        ];
        for value in values {
            let text = value.to_json().to_string();
            let read: Json = serde_json::from_str(&text).expect("JSON");
            let back = Value::from_json(&read).expect("a value");
            // The sign of a zero is not seen by `==`.
            assert_eq!(format!("{back:?}"), format!("{value:?}"), "{text}");
        }
        let nan = Value::Float(f64::NAN).to_json();
        assert!(matches!(Value::from_json(&nan), Some(Value::Float(f)) if f.is_nan()));
    }

    #[test]
    fn a_wrong_form_is_no_value() {
        for wrong in [
            json!({"$float": "1"}),
            json!({"$text": "\\x"}),
            json!({"$b": 1}),
            json!({"$object": [1]}),
        ] {
            assert_eq!(Value::from_json(&wrong), None, "{wrong}");
        }
    }
}
