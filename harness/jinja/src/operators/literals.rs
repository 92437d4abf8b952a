//! Literal lists, tuples and dictionaries, and those that a call unpacks into arguments.

use minijinja::Error;
use minijinja::value::{Tuple, Value, ValueKind};

use crate::meter::{ENTRY, ITEM, OBJECT, SLOT, produce, work};
use crate::python::dictionaries::{dictionary, entry, hashed, pairs};
use crate::python::iteration::iterate;
use crate::refusal::invalid;

/// `[a, b]`
pub(crate) fn list(items: Vec<Value>) -> Result<Value, Error> {
    produce(OBJECT + SLOT * items.len())?;
    Ok(Value::from(items))
}

/// `(a, b)`
pub(crate) fn tuple(items: Vec<Value>) -> Result<Value, Error> {
    produce(OBJECT + SLOT * items.len())?;
    Ok(Value::from(Tuple::from(items)))
}

/// `{key: value, …}`
pub(crate) fn map(entries: Vec<(Value, Value)>) -> Result<Value, Error> {
    produce(OBJECT + ENTRY * entries.len())?;
    for (key, _) in &entries {
        hashed(key)?;
    }
    Ok(dictionary(entries))
}

/// The items that `f(*items)` hands over.
pub(crate) fn splat(items: Value) -> Result<Value, Error> {
    let items = iterate(items)?;
    let len = items.len().unwrap_or(0);
    work(ITEM * len)?;
    produce(2 * SLOT * len)?;
    Ok(items)
}

/// The entries that `f(**mapping)` hands over, besides arguments of some names.
pub(crate) fn keyword_splat(mapping: &Value, taken: &[Value]) -> Result<(), Error> {
    if mapping.kind() != ValueKind::Map {
        return Err(invalid(format!(
            "argument after ** must be a mapping, not {}",
            mapping.kind()
        )));
    }
    let pairs = pairs(mapping)?;
    if pairs.iter().any(|(name, _)| name.as_str().is_none()) {
        return Err(invalid("keywords must be strings"));
    }
    work(ITEM * taken.len())?;
    for name in taken {
        if entry(mapping, name).is_some() {
            let message = format!("got multiple values for keyword argument {name:?}");
            return Err(invalid(message));
        }
    }
    let names: usize = pairs
        .iter()
        .filter_map(|(name, _)| name.as_str())
        .map(str::len)
        .sum();
    produce(names + OBJECT + ENTRY * pairs.len())?;
    Ok(())
}
