//! Gives the arguments of a tool call the types that the tool's schema wants.

use std::collections::HashMap;

use serde_json::Value as Json;

use crate::failure::{Kind, ParseError, raised};
use crate::python::{self, NotJson};
use crate::text::{Text, same};
use crate::transform::Shared;
use crate::value::{Object, Value};

/// How deeply lists may be nested around tool calls before Python gives up, where a program calls
/// the parser from its top level.
const DEEPEST: usize = 497;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tools {
    parameters: HashMap<Text, Object>,
}

impl Tools {
    /// Reads tools as chat templates get them, with or without `function` around each.
    pub(crate) fn read(tools: &[Json]) -> Tools {
        let mut parameters = HashMap::new();
        for tool in tools {
            let function = match tool {
                Json::Object(entries) => entries.get("function").unwrap_or(tool),
                _ => continue,
            };
            if let Some(name) = function.get("name").and_then(Json::as_str) {
                let properties = function.pointer("/parameters/properties").map(Value::of);
                parameters.insert(
                    Text::from(name),
                    match properties {
                        Some(Value::Object(properties)) => properties,
                        _ => Object::new(),
                    },
                );
            }
        }
        Tools { parameters }
    }

    /// Whether there is any tool with a name.
    pub(crate) fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// Casts the arguments in a value: an object `{"function": {"name": …, "arguments": …}}`, or a
    /// list of them. It changes them where they are.
    pub(crate) fn cast(&self, value: &Shared, depth: usize) -> Result<(), ParseError> {
        if depth > DEEPEST {
            return Err(raised(Kind::Recursion, "lists are nested too deeply"));
        }
        let entries = match value {
            Shared::List(items) => {
                return items
                    .borrow()
                    .iter()
                    .try_for_each(|item| self.cast(item, depth + 1));
            }
            Shared::Object(entries) => entries,
            Shared::Plain(_) => return Ok(()),
        };
        let get = |entries: &indexmap::IndexMap<Text, Shared>, key: &str| {
            entries.get(&Text::from(key)).cloned()
        };
        let Some(Shared::Object(function)) = get(&entries.borrow(), "function") else {
            return Ok(());
        };
        let name = get(&function.borrow(), "name");
        let arguments = get(&function.borrow(), "arguments");
        let (Some(Shared::Plain(Value::Text(name))), Some(Shared::Object(arguments))) =
            (name, arguments)
        else {
            return Ok(());
        };
        let Some(properties) = self.parameters.get(&name) else {
            return Ok(());
        };
        let keys: Vec<Text> = arguments.borrow().keys().cloned().collect();
        for key in keys {
            let Some(schema) = properties.get(&key) else {
                continue;
            };
            let types = types_of(schema)?;
            if types.is_empty() {
                continue;
            }
            let Some(argument) = arguments.borrow().get(&key).cloned() else {
                continue;
            };
            let argument = match argument {
                Shared::Plain(Value::Text(text)) => Shared::of(cast(&text, &types)?),
                Shared::List(items) if !types.iter().any(|own| own.is("array")) => {
                    let items = items
                        .borrow()
                        .iter()
                        .map(|item| match item {
                            Shared::Plain(Value::Text(text)) => Ok(Shared::of(cast(text, &types)?)),
                            other => Ok(other.clone()),
                        })
                        .collect::<Result<Vec<_>, ParseError>>()?;
                    Shared::list(items)
                }
                _ => continue,
            };
            arguments.borrow_mut().insert(key, argument);
        }
        Ok(())
    }
}

/// The types of a schema, in the order in which they are tried.
fn types_of(schema: &Value) -> Result<Vec<Text>, ParseError> {
    let Value::Object(schema) = schema else {
        return Ok(Vec::new());
    };
    let get = |key: &str| schema.get(&Text::from(key)).filter(|value| value.is_true());
    let mut types: Vec<Text> = match schema.get(&Text::from("type")) {
        Some(Value::Text(name)) => vec![name.clone()],
        Some(Value::List(names)) => names
            .iter()
            .filter_map(|name| match name {
                Value::Text(name) => Some(name.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    for union in ["anyOf", "oneOf"] {
        match get(union) {
            Some(Value::List(choices)) => {
                for choice in choices {
                    types.extend(types_of(choice)?);
                }
            }
            // Its keys, or its characters, are no schemas.
            None | Some(Value::Object(_) | Value::Text(_)) => {}
            Some(other) => {
                let message = format!(
                    "`{union}` of a tool's parameter is {}, not a list",
                    other.type_name()
                );
                return Err(raised(Kind::Type, message));
            }
        }
    }
    if get("nullable").is_some() && !types.iter().any(|own| own.is("null")) {
        types.push(Text::from("null"));
    }
    Ok(types)
}

/// The text as the first type that fits.
fn cast(text: &Text, types: &[Text]) -> Result<Value, ParseError> {
    let raw = text.codes();
    for wanted in types {
        let found = if wanted.is("integer") {
            integer(raw)
        } else if wanted.is("number") {
            number(raw)
        } else if wanted.is("boolean") {
            boolean(raw)
        } else if wanted.is("null") {
            let raw = python::strip(raw);
            (same(raw, "null") || same(raw, "None")).then_some(Value::Null)
        } else if wanted.is("object") || wanted.is("array") {
            match python::json(raw) {
                Ok(value @ Value::Object(_)) => wanted.is("object").then_some(value),
                Ok(value @ Value::List(_)) => wanted.is("array").then_some(value),
                Err(NotJson::Other(
                    error @ ParseError::Raised {
                        kind: Kind::Recursion,
                        ..
                    },
                )) => {
                    return Err(error);
                }
                _ => None,
            }
        } else {
            None
        };
        if let Some(value) = found {
            return Ok(value);
        }
    }
    Ok(Value::Text(text.clone()))
}

fn integer(raw: &[u32]) -> Option<Value> {
    if let Ok(integer) = python::integer(raw) {
        return Some(Value::Integer(integer));
    }
    // A whole number may be written as a float.
    let number = python::float(raw).ok()?;
    (number.fract() == 0.0).then(|| Value::Integer(python::whole(number)))
}

fn number(raw: &[u32]) -> Option<Value> {
    let number = python::float(raw).ok()?;
    if !number.is_finite() {
        return None;
    }
    let has_point = raw.contains(&u32::from('.'));
    Some(if number.fract() == 0.0 && !has_point {
        Value::Integer(python::whole(number))
    } else {
        Value::Float(number)
    })
}

fn boolean(raw: &[u32]) -> Option<Value> {
    let raw = python::strip(raw);
    let is = |words| python::is_word(raw, words);
    (is(&["true", "1"]) || is(&["false", "0"])).then(|| Value::Bool(is(&["true", "1"])))
}
