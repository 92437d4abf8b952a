//! The items of Python's values: `value[key]`.

use minijinja::value::Value;
use minijinja::{Error, ErrorKind};

use crate::meter::work;
use crate::python::attributes::attribute;
use crate::python::characters::decimal;
use crate::python::dictionaries::{entry, hashable};
use crate::python::kinds::{is_dictionary, is_list, is_range, is_tuple};
use crate::python::markup::like;
use crate::python::numbers::{Number, number};
use crate::python::ranges;

/// `a[b]`, as Jinja2's sandbox looks it up: an item, or else the attribute of that name.
pub(crate) fn item(value: &Value, key: &Value) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if let Some(text) = value.as_str() {
        if let Some(Number::Int(index)) = number(key) {
            // From the end, as few characters are passed as from the beginning. Where each is a byte
            // none is.
            let passed = usize::try_from(if index < 0 { -(index + 1) } else { index });
            let passed = passed.unwrap_or(usize::MAX);
            work(text.len() / 4)?;
            let mut characters = text.chars();
            let found = if text.is_ascii() {
                position(index, text.len())
                    .and_then(|at| Some(char::from(*text.as_bytes().get(at)?)))
            } else {
                work(passed.min(text.len()).saturating_mul(40))?;
                if index < 0 {
                    characters.nth_back(passed)
                } else {
                    characters.nth(passed)
                }
            };
            return Ok(found.map_or(Value::UNDEFINED, |c| like(value, c.to_string())));
        }
    } else if is_tuple(value) || is_list(value) || is_range(value) {
        if let Some(Number::Int(index)) = number(key) {
            let found = position(index, value.len().unwrap_or(0));
            if is_range(value) {
                let item = found.and_then(|at| ranges::range_item(value, at));
                return Ok(item.unwrap_or_default());
            }
            return found.map_or(Ok(Value::UNDEFINED), |at| value.get_item(&Value::from(at)));
        }
    } else if is_dictionary(value) {
        if key.as_str().is_none() {
            // A list has no hash. It is not found, but it is not an error here. The work counts,
            // and a key that is nested too deeply fails the render.
            let _ = hashable(key);
        }
        work(key.as_str().map_or(0, str::len).saturating_mul(4))?;
        if let Some(found) = entry(value, key) {
            return Ok(found);
        }
    }
    match key.as_str() {
        Some(name) => attribute(value, name),
        None => Ok(Value::UNDEFINED),
    }
}

/// The key that a text names. Digits of any script are an index.
pub(crate) fn index_or_name(text: &str) -> Value {
    if text.starts_with(|c: char| c.is_ascii() && !c.is_ascii_digit()) {
        return Value::from(text);
    }
    let digit = |c: char| decimal(c).and_then(|digit| char::from_digit(digit, 10));
    let digits: Option<String> = text.chars().map(digit).collect();
    match digits.and_then(|digits| digits.parse::<i64>().ok()) {
        Some(index) => Value::from(index),
        None => Value::from(text),
    }
}

/// The position of an index. A negative index counts from the end.
fn position(index: i128, len: usize) -> Option<usize> {
    if index < 0 {
        usize::try_from(index.checked_add(i128::try_from(len).ok()?)?).ok()
    } else {
        usize::try_from(index).ok()
    }
}
