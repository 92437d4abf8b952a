//! Values as text, as Python's `str()` and `repr()` write them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;

use minijinja::tests::is_sameas;
use minijinja::value::{Tuple, Value, ValueKind};
use minijinja::{Error, ErrorKind};

use crate::meter::{CHARACTER, ITEM, LETTER, has_failed, nested, produce, work};
use crate::python::characters::is_printable;
use crate::python::comparisons::compare;
use crate::python::dictionaries::{self, view_parts};
use crate::python::groups::group_parts;
use crate::python::kinds::{is_dictionary, is_list};
use crate::python::namespaces;
use crate::python::numbers::write_float;
use crate::python::sorting::sorted;

/// `str(value)`.
///
/// The text is counted while it grows. If a limit runs out, the text ends there, and the
/// render fails: see `meter`.
pub(crate) fn str(value: &Value) -> Cow<'_, str> {
    if let Some(text) = value.as_str() {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    // The meter remembers the error.
    let _ = ReprWriter::new(&mut out).value(value);
    Cow::Owned(out)
}

/// `repr(value)`, counted like [`str()`].
pub(crate) fn repr(value: &Value) -> String {
    let mut out = String::new();
    let _ = ReprWriter::new(&mut out).item(value);
    out
}

/// `repr(value)` with every dictionary sorted, as `pprint` writes it (`_safe_repr`).
pub(super) fn sorted_repr(value: &Value) -> Result<String, Error> {
    let mut out = String::new();
    let mut writer = ReprWriter::new(&mut out);
    writer.is_sorted = true;
    writer.item(value)?;
    Ok(out)
}

/// The entries of a dictionary, sorted by their keys as `pprint` sorts them (`_safe_key`): keys
/// that have no order among them by the names of their types. A comparison with an undefined key
/// raises an error that `pprint` does not expect.
pub(super) fn sorted_pairs(map: &Value) -> Result<Vec<(Value, Value)>, Error> {
    /// Python's types of keys in the order of their names. Among the types in a template, `None`
    /// comes first, then numbers.
    fn rank(key: &Value) -> u8 {
        match key.kind() {
            ValueKind::None => 0,
            ValueKind::Bool | ValueKind::Number => 1,
            ValueKind::String => 2,
            _ => 3,
        }
    }
    sorted(dictionaries::pairs(map)?, false, |(a, _), (b, _)| {
        let is_undefined = a.is_undefined() || b.is_undefined();
        if !is_undefined && rank(a) != rank(b) {
            return Ok(rank(a) < rank(b));
        }
        if a.is_none() && b.is_none() {
            return Ok(false);
        }
        match compare("<", a, b) {
            Ok(order) => Ok(order == Some(Ordering::Less)),
            Err(error) if has_failed() || error.kind() == ErrorKind::UndefinedError => Err(error),
            Err(_) => Ok(false),
        }
    })
}

/// `ascii(value)`: its `repr()` with everything outside of ASCII escaped.
pub(super) fn ascii(value: &Value) -> String {
    /// An escape has up to three times the bytes of its character: `Ā` becomes `\u0100`.
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
struct ReprWriter<'o> {
    out: &'o mut String,
    /// How many bytes of the text are counted.
    counted: usize,
    /// The lists, dictionaries and namespaces around the value that is being written.
    within: Vec<Value>,
    /// Whether dictionaries are sorted by their keys.
    is_sorted: bool,
    /// How many of those are namespaces: without a namespace no value can hold itself.
    namespaces: usize,
}

impl ReprWriter<'_> {
    fn new(out: &mut String) -> ReprWriter<'_> {
        ReprWriter {
            counted: out.len(),
            out,
            within: Vec::new(),
            is_sorted: false,
            namespaces: 0,
        }
    }

    /// Appends `repr(value)`, but for an undefined value its `str()`, which is empty.
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

    /// Counts what was written since the text was last counted.
    fn count(&mut self) -> Result<(), Error> {
        let grown = self.out.len() - self.counted;
        self.counted = self.out.len();
        produce(grown)
    }

    /// Appends an object. Within itself it is only written as `[...]` or the like, as Python
    /// does it (`Py_ReprEnter`).
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
        let was_sorted = self.is_sorted;
        self.is_sorted &= is_dictionary(value) || is_list(value) || value.is_tuple();
        let written = self.container(value);
        self.is_sorted = was_sorted;
        self.within.pop();
        written
    }

    /// Appends an object by its kind.
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
            ValueKind::Map if is_dictionary(value) => self.pairs(if self.is_sorted {
                sorted_pairs(value)?
            } else {
                dictionaries::pairs(value)?
            }),
            _ => {
                let _ = write!(self.out, "{value}");
                Ok(())
            }
        }
    }

    /// Appends the items of a list, a tuple or a view.
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

    /// Appends the entries of a dictionary or a namespace.
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

    /// Appends an item. Within a list or a dictionary an undefined value is `Undefined`.
    fn item(&mut self, value: &Value) -> Result<(), Error> {
        if value.is_undefined() {
            work(ITEM)?;
            self.out.push_str("Undefined");
            self.count()
        } else {
            self.value(value)
        }
    }

    /// Appends `repr(str)`. It has single quotes, unless the text has single quotes and no
    /// double ones. Characters that are not printable are escaped.
    fn string(&mut self, text: &str) -> Result<(), Error> {
        /// How many bytes are counted at once.
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

    /// Appends a character of a text with this quote.
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

/// Appends a character as its code.
pub(crate) fn write_escape(c: char, out: &mut String) {
    let code = u32::from(c);
    let _ = match code {
        0..=0xFF => write!(out, "\\x{code:02x}"),
        0x100..=0xFFFF => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repr(value: impl Into<Value>) -> String {
        super::repr(&value.into())
    }

    // The expected values are what CPython 3.11 prints.
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
    fn containers() {
        let list = Value::from(vec![Value::from(1), Value::from("a"), Value::from(())]);
        assert_eq!(repr(list.clone()), "[1, 'a', None]");
        let map = Value::from_pairs([("k", list), ("f", Value::from(1e-7))]);
        assert_eq!(repr(map), "{'k': [1, 'a', None], 'f': 1e-07}");
        assert_eq!(repr(true), "True");
        assert_eq!(str(&Value::UNDEFINED), "");
    }
}
