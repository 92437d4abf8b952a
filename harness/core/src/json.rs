//! JSON documents with positions.
//!
//! Case files and sidecars are read through a syntax tree that knows where each value is, so that
//! every problem in a file is reported with its place. Numbers keep their digits and objects the
//! order of their keys.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use crate::problem::{Position, Problem, did_you_mean};

/// The most problems that are reported for one file. Finding the place of each means
/// reading the whole file again.
const MOST_PROBLEMS: usize = 100;

/// The most values in a document. Each takes more memory than it takes bytes.
pub const MOST_VALUES: usize = 500_000;

/// Whether a JSON text has more values than a document may have.
pub fn has_too_many(text: &str) -> bool {
    values_in(text) > MOST_VALUES
}

/// About how many values a JSON text has, without reading it as JSON.
fn values_in(text: &str) -> usize {
    let (mut count, mut is_string, mut is_escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b',' | b'[' | b'{' if !is_string => count += 1,
            _ => {}
        }
    }
    count
}

/// A JSON document under examination: its text, and what is wrong with it so far.
pub struct JsonDocument<'t> {
    path: PathBuf,
    text: &'t str,
    problems: Vec<Problem>,
    /// Problems beyond those that are reported.
    unreported: usize,
}

/// An object's entries, after its keys were checked.
pub struct Fields<'a> {
    entries: Vec<(&'a str, &'a ast::ObjectProp<'a>)>,
}

/// The value of a document, and its problems.
#[derive(Debug)]
pub struct Examined<T> {
    /// The value, if it could be read in spite of any problems.
    pub value: Option<T>,
    /// Everything that is wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

/// Parses strict JSON (RFC 8259), then lets `take_apart` read it.
///
/// `take_apart` reports problems through [`JsonDocument::problem`] and its kin, and
/// returns what it could read.
pub fn examine<T>(
    path: &Path,
    text: &str,
    take_apart: impl FnOnce(&mut JsonDocument<'_>, &ast::Value<'_>) -> Option<T>,
) -> Examined<T> {
    let broken = |problem| Examined {
        value: None,
        problems: vec![problem],
    };
    // serde_json is strict; the parser of the syntax tree, which is only needed for
    // positions, bounds the depth of nesting, to 512.
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        return broken(syntax_problem(path, text, &error));
    }
    if has_too_many(text) {
        return broken(Problem::new(
            path,
            format!("more than {MOST_VALUES} values"),
        ));
    }
    let strict = ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = match parse_to_ast(text, &CollectOptions::default(), &strict) {
        Ok(parsed) => parsed,
        Err(error) => {
            let position = Position::of(text, error.range().start);
            return broken(Problem::new(path, format!("not JSON: {}", error.kind())).at(position));
        }
    };
    let Some(root) = parsed.value else {
        return broken(Problem::new(path, "the file is empty"));
    };
    let mut document = JsonDocument {
        path: path.to_path_buf(),
        text,
        problems: Vec::new(),
        unreported: 0,
    };
    let value = take_apart(&mut document, &root);
    if document.unreported > 0 {
        let message = format!("{} more problems in this file", document.unreported);
        document.problems.push(Problem::new(path, message));
    }
    Examined {
        value,
        problems: document.problems,
    }
}

/// What is wrong with a text that `serde_json` cannot read.
pub fn syntax_problem(path: &Path, text: &str, error: &serde_json::Error) -> Problem {
    let message = error.to_string();
    let message = message
        .rsplit_once(" at line ")
        .map_or(message.as_str(), |(message, _)| message);
    if text.trim().is_empty() {
        return Problem::new(path, "the file is empty");
    }
    let line_start: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    // serde_json counts bytes in the line, and points at the character after a line
    // break as column 0.
    let offset = line_start + error.column().saturating_sub(1);
    let problem = Problem::new(path, format!("not JSON: {message}")).at(Position::of(text, offset));
    if text.starts_with('\u{FEFF}') {
        problem.help("the file begins with a byte order mark: save it without one")
    } else {
        problem
    }
}

