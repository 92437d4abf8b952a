//! Files that people write, as JSON or TOML, checked against their JSON Schema.
//!
//! Everything that is wrong with a file is reported, each with its place. A reader takes what it
//! needs from the checked values without checking them again, and reports what no schema can say.

use crate::cut::Cut;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde_json::Value;

use crate::json::{self, Field, Node, NodeKind};
use crate::problem::{Position, Problem, did_you_mean};
use crate::reason::is_reason;

/// The most problems that are reported for one file.
const MOST_PROBLEMS: usize = 100;

/// The last column that is counted: somebody may write everything on one line.
const MOST_COLUMN: usize = 10_000;

/// A file under examination: its text, and what is wrong with it so far.
pub struct Document<'t> {
    path: &'t Path,
    text: &'t str,
    /// The offset at which each line begins.
    lines: Vec<usize>,
    /// What people call an object and a list.
    words: [&'static str; 2],
    problems: Vec<Problem>,
    /// The places of all problems, also of those that are not reported.
    places: BTreeSet<usize>,
    count: usize,
}

/// A committed JSON Schema, to check values against.
pub fn schema(text: &str) -> Value {
    // The tests of its readers would fail.
    serde_json::from_str(text).unwrap_or_default()
}

/// Reads a JSON file: checks it against its schema, and lets `take` read it. `what` are words for
/// the whole file.
pub fn read<T>(
    path: &Path,
    text: &str,
    schema: &Value,
    what: &str,
    take: impl FnOnce(&mut Document<'_>, &Node<'_>) -> T,
) -> Result<T, Vec<Problem>> {
    let root = json::parse(path, text).map_err(|problem| vec![problem])?;
    let mut document = Document::new(path, text, ["an object", "a list"]);
    document.check(schema, what, &root);
    let taken = take(&mut document, &root);
    document.finish().map(|()| taken)
}

impl<'t> Document<'t> {
    /// A file with nothing wrong yet. `words` are what people call an object and a list there.
    pub fn new(path: &'t Path, text: &'t str, words: [&'static str; 2]) -> Document<'t> {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Document {
            path,
            text,
            lines: std::iter::once(0).chain(ends).collect(),
            words,
            problems: Vec::new(),
            places: BTreeSet::new(),
            count: 0,
        }
    }

    /// The line and the column of an offset.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let line = self.lines.partition_point(|begin| *begin <= offset);
        let column = self.text.cut(self.lines[line.saturating_sub(1)]..offset);
        // A character has at most four bytes. So a problem at the end of a file of one line costs no
        // more than the others, and there may be a hundred of them.
        let column = column.cut(..column.floor_char_boundary(4 * MOST_COLUMN));
        Position {
            line,
            column: column.chars().count().min(MOST_COLUMN) + 1,
        }
    }

    /// Reports a problem at an offset, perhaps with what to do about it.
    pub fn problem(&mut self, at: usize, message: impl Into<String>, help: Option<String>) {
        self.count += 1;
        // Also beyond the most problems: `is_sound` decides which cases of a damaged file still run.
        self.places.insert(at);
        if !self.is_full() {
            self.problems.push(Problem {
                path: self.path.to_path_buf(),
                position: Some(self.position(at).into()),
                message: message.into(),
                help,
            });
        }
    }

    /// Whether no more problems are reported, so that they need no help.
    fn is_full(&self) -> bool {
        self.problems.len() == MOST_PROBLEMS
    }

    /// Whether nothing is wrong in a part of the text.
    pub fn is_sound(&self, range: &std::ops::Range<usize>) -> bool {
        self.places.range(range.clone()).next().is_none()
    }

    /// Reports a reason that nobody has filled in. `what` are words for it.
    pub fn check_reason(&mut self, reason: &Node<'_>, what: &str) {
        if reason.text().is_some_and(|text| !is_reason(text)) {
            let message = format!("{what} is not filled in");
            let help = "say why in a sentence".to_owned();
            self.problem(reason.range.start, message, Some(help));
        }
    }

    /// The reason that is the value of a key, which says what it is for.
    pub fn reason_for(&mut self, field: &Field<'_>) -> String {
        self.check_reason(&field.value, &format!("the reason for `{}`", field.name));
        field.value.text().unwrap_or_default().to_owned()
    }

    /// Everything that is wrong, in the order of the text: the first problems, and how many more.
    pub fn finish(mut self) -> Result<(), Vec<Problem>> {
        // The schema is checked over the whole file before a reader reports what no schema can say.
        self.problems.sort_by_key(|problem| problem.position);
        let more = self.count - self.problems.len();
        if more > 0 {
            let message = format!("{more} more problems in this file");
            self.problems.push(Problem::new(self.path, message));
        }
        match self.count {
            0 => Ok(()),
            _ => Err(self.problems),
        }
    }

    /// Checks a value against a JSON Schema. `what` are words for it.
    pub fn check(&mut self, schema: &Value, what: &str, value: &Node<'_>) {
        Rules { schema, what }.check(self, schema, value, "");
    }
}

/// A JSON Schema, as far as the committed ones need it: `$ref`, `anyOf`, `oneOf`, `type`, `const`,
/// `enum`, `minimum`, `maximum`, `minItems`, `minLength`, `items`, `properties`, `additionalProperties`, `required`.
struct Rules<'s> {
    schema: &'s Value,
    what: &'s str,
}

