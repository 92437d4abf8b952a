//! Values as text, as Python's `str()` and `repr()` write them.

use std::borrow::Cow;
use std::fmt::Write as _;

use minijinja::Error;
use minijinja::tests::is_sameas;
use minijinja::value::{Tuple, Value, ValueKind};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::generator::group_parts;
use super::meter::{CHARACTER, ITEM, LETTER, nested, produce, work};
use super::namespaces;
use super::views::view_parts;

/// `str(value)`.
///
/// What is written is counted as it grows. A text that is not finished when a limit runs
/// out ends there, and the render has failed: see `meter`.
pub(super) fn str(value: &Value) -> Cow<'_, str> {
    if let Some(text) = value.as_str() {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    // The meter keeps the error.
    let _ = Writer::new(&mut out).value(value);
    Cow::Owned(out)
}

/// `repr(value)`, counted like [`str`].
pub(super) fn repr(value: &Value) -> String {
    let mut out = String::new();
    let _ = Writer::new(&mut out).item(value);
    out
}

/// `ascii(value)`: its `repr()` with everything outside of ASCII escaped.
pub(super) fn ascii(value: &Value) -> String {
    /// The longest escape of the shortest character.
    const GROWTH: usize = 3;
    let repr = repr(value);
    let mut out = String::new();
    if produce(repr.len().saturating_mul(GROWTH)).is_err() {
        return out;
    }
    for c in repr.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            write_escape(c, &mut out);
        }
    }
    out
}

/// Writes values as `repr()` does.
struct Writer<'o> {
    out: &'o mut String,
    /// How much of it is counted.
    counted: usize,
    /// The lists, dictionaries and namespaces that are being written.
    within: Vec<Value>,
    /// How many of them are namespaces: without one nothing can hold itself.
    namespaces: usize,
}

