//! JSON files that others wrote: objects of which a few keys are wanted, read as Python
//! and Go read them, with places for what is wrong.

use std::path::Path;

use jsonc_parser::ast::{self, Object};
use jsonc_parser::common::Ranged;

use crate::json;
use crate::problem::{Place, Position, Problem};

/// A JSON file that is being read.
pub(super) struct Document<'t> {
    pub(super) path: &'t Path,
    pub(super) text: &'t str,
}

impl Document<'_> {
    /// A problem at a value.
    pub(super) fn problem(&self, at: &impl Ranged, message: impl Into<String>) -> Problem {
        Problem::new(self.path, message).at(self.place(at.start()))
    }

    /// The place of an offset.
    pub(super) fn place(&self, offset: usize) -> Place {
        Position::of(self.text, offset).into()
    }
}

/// The string at a key.
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
    take_apart: impl FnOnce(&Document<'_>, &Object<'_>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let document = Document { path, text };
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

/// The value of a key. As in Python, the last one counts where a key stands twice.
pub(super) fn value<'a>(object: &'a Object<'a>, key: &str) -> Option<&'a ast::Value<'a>> {
    object
        .properties
        .iter()
        .rev()
        .find(|property| property.name.as_str() == key)
        .map(|property| &property.value)
}
