//! A response template: how the parts of a model's answer become the fields of a message.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::content::{PARSERS, Patterns};
use crate::failure::{Kind, ParseError, PatternError, TemplateError, TemplateErrorKind};
use crate::pattern::budget::Budget;
use crate::pattern::search::Pattern;
use crate::text::Text;
use crate::transform::Transform;
use crate::value::{Object, Value};

/// The version of transformers whose parser this is.
pub const TRANSFORMERS: &str = "5.24.0";

/// A response template that has been checked and compiled.
///
/// It is the object that a tokenizer's configuration has under `response_template`, in the language
/// of transformers 5.24. What the reference refuses is refused here, too.
///
/// It is shared: a clone is as cheap as a reference.
#[derive(Clone, Debug)]
pub struct ResponseTemplate {
    pub(crate) parts: Arc<Parts>,
}

/// The parts of a response template.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) defaults: Object,
    pub(crate) fields: Vec<Field>,
    /// The field that takes the text outside of all regions.
    pub(crate) implicit: Option<usize>,
    pub(crate) anchor: Delimiter,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) open: Option<Delimiter>,
    pub(crate) close: Option<Delimiter>,
    pub(crate) parser: String,
    pub(crate) args: Value,
    pub(crate) patterns: Patterns,
    pub(crate) repeats: bool,
    pub(crate) join: Option<Text>,
    pub(crate) optional: bool,
    pub(crate) transform: Option<Transform>,
    pub(crate) each: bool,
}

/// What opens or closes a region.
#[derive(Debug)]
pub(crate) struct Delimiter {
    /// The key of the template that has it.
    pub(crate) key: &'static str,
    pub(crate) pattern: Pattern,
    /// Whether it is written as texts, not as a pattern.
    pub(crate) is_literal: bool,
    /// Whether more text could make a match at the end longer.
    pub(crate) may_grow: bool,
}

/// The most fields of a response template. Each character of an answer may begin any of them, so more
/// would make each answer slow.
const MOST_FIELDS: usize = 200;

const TEMPLATE_KEYS: [&str; 5] = [
    "version",
    "defaults",
    "fields",
    "start_anchor",
    "start_anchor_pattern",
];

const FIELD_KEYS: [&str; 11] = [
    "open",
    "open_pattern",
    "close",
    "close_pattern",
    "content",
    "content_args",
    "repeats",
    "join",
    "optional",
    "transform",
    "transform_each",
];

impl ResponseTemplate {
    /// Reads a response template from JSON text. The message of a syntax error has its line and
    /// column.
    pub fn from_text(text: &str) -> Result<ResponseTemplate, TemplateError> {
        let json: Json = serde_json::from_str(text).map_err(|error| TemplateError {
            path: String::new(),
            kind: TemplateErrorKind::Syntax,
            message: error.to_string(),
        })?;
        ResponseTemplate::from_json(&json)
    }

    /// Reads a response template, and compiles its patterns.
    pub fn from_json(json: &Json) -> Result<ResponseTemplate, TemplateError> {
        let Value::Object(spec) = Value::of(json) else {
            return Err(refused("", "a response template is an object"));
        };
        let get = |key: &str| spec.get(&Text::from(key));
        match get("version") {
            None => {}
            Some(version) if is_one(version) => {}
            // The language of a later version may be another one.
            Some(Value::Integer(version)) => {
                let what = format!("version {version} of the language");
                return Err(unknown("version", &what, &["1"]));
            }
            Some(_) => return Err(refused("version", "the version is 1")),
        }
        check_keys(&spec, "", &TEMPLATE_KEYS)?;
        let defaults = match get("defaults") {
            None => Object::new(),
            Some(Value::Object(defaults)) => defaults.clone(),
            Some(_) => return Err(refused("defaults", "the defaults are an object")),
        };
        let specs = match get("fields") {
            Some(Value::Object(fields)) if !fields.is_empty() => fields,
            _ => {
                return Err(refused(
                    "fields",
                    "the fields are an object, and there is at least one",
                ));
            }
        };
        if specs.len() > MOST_FIELDS {
            let count = specs.len();
            return Err(TemplateError {
                path: "fields".to_owned(),
                kind: TemplateErrorKind::Unsupported,
                message: format!("{count} fields, where at most {MOST_FIELDS} are expected"),
            });
        }
        let fields = specs
            .iter()
            .map(|(name, spec)| Field::read(&name.to_string(), spec));
        let fields: Vec<Field> = fields.collect::<Result<_, _>>()?;
        let mut without_open = (0..fields.len()).filter(|at| fields[*at].open.is_none());
        let implicit = without_open.next();
        if let Some(other) = without_open.next() {
            let path = format!("fields.{}", fields[other].name);
            return Err(refused(
                &path,
                "only one field may have neither `open` nor `open_pattern`",
            ));
        }
        let anchor = Delimiter::read(&spec, "", "start_anchor", "start_anchor_pattern")?;
        let anchor = anchor.ok_or_else(|| {
            refused(
                "start_anchor",
                "there is a `start_anchor` or a `start_anchor_pattern`",
            )
        })?;
        Ok(ResponseTemplate {
            parts: Arc::new(Parts {
                defaults,
                fields,
                implicit,
                anchor,
            }),
        })
    }

