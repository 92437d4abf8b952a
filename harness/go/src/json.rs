//! Writes JSON as the function `json` does: Go's `encoding/json.Marshal`.
//!
//! It escapes HTML characters and the two line separators, replaces bytes that are not UTF-8 with
//! U+FFFD, sorts the keys of maps and keeps the order of structs' fields.

use crate::base64_text;
use crate::meter::{Sink, WriteResult};
use crate::quote::hex;
use crate::values::{ListKind, MapKind, Omitted, StructKind, Text, Value};

/// The work to write one value.
const VALUE: usize = 100;

/// The work to write a number with a point.
const FLOAT: usize = 1500;

pub(crate) fn marshal(out: &mut Sink<'_>, value: &Value) -> WriteResult {
    let outer = out.begin(value);
    write(out, value)?;
    out.end(outer);
    Ok(())
}

fn write(out: &mut Sink<'_>, value: &Value) -> WriteResult {
    out.meter.work(VALUE)?;
    match value {
        Value::Absent | Value::Nil | Value::Ordered(None) => out.push(b"null"),
        Value::Bool(value) => out.push(if *value { b"true" } else { b"false" }),
        Value::Int(value) => out.push_str(&value.to_string()),
        Value::Byte(value) => out.push_str(&value.to_string()),
        Value::Float(value) => {
            out.meter.work(FLOAT)?;
            out.push_str(&float(*value))
        }
        Value::Text(text) => write_text(out, text),
        Value::Bytes(bytes) => {
            out.push(b"\"")?;
            base64_text::encode(out, bytes)?;
            out.push(b"\"")
        }
        Value::List(list) if list.is_nil() => out.push(b"null"),
        Value::List(list) => match (list.items(), list.kind) {
            ([one], ListKind::PropertyType) => marshal(out, one),
            (items, _) => {
                out.push(b"[")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(b",")?;
                    }
                    marshal(out, item)?;
                }
                out.push(b"]")
            }
        },
        Value::Map(map) if map.entries.is_none() => out.push(b"null"),
        Value::Map(map) => write_entries(out, map.iter()),
        Value::Ordered(Some(entries)) => {
            write_entries(out, entries.iter().map(|(key, value)| (key, value)))
        }
        Value::Struct(structure) => {
            out.push(b"{")?;
            let mut first = true;
            for (field, value) in structure.kind.fields().iter().zip(&structure.fields) {
                let is_omitted = match field.omitted {
                    Omitted::Nothing => false,
                    Omitted::Empty => is_empty(value),
                    Omitted::Nil => matches!(value, Value::Nil),
                };
                if is_omitted {
                    continue;
                }
                if !first {
                    out.push(b",")?;
                }
                first = false;
                out.push(b"\"")?;
                out.push_name(field.json, value)?;
                out.push(b"\"")?;
                out.push(b":")?;
                marshal(out, value)?;
            }
            out.push(b"}")
        }
    }
}

fn write_entries<'v>(
    out: &mut Sink<'_>,
    entries: impl Iterator<Item = (&'v Text, &'v Value)>,
) -> WriteResult {
    out.push(b"{")?;
    for (i, (key, value)) in entries.enumerate() {
        if i > 0 {
            out.push(b",")?;
        }
        write_text(out, key)?;
        out.push(b":")?;
        marshal(out, value)?;
    }
    out.push(b"}")
}

/// Whether `omitempty` leaves a value out, if the field's type is not `any`.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Nil | Value::Ordered(None) => true,
        Value::Text(text) => text.is_empty(),
        Value::List(list) => list.items().is_empty(),
        _ => false,
    }
}

