//! JSON, as Python's `json` module reads and writes it.

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt::Write as _;

use minijinja::Error;
use minijinja::value::{Value, ValueKind};
use serde_json::{Map, Value as Json};

use crate::meter::{CHARACTER, ITEM, nested, produce, work};
use crate::provenance;
use crate::python::dictionaries::{by_text, entries};
use crate::python::kinds::is_dictionary;
use crate::python::numbers::{big_digits, big_integer, number as number_of, write_float};
use crate::python::sorting::sorted;
use crate::python::undefined;
use crate::refusal::invalid;

/// A JSON value as Python's `json` module loads it: an integer keeps all its digits, a number
/// with a point or an exponent is a float.
pub(crate) fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(bool) => Value::from(*bool),
        Json::String(text) => Value::from(text.as_str()),
        Json::Number(number) => self::number(number.as_str()),
        Json::Array(items) => Value::from(items.iter().map(value).collect::<Vec<_>>()),
        Json::Object(map) => object(map),
    }
}

fn object(map: &Map<String, Json>) -> Value {
    let entries = map.iter();
    by_text(entries.map(|(key, json)| (Value::from(key.as_str()), value(json))))
}

fn number(digits: &str) -> Value {
    if digits.contains(['.', 'e', 'E']) {
        // Rust reads all numbers of JSON. One that is too large becomes infinite, as in Python.
        Value::from(digits.parse::<f64>().unwrap_or(f64::NAN))
    } else if let Ok(small) = digits.parse::<i64>() {
        Value::from(small)
    } else if let Ok(large) = digits.parse::<i128>() {
        Value::from(large)
    } else {
        // Python also writes and reads floats that JSON does not have.
        match digits {
            "NaN" => Value::from(f64::NAN),
            "Infinity" => Value::from(f64::INFINITY),
            "-Infinity" => Value::from(f64::NEG_INFINITY),
            _ => big_integer(digits),
        }
    }
}

/// The keyword arguments of `json.dumps()` that transformers' `tojson` passes on.
#[derive(Debug, Clone)]
pub(crate) struct JsonStyle {
    /// Whether everything outside of ASCII is escaped.
    pub(crate) ensure_ascii: bool,
    /// The text that indents a level. Without it everything is on one line.
    pub(crate) indent: Option<String>,
    /// The text between items.
    pub(crate) item_separator: Cow<'static, str>,
    /// The text between a key and its value.
    pub(crate) key_separator: Cow<'static, str>,
    pub(crate) sort_keys: bool,
}

impl JsonStyle {
    /// transformers' defaults, with an indent.
    pub(crate) fn indented(indent: Option<usize>) -> JsonStyle {
        JsonStyle {
            ensure_ascii: false,
            item_separator: if indent.is_some() { "," } else { ", " }.into(),
            key_separator: ": ".into(),
            indent: indent.map(|width| " ".repeat(width)),
            sort_keys: false,
        }
    }
}

/// `json.dumps(value, **style)`.
pub(crate) fn dumps(value: &Value, style: &JsonStyle) -> Result<String, Error> {
    provenance::json_begins();
    let mut out = String::new();
    let mut writer = JsonWriter {
        style,
        out: &mut out,
        level: 0,
    };
    writer.value(value)?;
    Ok(out)
}

/// `json.dumps(value, **style)`, as a value.
pub(crate) fn dumped(value: &Value, style: &JsonStyle) -> Result<Value, Error> {
    thread_local! {
        /// A buffer for short texts, since minijinja copies each into a new text.
        static WRITTEN: Cell<String> = const { Cell::new(String::new()) };
    }
    const SHORT: usize = 1 << 16;
    provenance::json_begins();
    let mut out = WRITTEN.take();
    out.clear();
    let mut writer = JsonWriter {
        style,
        out: &mut out,
        level: 0,
    };
    writer.value(value)?;
    let text = Value::from(out.as_str());
    if out.capacity() <= SHORT {
        WRITTEN.set(out);
    }
    Ok(text)
}

struct JsonWriter<'w> {
    style: &'w JsonStyle,
    out: &'w mut String,
    level: usize,
}