impl<'s> Rules<'s> {
    /// The value that keys lead to, for messages.
    fn named(&self, keys: &str) -> String {
        match keys {
            "" => self.what.to_owned(),
            keys if keys.starts_with('[') => format!("`{keys}` of {}", self.what),
            keys => format!("`{keys}`"),
        }
    }

    /// The schemas of which a value has to follow one.
    fn choices(&self, schema: &'s Value) -> Vec<&'s Value> {
        if let Some(name) = schema["$ref"].as_str() {
            let schema = self.schema.pointer(name.trim_start_matches('#'));
            return schema.map_or_else(Vec::new, |schema| self.choices(schema));
        }
        let several = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
        match several {
            Some(all) => all.iter().flat_map(|one| self.choices(one)).collect(),
            None => vec![schema],
        }
    }

    fn check(&self, document: &mut Document<'_>, schema: &'s Value, value: &Node<'_>, keys: &str) {
        let choices = self.choices(schema);
        let Some(schema) = choices.iter().find(|one| fits(one, value)) else {
            return self.refuse(document, &choices, value, keys);
        };
        match &value.kind {
            NodeKind::List(items) => {
                let least = schema["minItems"].as_u64().unwrap_or_default();
                if (items.len() as u64) < least {
                    let message = format!("{} is empty", self.named(keys));
                    document.problem(value.range.start, message, None);
                }
                for (index, item) in items.iter().enumerate() {
                    self.check(
                        document,
                        &schema["items"],
                        item,
                        &format!("{keys}[{index}]"),
                    );
                }
            }
            // Messages and other values that reach a template as they are have no keys to check.
            NodeKind::Object(_) if schema["additionalProperties"] != true => {
                self.check_object(document, schema, value, keys);
            }
            _ => {}
        }
    }

    fn check_object(
        &self,
        document: &mut Document<'_>,
        schema: &'s Value,
        object: &Node<'_>,
        keys: &str,
    ) {
        let known = schema["properties"].as_object();
        let names = || known.into_iter().flatten().map(|(name, _)| name);
        document.check_twice(object, &self.named(keys));
        let mut meant: Vec<String> = Vec::new();
        for field in object.fields() {
            let name = &*field.name;
            let others = &schema["additionalProperties"];
            let others = Some(others).filter(|others| others.is_object());
            if let Some(schema) = known.and_then(|known| known.get(name)).or(others) {
                let dot = if keys.is_empty() { "" } else { "." };
                self.check(
                    document,
                    schema,
                    &field.value,
                    &format!("{keys}{dot}{name}"),
                );
                continue;
            }
            let help = (!document.is_full()).then(|| {
                let near = did_you_mean(name, names());
                meant.extend(near.clone());
                near.unwrap_or_else(|| {
                    let names: Vec<_> = names().map(|name| format!("`{name}`")).collect();
                    format!("known keys are {}", names.join(", "))
                })
            });
            let message = format!("unknown key `{name}` in {}", self.named(keys));
            document.problem(field.range.start, message, help);
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().unwrap_or_default();
            // A key with a mistake in its name is there: one problem is enough.
            let is_meant = meant.iter().any(|help| help.contains(&format!("`{name}`")));
            if !is_meant && !object.fields().iter().any(|field| field.name == name) {
                let message = format!("{} has no `{name}`", self.named(keys));
                let about = known.and_then(|known| known.get(name)?["description"].as_str());
                let about = about.map(|about| format!("`{name}`: {}", about.replace('\n', " ")));
                document.problem(object.range.start, message, about);
            }
        }
    }

    /// Reports a value that none of the schemas allows.
    fn refuse(
        &self,
        document: &mut Document<'_>,
        choices: &[&Value],
        value: &Node<'_>,
        keys: &str,
    ) {
        let [object, list] = document.words;
        let mut expected: Vec<String> = Vec::new();
        for words in choices.iter().flat_map(|one| words(one, [object, list])) {
            if !expected.contains(&words) {
                expected.push(words);
            }
        }
        let is_of_type = choices.iter().any(|one| has_type(one, value));
        let found = match &value.kind {
            NodeKind::Text(text) if is_of_type => format!("`{text}`"),
            NodeKind::Number(number) if is_of_type => number.to_string(),
            NodeKind::Null => "null".to_owned(),
            NodeKind::Boolean(_) => "true or false".to_owned(),
            NodeKind::Number(_) => "a number".to_owned(),
            NodeKind::Text(_) => "a string".to_owned(),
            NodeKind::List(_) => list.to_owned(),
            NodeKind::Object(_) => object.to_owned(),
        };
        let constants = choices.iter().flat_map(|one| constants(one));
        let help = value.text().and_then(|text| did_you_mean(text, constants));
        let or = if expected.iter().any(|one| one.contains(" or ")) {
            ", or "
        } else {
            " or "
        };
        let expected = expected.join(or);
        let message = format!("{} must be {expected}, not {found}", self.named(keys));
        document.problem(value.range.start, message, help);
    }
}

impl Document<'_> {
    /// Reports keys that occur twice in an object.
    pub fn check_twice(&mut self, object: &Node<'_>, what: &str) {
        let mut seen = HashMap::new();
        for field in object.fields() {
            let (name, at) = (&*field.name, field.range.start);
            if let Some(first) = seen.get(name) {
                let first = self.position(*first);
                self.problem(
                    at,
                    format!("`{name}` occurs twice in {what}, first at {first}"),
                    None,
                );
            } else {
                seen.insert(name, at);
            }
        }
    }
}