fn write_text(out: &mut Sink<'_>, text: &[u8]) -> WriteResult {
    out.push(b"\"")?;
    for chunk in text.utf8_chunks() {
        let valid = chunk.valid().as_bytes();
        let mut from = 0;
        let mut at = 0;
        while at < valid.len() {
            let (length, control);
            let escaped: &[u8] = match valid[at] {
                b'"' => {
                    length = 1;
                    b"\\\""
                }
                b'\\' => {
                    length = 1;
                    b"\\\\"
                }
                byte @ (0..0x20 | b'<' | b'>' | b'&') => {
                    length = 1;
                    match byte {
                        8 => b"\\b",
                        12 => b"\\f",
                        b'\n' => b"\\n",
                        b'\r' => b"\\r",
                        b'\t' => b"\\t",
                        byte => {
                            let [high, low] = hex(byte, false);
                            control = [b'\\', b'u', b'0', b'0', high, low];
                            &control
                        }
                    }
                }
                // U+2028 and U+2029.
                0xe2 if matches!(&valid[at..at + 3], [_, 0x80, 0xa8 | 0xa9]) => {
                    length = 3;
                    if valid[at + 2] == 0xa8 {
                        b"\\u2028"
                    } else {
                        b"\\u2029"
                    }
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            out.push(&valid[from..at])?;
            from = at + length;
            out.in_place_of(&valid[at..from], |out| out.escape(escaped))?;
            at = from;
        }
        out.push(&valid[from..])?;
        for byte in chunk.invalid().chunks(1) {
            out.in_place_of(byte, |out| out.escape(b"\\ufffd"))?;
        }
    }
    out.push(b"\"")
}

/// A number as JavaScript writes it: with an exponent below 1e-6 and from 1e21 on.
pub(crate) fn float(value: f64) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let size = value.abs();
    if !(1e-6..1e21).contains(&size) {
        // `1e21` is `1e+21` in Go; negative exponents have no leading zero.
        let text = rolecall_core::float::scientific(value);
        return match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                format!("{digits}e+{exponent}")
            }
            _ => text,
        };
    }
    rolecall_core::float::decimal(value)
}

/// Whether a value has a String method.
pub(crate) fn is_stringer(value: &Value) -> bool {
    match value {
        Value::Map(map) => matches!(map.kind, MapKind::Arguments | MapKind::Properties),
        Value::List(list) => matches!(list.kind, ListKind::Tools | ListKind::PropertyType),
        Value::Struct(structure) => structure.kind == StructKind::Tool,
        _ => false,
    }
}

/// Writes the result of a value's String method.
pub(crate) fn string(out: &mut Sink<'_>, value: &Value) -> WriteResult {
    match value {
        Value::Map(map) if map.entries.is_none() => out.push(b"{}"),
        Value::List(list) if list.kind == ListKind::PropertyType => match list.items() {
            [] => Ok(()),
            [Value::Text(one)] => out.push(one),
            many => {
                out.push(b"[")?;
                for (i, one) in many.iter().enumerate() {
                    if i > 0 {
                        out.push(b" ")?;
                    }
                    if let Value::Text(one) = one {
                        out.push(one)?;
                    }
                }
                out.push(b"]")
            }
        },
        other => out.by("json", |out| marshal(out, other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::tests::written;

    #[test]
    fn numbers_are_as_in_go() {
        for (value, text) in [
            (1_000_000.0, "1000000"),
            (1e21, "1e+21"),
            (1.5e-7, "1.5e-7"),
            (-0.0, "-0"),
            (12_345_678_901_234_567_890.0, "12345678901234567000"),
        ] {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn html_and_broken_text_are_escaped() {
        let value = Value::Text((*b"<\xe6\x97>\x01").into());
        assert_eq!(
            written(|out| marshal(out, &value)),
            br#""\u003c\ufffd\ufffd\u003e\u0001""#
        );
        let value = Value::text("a\u{2028}\u{2027}\u{2029}\"\\\n&é");
        assert_eq!(
            written(|out| marshal(out, &value)),
            "\"a\\u2028\u{2027}\\u2029\\\"\\\\\\n\\u0026é\"".as_bytes()
        );
    }
}