    /// The part of a prompt that belongs to the answer: what is after the last anchor.
    pub(crate) fn after_anchor<'t>(
        &self,
        prompt: &'t [u32],
        budget: &mut Budget,
    ) -> Result<&'t [u32], ParseError> {
        let anchors = self.parts.anchor.pattern.all(prompt, budget)?;
        Ok(&prompt[anchors.last().map_or(0, |last| last.end)..])
    }
}

impl Field {
    fn read(name: &str, spec: &Value) -> Result<Field, TemplateError> {
        let path = format!("fields.{name}");
        let at = |key: &str| format!("{path}.{key}");
        let Value::Object(spec) = spec else {
            return Err(refused(&path, "a field is an object"));
        };
        check_keys(spec, &path, &FIELD_KEYS)?;
        let get = |key: &str| spec.get(&Text::from(key));
        let parser = match get("content") {
            None => "text".to_owned(),
            Some(Value::Text(parser)) if PARSERS.iter().any(|known| parser.is(known)) => {
                parser.to_string()
            }
            Some(Value::Text(parser)) => {
                let what = format!("the content `{parser}`");
                return Err(unknown(&at("content"), &what, &PARSERS));
            }
            Some(other) => {
                let kind = match other {
                    Value::List(_) | Value::Object(_) => Kind::Type,
                    _ => Kind::Value,
                };
                let message = format!("the content is one of {}", PARSERS.join(", "));
                return Err(refused_as(kind, &at("content"), &message));
            }
        };
        let open = Delimiter::read(spec, &path, "open", "open_pattern")?;
        let close = Delimiter::read(spec, &path, "close", "close_pattern")?;
        let repeats = get("repeats").is_some_and(Value::is_true);
        let join = match get("join") {
            None | Some(Value::Null) => None,
            Some(Value::Text(join)) if repeats => Some(join.clone()),
            Some(Value::Text(_)) => {
                return Err(refused(&at("join"), "a field with `join` has `repeats`"));
            }
            Some(_) => return Err(refused(&at("join"), "a `join` is a text")),
        };
        let each = match get("transform_each") {
            None => false,
            Some(Value::Bool(each)) => *each,
            Some(_) => {
                return Err(refused(
                    &at("transform_each"),
                    "`transform_each` is true or false",
                ));
            }
        };
        let transform = get("transform").filter(|transform| **transform != Value::Null);
        if each && transform.is_none() {
            return Err(refused(
                &at("transform_each"),
                "a field with `transform_each` has a `transform`",
            ));
        }
        let transform = transform.map(|transform| {
            Transform::read(transform).map_err(|text| {
                let message = format!(
                    "`{text}` mixes a placeholder with other text; a placeholder is a whole text"
                );
                refused(&at("transform"), &message)
            })
        });
        let transform = transform.transpose()?;
        for (key, delimiter) in [("open_pattern", &open), ("close_pattern", &close)] {
            let name = delimiter
                .as_ref()
                .and_then(|delimiter| delimiter.pattern.names().next());
            if let (Some(name), None) = (name, &transform) {
                let message = format!("a group has the name `{name}`, and no `transform` uses it");
                return Err(refused(&at(key), &message));
            }
        }
        let args = get("content_args")
            .cloned()
            .unwrap_or_else(|| Value::Object(Object::new()));
        let mut patterns = Patterns::default();
        patterns
            .collect(&parser, &args)
            .map_err(|(key, error)| unsupported(&at(&format!("content_args.{key}")), &error))?;
        Ok(Field {
            name: name.to_owned(),
            open,
            close,
            parser,
            args,
            patterns,
            repeats,
            join,
            optional: get("optional").is_none_or(Value::is_true),
            transform,
            each,
        })
    }

    /// Whether its text is its value, so that a part of the text is a part of the value.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.parser.as_str(), "text" | "int" | "float" | "bool")
    }
}