/// The types that a schema allows. Without any it allows all.
fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let kinds = &schema["type"];
    let listed = kinds.as_array().into_iter().flatten();
    listed.chain([kinds]).filter_map(Value::as_str)
}

/// The texts that a schema allows, if it names them.
fn constants(schema: &Value) -> impl Iterator<Item = &str> {
    let listed = schema["enum"].as_array().into_iter().flatten();
    listed.chain([&schema["const"]]).filter_map(Value::as_str)
}

fn has_type(schema: &Value, value: &Node<'_>) -> bool {
    let kind = match value.kind {
        NodeKind::Null => "null",
        NodeKind::Boolean(_) => "boolean",
        NodeKind::Number(_) => "number",
        NodeKind::Text(_) => "string",
        NodeKind::List(_) => "array",
        NodeKind::Object(_) => "object",
    };
    // A number that is not whole has the right type here, and `fits` refuses it: the message then shows
    // it.
    let is_it = |one: &str| one == kind || one == "integer" && kind == "number";
    schema.get("type").is_none() || types(schema).any(is_it)
}

/// Whether a schema allows a value, apart from what is in it.
fn fits(schema: &Value, value: &Node<'_>) -> bool {
    let is_in_range = |number: &serde_json::Number| {
        let bound = |key: &str, otherwise: u64| schema[key].as_u64().unwrap_or(otherwise);
        let number = number.as_u64();
        !types(schema).any(|one| one == "integer")
            || number
                .is_some_and(|one| one >= bound("minimum", 0) && one <= bound("maximum", u64::MAX))
    };
    has_type(schema, value)
        && match &value.kind {
            NodeKind::Number(number) => is_in_range(number),
            NodeKind::Text(text) => {
                let mut allowed = constants(schema).peekable();
                (allowed.peek().is_none() || allowed.any(|one| one == text))
                    && text.len() as u64 >= schema["minLength"].as_u64().unwrap_or_default()
            }
            _ => true,
        }
}

/// What a schema allows, in words.
fn words(schema: &Value, [object, list]: [&str; 2]) -> Vec<String> {
    let word = |kind: &str| match kind {
        "boolean" => "true or false".to_owned(),
        "number" => "a number".to_owned(),
        "integer" => match (schema["minimum"].as_u64(), schema["maximum"].as_u64()) {
            (Some(least), Some(most)) => format!("a whole number from {least} to {most}"),
            _ => "a whole number".to_owned(),
        },
        "string" => {
            let all: Vec<_> = constants(schema).map(|text| format!("`{text}`")).collect();
            match all.as_slice() {
                [] => "a string".to_owned(),
                all => all.join(" or "),
            }
        }
        "array" => list.to_owned(),
        _ => object.to_owned(),
    };
    types(schema)
        // The schemas come from Rust types, where an optional key may be null. People leave it out
        // instead.
        .filter(|kind| *kind != "null")
        .map(word)
        .collect()
}