impl JsonWriter<'_> {
    fn value(&mut self, value: &Value) -> Result<(), Error> {
        work(ITEM)?;
        produce(8)?;
        match value.kind() {
            ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self
                .out
                .push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.number(value),
            ValueKind::String => {
                let text = value.as_str().unwrap_or_default();
                self.string(text)?;
            }
            ValueKind::Seq => self.traced(value, Self::list)?,
            ValueKind::Map if is_dictionary(value) => self.traced(value, Self::map)?,
            _ => {
                if let Some(digits) = big_digits(value) {
                    produce(digits.len())?;
                    self.out.push_str(digits);
                } else {
                    return Err(not_serializable(value));
                }
            }
        }
        Ok(())
    }

    fn number(&mut self, value: &Value) {
        if value.is_integer() {
            let _ = write!(self.out, "{value}");
        } else {
            let float = f64::try_from(value.clone()).unwrap_or(f64::NAN);
            if float.is_nan() {
                self.out.push_str("NaN");
            } else if float.is_infinite() {
                self.out
                    .push_str(if float > 0.0 { "Infinity" } else { "-Infinity" });
            } else {
                write_float(float, self.out);
            }
        }
    }

    /// Writes a list or a map. A traced render notes where it is.
    fn traced(
        &mut self,
        value: &Value,
        write: fn(&mut Self, &Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !provenance::is_traced() {
            return write(self, value);
        }
        provenance::json_container_begins(self.out.len(), value);
        write(self, value)?;
        provenance::json_container_ends(self.out.len());
        Ok(())
    }

    fn list(&mut self, value: &Value) -> Result<(), Error> {
        if value.len() == Some(0) {
            self.out.push_str("[]");
            return Ok(());
        }
        self.out.push('[');
        self.within(']', |writer| {
            for (index, item) in value.try_iter()?.enumerate() {
                writer.separate(index)?;
                writer.value(&item)?;
            }
            Ok(())
        })
    }

    fn map(&mut self, value: &Value) -> Result<(), Error> {
        let mut pairs = entries(value)?;
        if pairs.is_empty() {
            self.out.push_str("{}");
            return Ok(());
        }
        if self.style.sort_keys {
            let all_text = pairs.iter().all(|(key, _)| key.as_str().is_some());
            let all_numbers = pairs.iter().all(|(key, _)| number_of(key).is_some());
            if !all_text && !all_numbers && pairs.len() > 1 {
                return Err(invalid("keys of different types cannot be sorted"));
            }
            // Sorting compares each key with some of the others.
            let steps = 2 * pairs.len().checked_ilog2().unwrap_or(0) as usize;
            for (key, _) in pairs.iter() {
                work(steps * (ITEM + key.as_str().map_or(0, str::len)))?;
            }
            let in_order = sorted(pairs.into_owned(), false, |(a, _), (b, _)| {
                let order = match (number_of(a), number_of(b)) {
                    (Some(a), Some(b)) => a.compare(b),
                    _ => Some(a.cmp(b)),
                };
                Ok(order == Some(Ordering::Less))
            })?;
            pairs = in_order.into();
        }
        self.out.push('{');
        self.within('}', |writer| {
            for (index, (key, item)) in pairs.iter().enumerate() {
                writer.separate(index)?;
                writer.key(key)?;
                produce(writer.style.key_separator.len())?;
                writer.out.push_str(&writer.style.key_separator);
                writer.value(item)?;
            }
            Ok(())
        })
    }

    fn key(&mut self, key: &Value) -> Result<(), Error> {
        match key.kind() {
            ValueKind::String => self.string(key.as_str().unwrap_or_default())?,
            ValueKind::None | ValueKind::Bool | ValueKind::Number => {
                self.out.push('"');
                self.value(key)?;
                self.out.push('"');
            }
            kind => {
                return Err(invalid(format!(
                    "keys must be str, int, float, bool or None, not {kind}"
                )));
            }
        }
        Ok(())
    }

    /// Appends what is within a list or a dictionary, and the bracket that closes it.
    fn within(
        &mut self,
        close: char,
        write: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.level += 1;
        nested(|| write(self))??;
        self.level -= 1;
        self.line_break()?;
        self.out.push(close);
        Ok(())
    }

    fn separate(&mut self, index: usize) -> Result<(), Error> {
        if index > 0 {
            produce(self.style.item_separator.len())?;
            self.out.push_str(&self.style.item_separator);
        }
        self.line_break()
    }

    fn line_break(&mut self) -> Result<(), Error> {
        if let Some(indent) = &self.style.indent {
            produce(indent.len().saturating_mul(self.level))?;
            self.out.push('\n');
            for _ in 0..self.level {
                self.out.push_str(indent);
            }
        }
        Ok(())
    }

    /// Appends a text, escaped as `ESCAPE` and `ESCAPE_ASCII` of `json.encoder` say.
    fn string(&mut self, text: &str) -> Result<(), Error> {
        work(text.len().saturating_mul(CHARACTER))?;
        produce(text.len())?;
        let start = self.out.len();
        self.out.push('"');
        let mut rest = text;
        while !rest.is_empty() {
            // Most characters need no escape: they are copied in runs.
            let run = rest
                .bytes()
                .position(|byte| self.may_need_escape(byte))
                .unwrap_or(rest.len());
            self.out.push_str(&rest[..run]);
            rest = &rest[run..];
            let mut chars = rest.chars();
            if let Some(c) = chars.next() {
                // An escape has up to six characters, even for a single byte.
                work(ITEM / 4)?;
                produce(5)?;
                self.escape(c);
                rest = chars.as_str();
            }
        }
        self.out.push('"');
        if provenance::is_traced() {
            provenance::json_text(start..self.out.len(), text);
        }
        Ok(())
    }

    /// Whether a character that begins with this byte may need an escape.
    fn may_need_escape(&self, byte: u8) -> bool {
        byte < b' ' || byte == b'"' || byte == b'\\' || (self.style.ensure_ascii && byte > b'~')
    }

    fn escape(&mut self, c: char) {
        match c {
            '"' => self.out.push_str("\\\""),
            '\\' => self.out.push_str("\\\\"),
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            '\u{8}' => self.out.push_str("\\b"),
            '\u{C}' => self.out.push_str("\\f"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(self.out, "\\u{unit:04x}");
                }
            }
        }
    }
}

