//! Values as text, as Python's `str()` and `repr()` write them.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::generator::is_group;
use minijinja::value::{Value, ValueKind};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// `str(value)`.
pub(super) fn str(value: &Value) -> Cow<'_, str> {
    if let Some(text) = value.as_str() {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    write_repr(value, &mut out);
    Cow::Owned(out)
}

/// `repr(value)`.
pub(super) fn repr(value: &Value) -> String {
    let mut out = String::new();
    write_item(value, &mut out);
    out
}

/// `ascii(value)`: its `repr()` with everything outside of ASCII escaped.
pub(super) fn ascii(value: &Value) -> String {
    let mut out = String::new();
    for c in repr(value).chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            write_escape(c, &mut out);
        }
    }
    out
}

/// Appends `repr(value)`; of an undefined value nothing, as its `str()` is.
pub(super) fn write_repr(value: &Value, out: &mut String) {
    match value.kind() {
        ValueKind::Undefined => {}
        ValueKind::String if value.is_safe() => {
            out.push_str("Markup(");
            write_string(value.as_str().unwrap_or_default(), out);
            out.push(')');
        }
        ValueKind::String => write_string(value.as_str().unwrap_or_default(), out),
        ValueKind::Number if value.is_integer() => {
            let _ = write!(out, "{value}");
        }
        ValueKind::Number => match f64::try_from(value.clone()) {
            Ok(float) => write_float(float, out),
            Err(_) => {
                let _ = write!(out, "{value}");
            }
        },
        ValueKind::Seq | ValueKind::Iterable if value.is_tuple() => {
            write_items(
                value,
                "(",
                if value.len() == Some(1) { ",)" } else { ")" },
                out,
            );
        }
        ValueKind::Seq if is_group(value) => {
            let _ = write!(out, "{value}");
        }
        ValueKind::Seq => write_items(value, "[", "]", out),
        ValueKind::Map if has_own_text(value) => {
            let _ = write!(out, "{value}");
        }
        ValueKind::Map => write_map(value, out),
        _ => {
            let _ = write!(out, "{value}");
        }
    }
}

/// Maps that minijinja uses for things that are no dictionaries: loops, macros, modules,
/// namespaces. Their text is their own.
pub(super) fn has_own_text(value: &Value) -> bool {
    value.as_object().is_some_and(|object| {
        let name = object.type_name();
        name.contains("minijinja::vm::") || name.contains("namespace_object")
    })
}

fn write_items(value: &Value, open: &str, close: &str, out: &mut String) {
    out.push_str(open);
    for (index, item) in value.try_iter().into_iter().flatten().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_item(&item, out);
    }
    out.push_str(close);
}

fn write_map(value: &Value, out: &mut String) {
    out.push('{');
    for (index, key) in value.try_iter().into_iter().flatten().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_item(&key, out);
        out.push_str(": ");
        write_item(&value.get_item(&key).unwrap_or_default(), out);
    }
    out.push('}');
}

/// Within a container an undefined value has a text of its own.
fn write_item(value: &Value, out: &mut String) {
    if value.is_undefined() {
        out.push_str("Undefined");
    } else {
        write_repr(value, out);
    }
}

/// `repr(float)`: the shortest digits that read back as the same number, with an
/// exponent below 1e-4 and from 1e16 on (Python's `float_repr_style` 'short').
pub(super) fn write_float(float: f64, out: &mut String) {
    if float.is_nan() {
        out.push_str("nan");
    } else if float.is_infinite() {
        out.push_str(if float > 0.0 { "inf" } else { "-inf" });
    } else {
        // Rust's scientific form has the shortest digits too: `-1.5e-7`.
        let scientific = format!("{float:e}");
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let exponent: i32 = exponent.parse().unwrap_or_default();
        if (-4..16).contains(&exponent) || float == 0.0 {
            let decimal = float.to_string();
            out.push_str(&decimal);
            if !decimal.contains('.') {
                out.push_str(".0");
            }
        } else {
            let sign = if exponent < 0 { '-' } else { '+' };
            let _ = write!(out, "{mantissa}e{sign}{:02}", exponent.abs());
        }
    }
}

/// `repr(str)`: single quotes unless the text has some and no double ones; what is not
/// printable is escaped.
pub(super) fn write_string(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if is_printable(c) => out.push(c),
            c => write_escape(c, out),
        }
    }
    out.push(quote);
}

fn write_escape(c: char, out: &mut String) {
    let code = u32::from(c);
    let _ = match code {
        0..=0xFF => write!(out, "\\x{code:02x}"),
        0x100..=0xFFFF => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// `str.isprintable()` of one character.
pub(super) fn is_printable(c: char) -> bool {
    (' '..='~').contains(&c)
        || !matches!(
            c.general_category(),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::Surrogate
                | GeneralCategory::PrivateUse
                | GeneralCategory::Unassigned
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
                | GeneralCategory::SpaceSeparator
        )
}

/// `str.isspace()` of one character: what `strip()` without arguments takes away.
///
/// Unicode's white space, and the four separators U+001C to U+001F.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1C}'..='\u{1F}').contains(&c)
}

/// A text of the same kind as the one it was made from: what Python's `Markup` gives
/// when it is sliced or stripped is a `Markup`.
pub(super) fn like(original: &Value, text: impl Into<String>) -> Value {
    if original.is_safe() {
        Value::from_safe_string(text.into())
    } else {
        Value::from(text.into())
    }
}

/// `str.splitlines(keepends)`: Python knows more line ends than `\n`.
pub(super) fn lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(is_line_end).unwrap_or(rest.len());
        let mark = match rest[end..].chars().next() {
            Some('\r') if rest[end..].starts_with("\r\n") => 2,
            Some(c) => c.len_utf8(),
            None => 0,
        };
        lines.push(&rest[..if keep_ends { end + mark } else { end }]);
        rest = &rest[end + mark..];
    }
    lines
}

fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{1C}'..='\u{1E}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repr(value: impl Into<Value>) -> String {
        let mut out = String::new();
        write_repr(&value.into(), &mut out);
        out
    }

    // The expected values are what CPython 3.11 prints.
    #[test]
    fn floats() {
        for (float, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (5e-324, "5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(repr(float), text);
        }
    }

    #[test]
    fn strings() {
        for (text, expected) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("it's \"it\"", "'it\\'s \"it\"'"),
            ("a\n\t\\\u{7f}", "'a\\n\\t\\\\\\x7f'"),
            ("é漢🙂", "'é漢🙂'"),
            ("\u{a0}\u{200b}\u{e0041}", "'\\xa0\\u200b\\U000e0041'"),
        ] {
            assert_eq!(repr(text), expected);
        }
    }

    #[test]
    fn line_ends() {
        assert_eq!(
            lines("a\r\nb\rc\u{2028}d\u{85}e\n\nf\n", false),
            ["a", "b", "c", "d", "e", "", "f"]
        );
        assert_eq!(lines("a\r\nb\n", true), ["a\r\n", "b\n"]);
        assert!(lines("", true).is_empty());
    }

    #[test]
    fn containers() {
        let list = Value::from(vec![Value::from(1), Value::from("a"), Value::from(())]);
        assert_eq!(repr(list.clone()), "[1, 'a', None]");
        let map = Value::from_pairs([("k", list), ("f", Value::from(1e-7))]);
        assert_eq!(repr(map), "{'k': [1, 'a', None], 'f': 1e-07}");
        assert_eq!(repr(true), "True");
        assert_eq!(str(&Value::UNDEFINED), "");
    }
}
