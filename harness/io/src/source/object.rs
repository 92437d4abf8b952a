//! JSON files of other programs. A few keys of an object are read, as Python and Go read them, and
//! problems have a place.

use std::path::Path;

use jsonc_parser::ast::{self, Object};
use jsonc_parser::common::Ranged;
use serde_json::Value;

use rolecall_core::json;
use rolecall_core::problem::{Location, Position, Problem};

/// A JSON file that is being read.
pub(super) struct JsonFile<'t> {
    pub path: &'t Path,
    pub text: &'t str,
}

impl JsonFile<'_> {
    pub(super) fn problem(&self, at: &impl Ranged, message: impl Into<String>) -> Problem {
        Problem::new(self.path, message).at(self.place(at.start()))
    }

    /// A value as it is written. None if it is no JSON in the strict sense.
    pub(super) fn verbatim(&self, value: &impl Ranged) -> Option<Value> {
        serde_json::from_str(self.text.get(value.start()..value.end())?).ok()
    }

    pub(super) fn place(&self, offset: usize) -> Location {
        Position::of(self.text, offset).into()
    }
}

pub(super) fn string<'a>(object: &'a Object<'a>, key: &str) -> Option<&'a str> {
    match value(object, key) {
        Some(ast::Value::StringLit(text)) => Some(&text.value),
        _ => None,
    }
}

/// Reads a file that holds one object.
pub(super) fn read_object<T>(
    path: &Path,
    text: &str,
    take_apart: impl FnOnce(&JsonFile<'_>, &Object<'_>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let document = JsonFile { path, text };
    let examined = json::examine(path, text, |_, root| {
        Some(match root {
            ast::Value::Object(object) => take_apart(&document, object),
            other => Err(document.problem(other, "not an object")),
        })
    });
    match examined.value {
        Some(result) => result,
        None => Err(examined
            .problems
            .into_iter()
            .next()
            .unwrap_or_else(|| Problem::new(path, "not an object"))),
    }
}

/// The value of a key. If a key occurs twice, the last one counts, as in Python.
pub(super) fn value<'a>(object: &'a Object<'a>, key: &str) -> Option<&'a ast::Value<'a>> {
    object
        .properties
        .iter()
        .rev()
        .find(|property| property.name.as_str() == key)
        .map(|property| &property.value)
}
