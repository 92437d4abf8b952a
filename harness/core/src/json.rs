//! JSON texts as values with their places.
//!
//! Numbers keep their digits and objects the order of their keys.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Number, Value};

use crate::problem::{Position, Problem};

/// The most values in a document. Each takes more memory than it takes bytes.
pub const MOST_VALUES: usize = 500_000;

/// A value in a text, and where it is.
#[derive(Debug, Clone)]
pub struct Node<'t> {
    /// The bytes of the text that it takes.
    pub range: Range<usize>,
    /// Its type, with what it holds.
    pub kind: NodeKind<'t>,
}

/// The types of JSON values, each with what such a value holds.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // they are those of JSON
pub enum NodeKind<'t> {
    Null,
    Boolean(bool),
    Number(Number),
    Text(Cow<'t, str>),
    List(Vec<Node<'t>>),
    /// The entries in their order. A key may occur several times.
    Object(Vec<Field<'t>>),
}

/// A key of an object, with its value.
#[derive(Debug, Clone)]
pub struct Field<'t> {
    /// The key, with its escapes resolved.
    pub name: Cow<'t, str>,
    /// The bytes of the text that the key and its value take.
    pub range: Range<usize>,
    /// The value.
    pub value: Node<'t>,
}

/// Whether a JSON text has more values than a document may have.
pub fn has_too_many(text: &str) -> bool {
    values_in(text.as_bytes()) > MOST_VALUES
}

/// About how many values a JSON text has, without reading it as JSON.
pub fn values_in(text: &[u8]) -> usize {
    let (mut count, mut is_string, mut is_escaped) = (0, false, false);
    for byte in text {
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

/// The first key that an object in a JSON text has twice. `value` is what was read of the text: of each key
/// it has only the last value, so that it has fewer of them.
pub fn repeated_key(text: &str, value: &Value) -> Option<String> {
    fn values_of(value: &Value) -> usize {
        let items = |all: usize, count: usize| all + count.max(1);
        match value {
            Value::Array(list) => items(list.iter().map(values_of).sum(), list.len()),
            Value::Object(map) => items(map.values().map(values_of).sum(), map.len()),
            _ => 0,
        }
    }
    fn repeated(node: &Node<'_>) -> Option<String> {
        let mut known = HashSet::new();
        let twice = node
            .fields()
            .iter()
            .find(|field| !known.insert(&field.name));
        let inner = || {
            node.fields()
                .iter()
                .map(|field| &field.value)
                .chain(node.items())
        };
        twice
            .map(|field| field.name.to_string())
            .or_else(|| inner().find_map(repeated))
    }
    // Nearly all texts repeat no key, which counting shows without a second reading.
    let has_all = values_in(text.as_bytes()) == values_of(value);
    (!has_all).then(|| repeated(&parse(Path::new(""), text).ok()?))?
}

/// Parses strict JSON (RFC 8259).
pub fn parse<'t>(path: &Path, text: &'t str) -> Result<Node<'t>, Problem> {
    // serde_json is strict; the parser of the syntax tree, which is only needed for
    // positions, bounds the depth of nesting, to 512.
    read::<IgnoredAny>(path, text, "")?;
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| {
        let position = Position::of(text, error.range().start);
        Problem::new(path, format!("not JSON: {}", error.kind())).at(position)
    })?;
    let empty = || Problem::new(path, "the file is empty");
    Ok(Node::of(parsed.value.ok_or_else(empty)?))
}

/// Reads a file that a program has written. `what` says what it is when it is well.
pub fn read<T: DeserializeOwned>(path: &Path, text: &str, what: &str) -> Result<T, Problem> {
    if has_too_many(text) {
        let message = format!("more than {MOST_VALUES} values");
        return Err(Problem::new(path, message));
    }
    serde_json::from_str(text).map_err(|error| {
        if !error.is_data() {
            return syntax_problem(path, text, &error);
        }
        // A text that breaks off later is not another kind of file.
        if let Err(error) = serde_json::from_str::<Value>(text) {
            return syntax_problem(path, text, &error);
        }
        let place = Position {
            line: error.line().max(1),
            column: error.column().max(1),
        };
        Problem::new(path, format!("not {what}: {}", words(&error))).at(place)
    })
}

/// The words of an error of `serde_json`, without the place.
pub fn words(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(" at line ") {
        // Of `\\ud83d` alone: both are about half of a pair.
        Some(("unexpected end of hex escape" | "lone leading surrogate in hex escape", _)) => {
            "an escape such as `\\ud83d` is half a character, and the other half is missing"
                .to_owned()
        }
        Some((words, _)) => words.to_owned(),
        None => message,
    }
}

