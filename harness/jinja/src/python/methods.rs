//! The methods of Python's values.
//!
//! The methods of lists and dictionaries are here, the methods of texts in `strings`, and the
//! methods of numbers in `numerals`.

use minijinja::value::{Rest, Value, from_args};
use minijinja::{Error, ErrorKind};

use crate::meter::{ENTRY, ITEM, OBJECT, SLOT, produce, work};
use crate::python::arguments::positional;
use crate::python::comparisons::is_item;
use crate::python::dictionaries::{self, dictionary, entry, hashable, hashed};
use crate::python::iteration::iterate;
use crate::python::kinds::{is_dictionary, is_list, is_range, is_tuple};
use crate::python::loops::Loop;
use crate::python::numbers::number;
use crate::python::numerals;
use crate::python::strings::{self, or_not_found};
use crate::python::undefined;
use crate::refusal::invalid;

/// Calls a method of a value, which is no object with methods of its own.
pub(crate) fn call(value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        let called = if value.is_safe() {
            strings::call_markup(text, method, args)
        } else {
            strings::call(text, method, args)
        };
        if let Some(result) = called {
            return result;
        }
    }
    if is_list(value) || is_tuple(value) || is_range(value) {
        match method {
            "index" => return index(value, args),
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
                let (key, otherwise) = match args {
                    [key] => (key, None),
                    [key, otherwise] if !otherwise.is_kwargs() => (key, Some(otherwise)),
                    [] => return Err(Error::from(ErrorKind::MissingArgument)),
                    _ => return Err(Error::from(ErrorKind::TooManyArguments)),
                };
                hashed(key)?;
                let found = entry(value, key).or_else(|| otherwise.cloned());
                return Ok(found.unwrap_or_else(|| Value::from(())));
            }
            "fromkeys" => {
                let [Some(keys), item] = positional(args, 1)? else {
                    return Err(Error::from(ErrorKind::MissingArgument));
                };
                let item = item.cloned().unwrap_or_else(|| Value::from(()));
                let mut pairs = Vec::new();
                let keys = iterate(keys.clone())?;
                produce(OBJECT + (ENTRY + 2 * SLOT) * keys.len().unwrap_or(0))?;
                for key in keys.try_iter()? {
                    work(ITEM + 4 * key.as_str().map_or(0, str::len))?;
                    hashable(&key)?;
                    pairs.push((key, item.clone()));
                }
                return Ok(dictionary(pairs));
            }
            _ => {}
        }
    }
    if let Some(turns) = value.downcast_object::<Loop>() {
        match method {
            "cycle" | "changed" if args.iter().any(Value::is_kwargs) => {
                return Err(Error::from(ErrorKind::TooManyArguments));
            }
            "cycle" => {
                let at =
                    (turns.attribute("index0")?.as_usize().unwrap_or(0)).checked_rem(args.len());
                let at = at.ok_or_else(|| invalid("no items for cycling have been given"))?;
                return Ok(args[at].clone());
            }
            "changed" => {
                produce(OBJECT + SLOT * args.len())?;
                let last = turns.change(args.to_vec());
                let is_same = last.is_some_and(|last| {
                    let mut pairs = last.iter().zip(args);
                    last.len() == args.len() && pairs.all(|(a, b)| is_item(a, b).unwrap_or(false))
                });
                return Ok(Value::from(!is_same));
            }
            _ => {}
        }
    }
    if let Some(number) = number(value)
        && let Some(result) = numerals::call(number, method, args)
    {
        return result;
    }
    let message = undefined::missing(value, &method.into());
    Err(Error::new(ErrorKind::UnknownMethod, message))
}

/// `list.index(value, start, stop)`. A range has no bounds.
fn index(list: &Value, args: &[Value]) -> Result<Value, Error> {
    let (wanted, bounds): (Value, Rest<i64>) = from_args(args)?;
    if bounds.len() > if is_range(list) { 0 } else { 2 } {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let len = list.len().unwrap_or(0);
    let bound = |at: usize, otherwise: usize| match bounds.get(at) {
        None => otherwise,
        Some(bound) => usize::try_from(*bound).unwrap_or_else(|_| {
            len.saturating_sub(usize::try_from(bound.unsigned_abs()).unwrap_or(len))
        }),
    };
    let (start, stop) = (bound(0, 0), bound(1, usize::MAX));
    for (at, item) in list.try_iter()?.enumerate().take(stop).skip(start) {
        if is_item(&item, &wanted)? {
            return or_not_found(Some(at));
        }
    }
    or_not_found(None)
}
