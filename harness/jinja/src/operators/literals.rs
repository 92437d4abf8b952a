//! Literal lists, tuples and dictionaries, and those that a call unpacks into arguments.

use minijinja::Error;
use minijinja::value::{Rest, Tuple, Value, ValueKind};

use crate::meter::{ENTRY, ITEM, OBJECT, SLOT, produce, work};
use crate::operator::Operator;
use crate::python::dictionaries::{dictionary, entry, hashed, pairs};
use crate::python::iteration::iterate;
use crate::refusal::invalid;
use crate::registry::Registry;

/// Adds the operators to a registry.
pub(super) fn add(registry: &mut Registry<'_>) {
    registry.add_operator(Operator::List, |items: Rest<Value>| {
        produce(OBJECT + SLOT * items.len())?;
        Ok::<_, Error>(Value::from(items.0))
    });
    registry.add_operator(Operator::Tuple, |items: Rest<Value>| {
        produce(OBJECT + SLOT * items.len())?;
        Ok::<_, Error>(Value::from(Tuple::from(items.0)))
    });
    registry.add_operator(Operator::Map, map);
    registry.add_operator(Operator::Splat, splat);
    registry.add_operator(Operator::KwargSplat, kwarg_splat);
}

/// `{key: value, …}`: keys and values in turn.
fn map(parts: Rest<Value>) -> Result<Value, Error> {
    produce(OBJECT + ENTRY * parts.len() / 2)?;
    for pair in parts.chunks(2) {
        hashed(&pair[0])?;
    }
    let pairs = parts.chunks_exact(2);
    Ok(dictionary(
        pairs
            .map(|pair| (pair[0].clone(), pair[1].clone()))
            .collect(),
    ))
}

/// The items that `f(*items)` hands over.
fn splat(items: Value) -> Result<Value, Error> {
    let items = iterate(items)?;
    let len = items.len().unwrap_or(0);
    work(ITEM * len)?;
    produce(2 * SLOT * len)?;
    Ok(items)
}

/// The entries that `f(**mapping)` hands over, besides arguments of some names.
fn kwarg_splat(mapping: Value, taken: Rest<Value>) -> Result<Value, Error> {
    if mapping.kind() != ValueKind::Map {
        return Err(invalid(format!(
            "argument after ** must be a mapping, not {}",
            mapping.kind()
        )));
    }
    let pairs = pairs(&mapping)?;
    if pairs.iter().any(|(name, _)| name.as_str().is_none()) {
        return Err(invalid("keywords must be strings"));
    }
    work(ITEM * taken.len())?;
    for name in taken.iter() {
        if entry(&mapping, name).is_some() {
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
    Ok(mapping)
}
