//! The methods of Python's values.
//!
//! Those of lists, dictionaries and numbers are here, those of texts in `strings`. Only
//! `upper` and `lower` are those of minijinja-contrib's `pycompat`.

use minijinja::value::{Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat::unknown_method_callback;

use crate::meter::{ENTRY, ITEM, OBJECT, SLOT, produce, work};
use crate::python::comparisons::is_item;
use crate::python::dictionaries::{self, entry, hashable, hashed};
use crate::python::iteration::iterate;
use crate::python::kinds::{is_dictionary, is_list};
use crate::python::numbers::{Number, integer, number};
use crate::python::strings::{self, or_not_found};

/// Calls a method of a value, where minijinja knows of none.
pub(crate) fn call(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    if let Some(text) = value.as_str()
        && let Some(result) = strings::call(text, method, args)
    {
        return result.map(|result| match result.as_str() {
            Some(text) if value.is_safe() => Value::from_safe_string(text.to_owned()),
            _ => result,
        });
    }
    if matches!(value.kind(), ValueKind::Seq) {
        match method {
            "index" => {
                let (wanted,): (Value,) = from_args(args)?;
                let mut found = None;
                for (at, item) in value.try_iter()?.enumerate() {
                    if is_item(&item, &wanted)? {
                        found = Some(at);
                        break;
                    }
                }
                return or_not_found(found);
            }
            "count" => {
                let (wanted,): (Value,) = from_args(args)?;
                let mut found = 0;
                for item in value.try_iter()? {
                    found += usize::from(is_item(&item, &wanted)?);
                }
                return Ok(Value::from(found));
            }
            "copy" if is_list(value) => {
                let () = from_args(args)?;
                let len = value.len().unwrap_or(0);
                work(ITEM * len)?;
                produce(OBJECT + 2 * SLOT * len)?;
                return Ok(value.try_iter()?.collect());
            }
            _ => {}
        }
    }
    if is_dictionary(value) {
        match method {
            "copy" => {
                let () = from_args(args)?;
                return Ok(value.clone());
            }
            "keys" | "values" | "items" => {
                let () = from_args(args)?;
                return dictionaries::view(value, method);
            }
            "get" => {
                let (key, otherwise): (Value, Option<Value>) = from_args(args)?;
                hashed(&key)?;
                let found = entry(value, &key).or(otherwise);
                return Ok(found.unwrap_or_else(|| Value::from(())));
            }
            "fromkeys" => {
                let (keys, item): (Value, Option<Value>) = from_args(args)?;
                let item = item.unwrap_or_else(|| Value::from(()));
                let mut pairs = Vec::new();
                let keys = iterate(keys)?;
                produce(OBJECT + (ENTRY + 2 * SLOT) * keys.len().unwrap_or(0))?;
                for key in keys.try_iter()? {
                    work(ITEM + 4 * key.as_str().map_or(0, str::len))?;
                    hashable(&key)?;
                    pairs.push((key, item.clone()));
                }
                return Ok(Value::from_pairs(pairs));
            }
            _ => {}
        }
    }
    if let (Some(number), "bit_length" | "is_integer" | "conjugate") = (number(value), method) {
        let () = from_args(args)?;
        return of_number(number, method);
    }
    // `upper` and `lower` of a text. Anything else is an unknown method.
    unknown_method_callback(state, value, method, args)
}

/// `int.bit_length()`, `float.is_integer()`, and `conjugate()` of both.
fn of_number(number: Number, method: &str) -> Result<Value, Error> {
    match (number, method) {
        (Number::Int(int), "bit_length") => {
            Ok(Value::from(128 - int.unsigned_abs().leading_zeros()))
        }
        (Number::Int(int), "conjugate") => Ok(integer(int)),
        (Number::Float(float), "is_integer") => Ok(Value::from(float.fract() == 0.0)),
        (Number::Float(float), "conjugate") => Ok(Value::from(float)),
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}
