//! What `json` writes: Go's `encoding/json.Marshal`.
//!
//! HTML characters and the two line separators are escaped, bytes that are no UTF-8
//! become U+FFFD, keys of maps are sorted, fields of structs are in order.

use super::values::{ListKind, MapKind, RecordKind, Text, Value};

/// A value as JSON.
pub(super) fn marshal(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out, value);
    out
}

fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Absent | Value::Nil | Value::Ordered(None) => out.extend_from_slice(b"null"),
        Value::Bool(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Value::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Value::Byte(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Value::Float(value) => out.extend_from_slice(float(*value).as_bytes()),
        Value::Text(text) => write_text(out, text),
        Value::List(list) => match (&list.items, list.kind) {
            (None, _) => out.extend_from_slice(b"null"),
            (Some(items), ListKind::PropertyType) if items.len() == 1 => write(out, &items[0]),
            (Some(items), ListKind::Bytes) => {
                out.push(b'"');
                out.extend_from_slice(super::base64::encode(items).as_bytes());
                out.push(b'"');
            }
            (Some(items), _) => {
                out.push(b'[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    write(out, item);
                }
                out.push(b']');
            }
        },
        Value::Map(map) if map.entries.is_none() => out.extend_from_slice(b"null"),
        Value::Map(map) => write_entries(out, map.iter()),
        Value::Ordered(Some(entries)) => {
            write_entries(out, entries.iter().map(|(key, value)| (key, value)));
        }
        Value::Record(record) => {
            out.push(b'{');
            let mut first = true;
            for (field, value) in record.kind.fields().iter().zip(&record.fields) {
                if field.omit_empty && is_empty(value) {
                    continue;
                }
                if !first {
                    out.push(b',');
                }
                first = false;
                write_text(out, field.json.as_bytes());
                out.push(b':');
                write(out, value);
            }
            out.push(b'}');
        }
    }
}

fn write_entries<'v>(out: &mut Vec<u8>, entries: impl Iterator<Item = (&'v Text, &'v Value)>) {
    out.push(b'{');
    for (i, (key, value)) in entries.enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_text(out, key);
        out.push(b':');
        write(out, value);
    }
    out.push(b'}');
}

/// What `omitempty` leaves out.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Nil | Value::Ordered(None) => true,
        Value::Text(text) => text.is_empty(),
        Value::List(list) => list.items().is_empty(),
        // A map that is the value of an `any` field is an interface that is not nil.
        _ => false,
    }
}

fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.extend_from_slice(b"\\\""),
                '\\' => out.extend_from_slice(b"\\\\"),
                '\u{8}' => out.extend_from_slice(b"\\b"),
                '\u{c}' => out.extend_from_slice(b"\\f"),
                '\n' => out.extend_from_slice(b"\\n"),
                '\r' => out.extend_from_slice(b"\\r"),
                '\t' => out.extend_from_slice(b"\\t"),
                '\0'..='\u{1f}' | '<' | '>' | '&' => {
                    let byte = c as usize & 0x7f;
                    out.extend_from_slice(b"\\u00");
                    out.push(HEX[byte >> 4]);
                    out.push(HEX[byte & 15]);
                }
                '\u{2028}' => out.extend_from_slice(b"\\u2028"),
                '\u{2029}' => out.extend_from_slice(b"\\u2029"),
                c => {
                    let mut buffer = [0; 4];
                    out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                }
            }
        }
        for _ in chunk.invalid() {
            out.extend_from_slice(b"\\ufffd");
        }
    }
    out.push(b'"');
}

/// A number: as JavaScript writes it, so with an exponent below 1e-6 and from 1e21.
fn float(value: f64) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let size = value.abs();
    if !(1e-6..1e21).contains(&size) {
        // `1e21` is `1e+21` in Go; negative exponents have no leading zero.
        let text = format!("{value:e}");
        return match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                format!("{digits}e+{exponent}")
            }
            _ => text,
        };
    }
    format!("{value}")
}

/// What a String method gives, for the types that have one.
pub(super) fn stringer(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Map(map) => match map.kind {
            MapKind::Arguments | MapKind::Properties if map.entries.is_none() => {
                Some(b"{}".to_vec())
            }
            MapKind::Arguments | MapKind::Properties => Some(marshal(value)),
            MapKind::Anything | MapKind::PlainProperties => None,
        },
        Value::List(list) => match (list.kind, list.items()) {
            (ListKind::Tools, _) => Some(marshal(value)),
            (ListKind::PropertyType, []) => Some(Vec::new()),
            (ListKind::PropertyType, [Value::Text(one)]) => Some(one.to_vec()),
            (ListKind::PropertyType, many) => {
                let mut out = vec![b'['];
                for (i, one) in many.iter().enumerate() {
                    if i > 0 {
                        out.push(b' ');
                    }
                    if let Value::Text(one) = one {
                        out.extend_from_slice(one);
                    }
                }
                out.push(b']');
                Some(out)
            }
            _ => None,
        },
        Value::Record(record) if record.kind == RecordKind::Tool => Some(marshal(value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(marshal(&value), br#""\u003c\ufffd\ufffd\u003e\u0001""#);
    }
}
