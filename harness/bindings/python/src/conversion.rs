//! Python's values as JSON values, as exact as those can be.
//!
//! The rules are those of transformers 5.24 (`_plain_template_data` in
//! `utils/chat_template_utils.py`): subclasses count as what they are made from, any mapping is an
//! object, so are dataclasses and pydantic models, and every other thing is a text that names its
//! type. JSON has no tuples, so they are lists, and no keys but texts, so others are refused.
//!
//! A value is copied as it is at that moment. Nothing that happens to it later reaches a render.

use std::cell::RefCell;

use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use rolecall_core::Dialect;
use serde_json::{Map, Number, Value};

use crate::errors::refused;

/// How deeply lists and objects may nest. Python's own limit is about as deep.
const DEEPEST: usize = 500;

/// The levels for which every stack has room.
const UNASKED: usize = 30;

/// The digits of an integer that Python writes at once. It writes up to 4,300, by default.
const DIGITS: u32 = 4_000;

/// Makes values for the templates of a dialect.
#[derive(Clone, Copy)]
pub(crate) struct Converter {
    /// Whether a float may be infinite or no number. Requests to a server have no such floats.
    has_all_floats: bool,
}

impl Converter {
    pub(crate) fn of(dialect: Dialect) -> Converter {
        Converter {
            has_all_floats: dialect == Dialect::Jinja,
        }
    }

    pub(crate) fn value(self, object: &Bound<'_, PyAny>) -> PyResult<Value> {
        self.at(object, 0)
    }

    /// A value in so many lists and objects.
    fn at(self, object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
        if depth > DEEPEST || (depth > UNASKED && !has_room()) {
            return Err(refused(
                object.py(),
                "a value nests too deeply, or contains itself",
            ));
        }
        // First what nearly all values are.
        if let Ok(text) = object.cast_exact::<PyString>() {
            return self::text(text).map(Value::String);
        }
        if let Ok(dictionary) = object.cast_exact::<PyDict>() {
            return self.dictionary(dictionary, depth);
        }
        if let Ok(list) = object.cast_exact::<PyList>() {
            return self.items(list.iter().map(Ok), list.len(), depth);
        }
        if object.is_none() {
            return Ok(Value::Null);
        }
        if let Ok(bool) = object.cast_exact::<PyBool>() {
            return Ok(Value::Bool(bool.is_true()));
        }
        if let Ok(integer) = object.cast::<PyInt>() {
            return self::integer(integer).map(Value::Number);
        }
        if let Ok(float) = object.cast::<PyFloat>() {
            return self.float(float).map(Value::Number);
        }
        if let Ok(text) = object.cast::<PyString>() {
            return self::text(text).map(Value::String);
        }
        self.other(object, depth)
    }