fn not_serializable(value: &Value) -> Error {
    if let Some(message) = undefined::message(value) {
        return invalid(format!(
            "object of type undefined is not JSON serializable: {message}"
        ));
    }
    invalid(format!(
        "object of type {} is not JSON serializable",
        value.kind()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(json: &str, style: &JsonStyle) -> String {
        dumps(&value(&serde_json::from_str(json).unwrap()), style).unwrap()
    }

    // The expected values are what CPython 3.11's json module prints.
    #[test]
    fn one_line() {
        let style = JsonStyle::indented(None);
        for (json, expected) in [
            (
                r#"{"z":1,"a":[true,null]}"#,
                r#"{"z": 1, "a": [true, null]}"#,
            ),
            ("[]", "[]"),
            ("{}", "{}"),
            (
                r#""<b> & 'q' \u2028 é \u007f / \u0001""#,
                "\"<b> & 'q' \u{2028} é \u{7f} / \\u0001\"",
            ),
            (
                "[1.0, 1e-7, 1E5, 1e16, 9007199254740993]",
                "[1.0, 1e-07, 100000.0, 1e+16, 9007199254740993]",
            ),
            (
                "[123456789012345678901234567890123456789012345]",
                "[123456789012345678901234567890123456789012345]",
            ),
        ] {
            assert_eq!(dump(json, &style), expected);
        }
    }

    #[test]
    fn keywords() {
        let json = r#"{"b": "é🙂\u007f", "a": {"y": [], "x": [1]}}"#;
        let ascii = JsonStyle {
            ensure_ascii: true,
            sort_keys: true,
            ..JsonStyle::indented(None)
        };
        assert_eq!(
            dump(json, &ascii),
            r#"{"a": {"x": [1], "y": []}, "b": "\u00e9\ud83d\ude42\u007f"}"#
        );
        let compact = JsonStyle {
            item_separator: ",".into(),
            key_separator: ":".into(),
            ..JsonStyle::indented(None)
        };
        assert_eq!(dump(r#"{"a": [1, 2]}"#, &compact), r#"{"a":[1,2]}"#);
        assert_eq!(
            dump(r#"{"a": [1, {}], "b": 2}"#, &JsonStyle::indented(Some(2))),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": 2\n}"
        );
        assert_eq!(dump("[1]", &JsonStyle::indented(Some(0))), "[\n1\n]");
    }

    #[test]
    fn what_is_no_json() {
        for value in [
            Value::UNDEFINED,
            Value::from_pairs([(Value::from(vec![1]), 1)]),
        ] {
            assert!(dumps(&value, &JsonStyle::indented(None)).is_err());
        }
    }
}