/// What is wrong with a text that `serde_json` cannot read.
pub fn syntax_problem(path: &Path, text: &str, error: &serde_json::Error) -> Problem {
    if text.trim().is_empty() {
        return Problem::new(path, "the file is empty");
    }
    let lines = text.split_inclusive('\n');
    let before = lines.take(error.line().saturating_sub(1)).map(str::len);
    // serde_json counts bytes in the line, and points at the character after a line
    // break as column 0.
    let offset = before.sum::<usize>() + error.column().saturating_sub(1);
    let message = format!("not JSON: {}", words(error));
    let problem = Problem::new(path, message).at(Position::of(text, offset));
    let (before, after) = text.split_at(text.floor_char_boundary(offset.min(text.len())));
    if text.starts_with('\u{FEFF}') {
        problem.help("the file begins with a byte order mark: save it without one")
    } else if after.starts_with(['/', '#']) {
        problem.help("JSON has no comments: delete it")
    } else if after.starts_with(['}', ']']) && before.trim_end().ends_with(',') {
        problem.help("delete the comma before it: JSON has none after the last entry")
    } else {
        problem
    }
}

impl<'t> Node<'t> {
    fn of(value: ast::Value<'t>) -> Node<'t> {
        let range = value.start()..value.end();
        let field = |property: ast::ObjectProp<'t>| Field {
            range: property.start()..property.end(),
            name: match property.name {
                ast::ObjectPropName::String(name) => name.value,
                ast::ObjectPropName::Word(name) => name.value.into(),
            },
            value: Node::of(property.value),
        };
        let kind = match value {
            ast::Value::NullKeyword(_) => NodeKind::Null,
            ast::Value::BooleanLit(literal) => NodeKind::Boolean(literal.value),
            // The text is strict JSON, so that every number is one.
            ast::Value::NumberLit(literal) => {
                NodeKind::Number(literal.value.parse().unwrap_or_else(|_| 0.into()))
            }
            ast::Value::StringLit(literal) => NodeKind::Text(literal.value),
            ast::Value::Array(array) => {
                NodeKind::List(array.elements.into_iter().map(Node::of).collect())
            }
            ast::Value::Object(object) => {
                NodeKind::Object(object.properties.into_iter().map(field).collect())
            }
        };
        Node { range, kind }
    }

    /// The value of a key. Of several values the last one counts, as in Python.
    pub fn entry(&self, key: &str) -> Option<&Node<'t>> {
        let mut fields = self.fields().iter().rev();
        let field = fields.find(|field| field.name == key)?;
        Some(&field.value)
    }

    /// The value of a key, unless it is null.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        let value = self.entry(key);
        value.filter(|value| !matches!(value.kind, NodeKind::Null))
    }

    /// The entries of an object. Another value has none.
    pub fn fields(&self) -> &[Field<'t>] {
        match &self.kind {
            NodeKind::Object(fields) => fields,
            _ => &[],
        }
    }

    /// The elements of a list. Another value has none.
    pub fn items(&self) -> &[Node<'t>] {
        match &self.kind {
            NodeKind::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text under a key of an object. None if the key is not there, or its value is no text.
    pub fn text_of(&self, key: &str) -> Option<String> {
        self.get(key)?.text().map(str::to_owned)
    }

    /// The value exactly as it is written. A key that occurs several times keeps its first place
    /// and its last value, as in Python's json module.
    pub fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Boolean(value) => Value::Bool(*value),
            NodeKind::Number(number) => Value::Number(number.clone()),
            NodeKind::Text(text) => Value::String(text.to_string()),
            NodeKind::List(items) => items.iter().map(Node::value).collect(),
            NodeKind::Object(fields) => fields
                .iter()
                .map(|field| (field.name.to_string(), field.value.value()))
                .collect(),
        }
    }
}

/// Where a value is in a JSON text: keys with points between them lead to it, such as
/// `fields.content`. A key may contain points. If some of the keys are missing, this is the place
/// of the last key that is there. If all are missing, it is the place of the whole value.
pub fn place_of(text: &str, keys: &str) -> Option<Position> {
    let root = parse(Path::new(""), text).ok()?;
    let (mut value, mut rest, mut place) = (&root, keys, root.range.start);
    loop {
        // A key may contain points, so that the keys cannot be split before they are compared.
        let fields = value.fields().iter().rev().filter_map(|field| {
            let after = rest.strip_prefix(&*field.name)?;
            let is_whole = after.is_empty() || after.starts_with('.');
            is_whole.then_some((field, after))
        });
        // The longest key that fits. Of two values with one key, readers take the last.
        let Some((field, after)) = fields.min_by_key(|(_, after)| after.len()) else {
            return Some(Position::of(text, place));
        };
        place = field.range.start;
        value = &field.value;
        rest = after.strip_prefix('.').unwrap_or_default();
    }
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