impl JsonDocument<'_> {
    /// How many problems were reported so far.
    pub fn problem_count(&self) -> usize {
        self.problems.len() + self.unreported
    }

    /// Reports a problem at a value.
    pub fn problem(&mut self, at: &impl Ranged, message: impl Into<String>) {
        self.problem_with(at, message, None);
    }

    /// Reports a problem at a value, with what to do about it.
    pub fn problem_with(
        &mut self,
        at: &impl Ranged,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        if self.problems.len() == MOST_PROBLEMS {
            self.unreported += 1;
            return;
        }
        self.problems.push(Problem {
            path: self.path.clone(),
            position: Some(Position::of(self.text, at.start()).into()),
            message: message.into(),
            help,
        });
    }

    /// Opens an object. It reports keys that are not in `known`, and duplicate keys.
    pub fn fields<'a>(
        &mut self,
        value: &'a ast::Value<'a>,
        what: &str,
        known: &[String],
    ) -> Option<Fields<'a>> {
        let entries = self.entries(value, what)?;
        for (name, property) in &entries {
            if self.problems.len() == MOST_PROBLEMS {
                // What is not reported needs no help.
                self.unreported += usize::from(!known.iter().any(|key| key == name));
            } else if !known.iter().any(|key| key == name) {
                let list = known
                    .iter()
                    .map(|key| format!("`{key}`"))
                    .collect::<Vec<_>>()
                    .join(", ");
                let help =
                    did_you_mean(name, known).unwrap_or_else(|| format!("known keys are {list}"));
                let message = format!("unknown key `{name}` in {what}");
                self.problem_with(&property.name, message, Some(help));
            }
        }
        Some(Fields { entries })
    }

    /// The entries of an object in order. Duplicate keys are reported.
    pub fn entries<'a>(
        &mut self,
        value: &'a ast::Value<'a>,
        what: &str,
    ) -> Option<Vec<(&'a str, &'a ast::ObjectProp<'a>)>> {
        let ast::Value::Object(object) = value else {
            self.wrong_type(value, what, "an object");
            return None;
        };
        let mut entries: Vec<(&str, &ast::ObjectProp<'_>)> = Vec::new();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for property in &object.properties {
            let name = property.name.as_str();
            if let Some(first) = seen.get(name) {
                // A file of nothing but duplicates would take forever.
                let first = match self.problems.len() {
                    MOST_PROBLEMS => String::new(),
                    _ => format!(", first at {}", Position::of(self.text, *first)),
                };
                self.problem(
                    &property.name,
                    format!("`{name}` occurs twice in {what}{first}"),
                );
            } else {
                seen.insert(name, property.start());
                entries.push((name, property));
            }
        }
        Some(entries)
    }

    /// A string.
    pub fn string(&mut self, value: &ast::Value<'_>, what: &str) -> Option<String> {
        if let ast::Value::StringLit(literal) = value {
            Some(literal.value.clone().into_owned())
        } else {
            self.wrong_type(value, what, "a string");
            None
        }
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, value: &ast::Value<'_>, what: &str) -> Option<bool> {
        if let ast::Value::BooleanLit(literal) = value {
            Some(literal.value)
        } else {
            self.wrong_type(value, what, "true or false");
            None
        }
    }

    /// The elements of an array.
    pub fn array<'a>(
        &mut self,
        value: &'a ast::Value<'a>,
        what: &str,
    ) -> Option<&'a [ast::Value<'a>]> {
        if let ast::Value::Array(array) = value {
            Some(&array.elements)
        } else {
            self.wrong_type(value, what, "an array");
            None
        }
    }

    /// Any value, exactly as it is written.
    pub fn verbatim(&mut self, value: &ast::Value<'_>) -> Option<Value> {
        Some(match value {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::StringLit(literal) => Value::String(literal.value.clone().into_owned()),
            ast::Value::NumberLit(literal) => {
                if let Ok(number) = literal.value.parse::<serde_json::Number>() {
                    Value::Number(number)
                } else {
                    self.problem(value, format!("`{}` is not a number", literal.value));
                    return None;
                }
            }
            ast::Value::Array(array) => Value::Array(
                array
                    .elements
                    .iter()
                    .map(|element| self.verbatim(element))
                    .collect::<Option<_>>()?,
            ),
            ast::Value::Object(object) => {
                // A duplicate key keeps its first place and its last value, as in
                // Python's json module.
                let mut map = Map::with_capacity(object.properties.len());
                for property in &object.properties {
                    let value = self.verbatim(&property.value)?;
                    map.insert(property.name.as_str().to_owned(), value);
                }
                Value::Object(map)
            }
        })
    }

    /// An object, exactly as it is written.
    pub fn verbatim_object(
        &mut self,
        value: &ast::Value<'_>,
        what: &str,
    ) -> Option<Map<String, Value>> {
        if let ast::Value::Object(_) = value {
            match self.verbatim(value)? {
                Value::Object(map) => Some(map),
                _ => None,
            }
        } else {
            self.wrong_type(value, what, "an object");
            None
        }
    }

    /// Reports a value of the wrong type.
    pub fn wrong_type(&mut self, value: &ast::Value<'_>, what: &str, expected: &str) {
        let found = match value {
            ast::Value::NullKeyword(_) => "null",
            ast::Value::BooleanLit(_) => "a boolean",
            ast::Value::StringLit(_) => "a string",
            ast::Value::NumberLit(_) => "a number",
            ast::Value::Array(_) => "an array",
            ast::Value::Object(_) => "an object",
        };
        self.problem(value, format!("{what} must be {expected}, not {found}"));
    }
}