    /// A dictionary. Its entries are taken all at once, before anything can change it.
    fn dictionary(self, dictionary: &Bound<'_, PyDict>, depth: usize) -> PyResult<Value> {
        let entries = RefCell::new(Vec::with_capacity(dictionary.len()));
        dictionary.locked_for_each(|key, value| {
            entries.borrow_mut().push((key, value));
            Ok(())
        })?;
        let entries = entries.into_inner();
        let mut map = Map::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self::key(&key)?;
            map.insert(key, self.at(&value, depth + 1)?);
        }
        Ok(Value::Object(map))
    }

    fn items<'py>(
        self,
        items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
        count: usize,
        depth: usize,
    ) -> PyResult<Value> {
        let mut values = Vec::with_capacity(count);
        for item in items {
            values.push(self.at(&item?, depth + 1)?);
        }
        Ok(Value::Array(values))
    }

    fn float(self, float: &Bound<'_, PyFloat>) -> PyResult<Number> {
        let py = float.py();
        let value = float.value();
        let written = if value.is_finite() {
            // A subclass may write itself in another way.
            PyFloat::new(py, value).repr()?.to_cow()?.into_owned()
        } else if !self.has_all_floats {
            return Err(refused(py, &format!("JSON has no number for {value}")));
        } else if value.is_nan() {
            "NaN".to_owned()
        } else if value > 0.0 {
            "Infinity".to_owned()
        } else {
            "-Infinity".to_owned()
        };
        Ok(Number::from_string_unchecked(written))
    }

    /// What is neither a text, a number nor a plain list or dictionary.
    fn other(self, object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
        let py = object.py();
        if let Ok(mapping) = object.cast::<PyMapping>() {
            let entries = mapping.call_method0(intern!(py, "items"))?;
            let mut map = Map::new();
            for entry in entries.try_iter()? {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry?.extract()?;
                map.insert(key_of(&key)?, self.at(&value, depth + 1)?);
            }
            return Ok(Value::Object(map));
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return self.items(object.try_iter()?, 0, depth);
        }
        let kind = object.get_type();
        if is_numpys(&kind)? {
            return self.at(&object.call_method0(intern!(py, "item"))?, depth + 1);
        }
        if kind.hasattr(intern!(py, "__dataclass_fields__"))? {
            let fields = py
                .import("dataclasses")?
                .call_method1("fields", (object,))?;
            let mut map = Map::new();
            for field in fields.try_iter()? {
                let name = field?.getattr(intern!(py, "name"))?;
                let value = object.getattr(name.cast::<PyString>()?)?;
                map.insert(key_of(&name)?, self.at(&value, depth + 1)?);
            }
            return Ok(Value::Object(map));
        }
        let dump = object.getattr_opt(intern!(py, "model_dump"))?;
        if let Some(dump) = dump.filter(PyAnyMethods::is_callable) {
            return self.at(&dump.call0()?, depth + 1);
        }
        Ok(Value::String(format!("<{}>", kind.name()?)))
    }
}

/// Whether the stack of this thread has room for some more levels.
fn has_room() -> bool {
    stacker::remaining_stack().is_none_or(|left| left > 96 << 10)
}

/// A text. Prompts are UTF-8, which has no lone surrogates.
pub(crate) fn text(text: &Bound<'_, PyString>) -> PyResult<String> {
    match text.to_cow() {
        Ok(text) => Ok(text.into_owned()),
        Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(text.py()) => Err(refused(
            text.py(),
            "a text has a lone surrogate, which UTF-8 cannot hold",
        )),
        Err(error) => Err(error),
    }
}

fn key(key: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(key) = key.cast_exact::<PyString>() {
        return text(key);
    }
    key_of(key)
}

fn key_of(key: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(key) = key.cast::<PyString>() {
        return text(key);
    }
    let kind = key.get_type().name()?;
    let why = format!("a key of a dictionary has to be a text, and one is of type `{kind}`");
    Err(refused(key.py(), &why))
}

/// An integer with all its digits.
fn integer(integer: &Bound<'_, PyInt>) -> PyResult<Number> {
    if let Ok(small) = integer.extract::<i64>() {
        return Ok(small.into());
    }
    let py = integer.py();
    // Python refuses to write very long integers at once. And a subclass may write itself in
    // another way, but not what is computed from it.
    let is_negative = integer.lt(0)?;
    let mut rest = integer.call_method0(intern!(py, "__abs__"))?;
    let piece = 10_u8.into_pyobject(py)?.pow(DIGITS, py.None())?;
    let mut pieces = Vec::new();
    while rest.is_truthy()? {
        let (above, below): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            rest.divmod(&piece)?.extract()?;
        pieces.push(below.repr()?.to_cow()?.into_owned());
        rest = above;
    }
    let mut digits = String::from(if is_negative { "-" } else { "" });
    for (place, piece) in pieces.iter().rev().enumerate() {
        if place > 0 {
            let zeros = (DIGITS as usize).saturating_sub(piece.len());
            digits.extend(std::iter::repeat_n('0', zeros));
        }
        digits.push_str(piece);
    }
    Ok(Number::from_string_unchecked(digits))
}

/// Whether a type is a scalar of `numpy`. Only such a type makes it import that.
fn is_numpys(kind: &Bound<'_, pyo3::types::PyType>) -> PyResult<bool> {
    let module = kind.getattr(intern!(kind.py(), "__module__"))?;
    let is_its = module.cast::<PyString>().is_ok_and(|name| name == "numpy");
    if !is_its {
        return Ok(false);
    }
    let generic = kind.py().import("numpy")?.getattr("generic")?;
    kind.is_subclass(&generic)
}