impl Writer<'_> {
    fn new(out: &mut String) -> Writer<'_> {
        Writer {
            counted: out.len(),
            out,
            within: Vec::new(),
            namespaces: 0,
        }
    }

    /// Appends `repr(value)`; of an undefined value nothing, as its `str()` is.
    fn value(&mut self, value: &Value) -> Result<(), Error> {
        work(ITEM)?;
        match value.kind() {
            ValueKind::Undefined => {}
            ValueKind::String if value.is_safe() => {
                self.out.push_str("Markup(");
                self.string(value.as_str().unwrap_or_default())?;
                self.out.push(')');
            }
            ValueKind::String => self.string(value.as_str().unwrap_or_default())?,
            ValueKind::Number if value.is_integer() => {
                let _ = write!(self.out, "{value}");
            }
            ValueKind::Number => match f64::try_from(value.clone()) {
                Ok(float) => write_float(float, self.out),
                Err(_) => {
                    let _ = write!(self.out, "{value}");
                }
            },
            _ if value.as_object().is_some() => nested(|| self.object(value))??,
            _ => {
                let _ = write!(self.out, "{value}");
            }
        }
        self.count()
    }

    /// Counts what was written since the last time.
    fn count(&mut self) -> Result<(), Error> {
        let grown = self.out.len() - self.counted;
        self.counted = self.out.len();
        produce(grown)
    }

    /// What holds itself is written once, as Python does it (`Py_ReprEnter`).
    fn object(&mut self, value: &Value) -> Result<(), Error> {
        work(ITEM + self.within.len())?;
        let is_within =
            self.namespaces > 0 && self.within.iter().any(|outer| is_sameas(outer, value));
        if is_within {
            self.out.push_str(match value.kind() {
                ValueKind::Map => "{...}",
                ValueKind::Plain => "<Namespace {...}>",
                _ if value.is_tuple() => "(...)",
                _ => "[...]",
            });
            return Ok(());
        }
        self.within.push(value.clone());
        let written = self.container(value);
        self.within.pop();
        written
    }

    fn container(&mut self, value: &Value) -> Result<(), Error> {
        if let Some((key, items)) = group_parts(value) {
            return self.items(&Value::from(Tuple::from([key, items])), "(", ")");
        }
        if let Some((name, items)) = view_parts(value) {
            self.out.push_str(name);
            return self.items(&items, "([", "])");
        }
        if let Some(attributes) = namespaces::attributes(value) {
            self.out.push_str("<Namespace ");
            self.namespaces += 1;
            self.pairs(attributes)?;
            self.namespaces -= 1;
            self.out.push('>');
            return Ok(());
        }
        match value.kind() {
            ValueKind::Seq | ValueKind::Iterable if value.is_tuple() => {
                let close = if value.len() == Some(1) { ",)" } else { ")" };
                self.items(value, "(", close)
            }
            ValueKind::Seq => self.items(value, "[", "]"),
            ValueKind::Map if !has_own_text(value) => self.pairs(pairs(value)?),
            _ => {
                let _ = write!(self.out, "{value}");
                Ok(())
            }
        }
    }

    fn items(&mut self, value: &Value, open: &str, close: &str) -> Result<(), Error> {
        self.out.push_str(open);
        for (index, item) in value.try_iter().into_iter().flatten().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.item(&item)?;
        }
        self.out.push_str(close);
        Ok(())
    }

    fn pairs(&mut self, pairs: impl IntoIterator<Item = (Value, Value)>) -> Result<(), Error> {
        self.out.push('{');
        for (index, (key, value)) in pairs.into_iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.item(&key)?;
            self.out.push_str(": ");
            self.item(&value)?;
        }
        self.out.push('}');
        Ok(())
    }

    /// Within a container an undefined value has a text of its own.
    fn item(&mut self, value: &Value) -> Result<(), Error> {
        if value.is_undefined() {
            work(ITEM)?;
            self.out.push_str("Undefined");
            self.count()
        } else {
            self.value(value)
        }
    }

    /// `repr(str)`: single quotes unless the text has some and no double ones; what is not
    /// printable is escaped.
    fn string(&mut self, text: &str) -> Result<(), Error> {
        /// What is counted at once.
        const PIECE: usize = 1 << 16;
        work(text.len())?;
        let quote = if text.contains('\'') && !text.contains('"') {
            '"'
        } else {
            '\''
        };
        self.out.push(quote);
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
            rest = after;
            work(
                piece
                    .len()
                    .saturating_mul(if piece.is_ascii() { CHARACTER } else { LETTER }),
            )?;
            for c in piece.chars() {
                self.character(c, quote);
            }
            self.count()?;
        }
        self.out.push(quote);
        Ok(())
    }

    fn character(&mut self, c: char, quote: char) {
        match c {
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            '\\' => self.out.push_str("\\\\"),
            c if c == quote => {
                self.out.push('\\');
                self.out.push(c);
            }
            c if is_printable(c) => self.out.push(c),
            c => write_escape(c, self.out),
        }
    }
}

/// The keys and values of a dictionary. A key is looked up, so its text counts.
pub(super) fn pairs(map: &Value) -> Result<Vec<(Value, Value)>, Error> {
    let keys = map.try_iter()?;
    let mut pairs = Vec::with_capacity(map.len().unwrap_or(0));
    for key in keys {
        work(ITEM + key.as_str().map_or(0, str::len).saturating_mul(4))?;
        let value = map.get_item(&key)?;
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// Maps that minijinja uses for things that are no dictionaries: loops, macros, modules.
/// Their text is their own.
pub(super) fn has_own_text(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|object| object.type_name().contains("minijinja::vm::"))
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
pub(super) fn lines(text: &str, keep_ends: bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(is_line_end).unwrap_or(rest.len());
        let mark = match rest[end..].chars().next() {
            Some('\r') if rest[end..].starts_with("\r\n") => 2,
            Some(c) => c.len_utf8(),
            None => 0,
        };
        let line = &rest[..if keep_ends { end + mark } else { end }];
        rest = &rest[end + mark..];
        Some(line)
    })
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
        super::repr(&value.into())
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
            lines("a\r\nb\rc\u{2028}d\u{85}e\n\nf\n", false).collect::<Vec<_>>(),
            ["a", "b", "c", "d", "e", "", "f"]
        );
        assert_eq!(
            lines("a\r\nb\n", true).collect::<Vec<_>>(),
            ["a\r\n", "b\n"]
        );
        assert_eq!(lines("", true).next(), None);
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