impl<'a> Fields<'a> {
    /// The value of a key. Null counts as no key.
    pub fn get(&self, name: &str) -> Option<&'a ast::Value<'a>> {
        self.entries
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, property)| &property.value)
            .filter(|value| !matches!(value, ast::Value::NullKeyword(_)))
    }
}

/// Where a value is in a JSON text: keys with points between them lead to it, such as
/// `fields.content`. A key may contain points. If some of the keys are missing, this is the place
/// of the last key that is there. If all are missing, it is the place of the whole value.
pub fn place_of(text: &str, keys: &str) -> Option<Position> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let root = parsed.ok()?.value?;
    let (mut value, mut rest, mut place) = (&root, keys, root.start());
    while let ast::Value::Object(object) = value {
        let properties = object.properties.iter().rev().filter_map(|property| {
            let after = rest.strip_prefix(property.name.as_str())?;
            let is_whole = after.is_empty() || after.starts_with('.');
            is_whole.then_some((property, after))
        });
        // The longest key that fits. Of two values with one key, readers take the last.
        let Some((property, after)) = properties.min_by_key(|(_, after)| after.len()) else {
            break;
        };
        place = property.start();
        value = &property.value;
        rest = after.strip_prefix('.').unwrap_or_default();
    }
    Some(Position::of(text, place))
}

/// The keys of an object, as a JSON Schema lists them. The pointer leads to the object in the schema.
pub fn keys(schema: &str, pointer: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let properties = schema.pointer(&format!("{pointer}/properties"));
    let keys = properties.and_then(Value::as_object).map(Map::keys);
    keys.into_iter().flatten().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_to_a_place_as_far_as_they_are_there() {
        let text = "{\n \"a\": {\"b.c\": {\"d\": 1},\n  \"b\": 2}}";
        for (keys, line, column) in [
            ("a", 2, 2),
            ("a.b.c.d", 2, 16),
            ("a.b", 3, 3),
            ("a.b.x", 3, 3),
            ("a.x", 2, 2),
            ("", 1, 1),
            ("x", 1, 1),
        ] {
            let place = place_of(text, keys);
            assert_eq!(place, Some(Position { line, column }), "{keys}");
        }
        assert_eq!(place_of("{", "a"), None);
    }
}