impl Delimiter {
    fn read(
        spec: &Object,
        path: &str,
        literal_key: &'static str,
        pattern_key: &'static str,
    ) -> Result<Option<Delimiter>, TemplateError> {
        let at = |key: &str| {
            if path.is_empty() {
                key.to_owned()
            } else {
                format!("{path}.{key}")
            }
        };
        let literal = spec.get(&Text::from(literal_key));
        let pattern = spec.get(&Text::from(pattern_key));
        match (literal, pattern) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => {
                let message = format!("there is a `{literal_key}` or a `{pattern_key}`, not both");
                Err(refused(&at(pattern_key), &message))
            }
            (Some(literal), None) => {
                Delimiter::literal(literal, literal_key, &at(literal_key)).map(Some)
            }
            (None, Some(Value::Text(pattern))) => {
                Delimiter::pattern(&pattern.to_string(), pattern_key, &at(pattern_key)).map(Some)
            }
            (None, Some(_)) => Err(refused_as(
                Kind::Type,
                &at(pattern_key),
                "a pattern is a text",
            )),
        }
    }

    fn literal(value: &Value, key: &'static str, path: &str) -> Result<Delimiter, TemplateError> {
        let items = match value {
            Value::Text(_) => std::slice::from_ref(value),
            Value::List(items) if !items.is_empty() => items,
            _ => {
                return Err(refused(
                    path,
                    "a delimiter is a text or a list of texts that is not empty",
                ));
            }
        };
        let mut literals: Vec<String> = Vec::new();
        for item in items {
            match item {
                Value::Text(literal) if !literal.is_empty() => {
                    let literal = literal.to_string();
                    if !literals.contains(&literal) {
                        literals.push(literal);
                    }
                }
                _ => return Err(refused(path, "a delimiter is a text that is not empty")),
            }
        }
        let extends = |longer: &String| {
            literals
                .iter()
                .any(|literal| literal != longer && longer.starts_with(literal.as_str()))
        };
        let may_grow = literals.iter().any(extends);
        let texts: Vec<&str> = literals.iter().map(String::as_str).collect();
        let pattern = Pattern::literal(&texts).map_err(|error| unsupported(path, &error))?;
        Ok(Delimiter {
            key,
            pattern,
            is_literal: true,
            may_grow,
        })
    }

    fn pattern(text: &str, key: &'static str, path: &str) -> Result<Delimiter, TemplateError> {
        let pattern = Pattern::new(text).map_err(|error| {
            if error.unsupported {
                unsupported(path, &error)
            } else {
                refused(path, &describe(&error))
            }
        })?;
        let unsure = if key == "start_anchor_pattern" {
            None
        } else if pattern.begins_with_any() {
            Some("any character at the start: there `regex` reads memory that it has not written")
        } else if pattern.has_reference() {
            Some("a reference to a group")
        } else {
            None
        };
        if let Some(what) = unsure {
            return Err(TemplateError {
                path: path.to_owned(),
                kind: TemplateErrorKind::Unsupported,
                message: format!("a delimiter is not supported that has {what}"),
            });
        }
        Ok(Delimiter {
            key,
            pattern,
            is_literal: false,
            may_grow: true,
        })
    }
}

/// Whether Python takes a value for equal to 1.
fn is_one(value: &Value) -> bool {
    match value {
        Value::Bool(value) => *value,
        Value::Integer(integer) => integer.digits() == "1",
        Value::Float(float) => (*float - 1.0).abs() == 0.0,
        _ => false,
    }
}

fn check_keys(entries: &Object, path: &str, known: &[&str]) -> Result<(), TemplateError> {
    match entries
        .keys()
        .find(|key| !known.iter().any(|known| key.is(known)))
    {
        None => Ok(()),
        Some(key) => {
            let path = if path.is_empty() {
                key.to_string()
            } else {
                format!("{path}.{key}")
            };
            Err(unknown(&path, &format!("the key `{key}`"), known))
        }
    }
}

/// What the reference does not know, and another version of it may.
fn unknown(path: &str, what: &str, known: &[&str]) -> TemplateError {
    TemplateError {
        path: path.to_owned(),
        kind: TemplateErrorKind::Unknown(Kind::Value),
        message: format!(
            "{what} is not supported yet: transformers {TRANSFORMERS} knows {}",
            known.join(", ")
        ),
    }
}

fn refused(path: &str, message: &str) -> TemplateError {
    refused_as(Kind::Value, path, message)
}

fn refused_as(kind: Kind, path: &str, message: &str) -> TemplateError {
    TemplateError {
        path: path.to_owned(),
        kind: TemplateErrorKind::Refused(kind),
        message: message.to_owned(),
    }
}

fn unsupported(path: &str, error: &PatternError) -> TemplateError {
    TemplateError {
        path: path.to_owned(),
        kind: TemplateErrorKind::Unsupported,
        message: describe(error),
    }
}

fn describe(error: &PatternError) -> String {
    format!(
        "{}, at character {} of the pattern",
        error.message, error.at
    )
}
