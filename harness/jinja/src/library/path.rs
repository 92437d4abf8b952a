//! The way to an attribute of an attribute, which filters take as `attribute='a.b'`.

use minijinja::Error;
use minijinja::value::Value;

use crate::meter::{ITEM, SLOT, produce, work};
use crate::python::characters::is_digit;
use crate::python::items::{index_or_name, item};
use crate::python::undefined::{self, found_at};
use crate::refusal::invalid;

/// The path of `attribute='a.b'` (Jinja2's `make_attrgetter`).
pub(super) struct Path {
    parts: Vec<Value>,
    /// The value for a missing part.
    default: Option<Value>,
}

impl Path {
    /// Reads the argument of a filter: a text with points between its parts, a single part, or
    /// `None`, which is an empty path.
    pub(super) fn of(attribute: &Value) -> Result<Path, Error> {
        let parts = match attribute.as_str() {
            None if attribute.is_none() => Vec::new(),
            None => vec![attribute.clone()],
            Some(path) => {
                work(path.len().saturating_mul(ITEM))?;
                produce(path.len().saturating_mul(SLOT))?;
                path.split('.').map(part).collect::<Result<_, _>>()?
            }
        };
        Ok(Path {
            parts,
            default: None,
        })
    }

    /// The path with a value for parts that are not there.
    pub(super) fn with_default(self, default: Option<Value>) -> Path {
        Path { default, ..self }
    }

    /// The value to which the path leads from an item.
    pub(super) fn follow(&self, of: Value) -> Result<Value, Error> {
        self.parts.iter().try_fold(of, |value, part| {
            work(ITEM)?;
            if let Some(message) = undefined::message(&value) {
                return Err(undefined::error(message.to_owned()));
            }
            let found = item(&value, part)?;
            Ok(match &self.default {
                Some(default) if found.is_undefined() => default.clone(),
                _ => found_at(found, &value, part),
            })
        })
    }
}

/// A part of a path: an index, or a name. Python's `isdigit()` accepts some characters that `int()`
/// cannot read, such as `²`.
fn part(text: &str) -> Result<Value, Error> {
    let key = index_or_name(text);
    if !text.is_ascii() && key.as_str().is_some() && text.chars().all(is_digit) {
        return Err(invalid(format!("invalid literal for int(): {text:?}")));
    }
    Ok(key)
}

/// The part of an item that a filter uses: the value at the end of a path, or the item itself if
/// there is no path.
pub(super) fn attribute_of(path: Option<&Path>, item: Value) -> Result<Value, Error> {
    match path {
        Some(path) => path.follow(item),
        None => Ok(item),
    }
}
