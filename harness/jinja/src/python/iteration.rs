//! The items of a value, one after the other, as Python's loops see them.

use minijinja::Error;
use minijinja::value::Value;

use crate::meter::{ITEM, OBJECT, SLOT, produce, work};
use crate::python::generator::{Generator, Source};
use crate::refusal::invalid;

/// The value that a loop runs over. `None` is not iterable, an undefined value is empty.
pub(crate) fn iterate(value: Value) -> Result<Value, Error> {
    if value.is_none() {
        return Err(invalid("none is not iterable"));
    }
    // A loop knows how many items there are. So Jinja2 makes a list of a generator, and here
    // a text becomes a list of characters, for minijinja does not know the length of a text.
    if let Some(generator) = Generator::of(&value) {
        return generator.run().map(Value::from);
    }
    if let Some(text) = value.as_str() {
        work(ITEM * text.len())?;
        produce(OBJECT + SLOT * text.len())?;
        let mut characters = Vec::with_capacity(text.len());
        characters.extend(text.chars().map(Value::from));
        return Ok(Value::from(characters));
    }
    Ok(value)
}

/// The value that a loop runs over that need not know how many items there are. A generator gives
/// each item only when the loop comes to it.
pub(crate) fn iterate_lazily(value: Value) -> Result<Value, Error> {
    if Generator::of(&value).is_some() {
        return Ok(value);
    }
    iterate(value)
}

/// `iter(value)`, counted as if all items were taken.
pub(crate) fn each(value: &Value) -> Result<impl Iterator<Item = Value> + use<>, Error> {
    let value = iterate(value.clone())?;
    work(ITEM.saturating_mul(value.len().unwrap_or(0)))?;
    value.try_iter()
}

/// The items of a value, one after the other, for a generator that begins when it is asked first.
pub(crate) fn source_when_asked(
    value: &Value,
) -> impl FnMut() -> Result<Option<Value>, Error> + Send + use<> {
    let value = value.clone();
    let mut items = None;
    move || {
        let items = match &mut items {
            Some(items) => items,
            None => items.insert(match Source::of_generator(&value) {
                Some(source) => source,
                None => Source::Own(list(&value)?.into_iter()),
            }),
        };
        items.next()
    }
}

/// `list(value)`.
pub(crate) fn list(value: &Value) -> Result<Vec<Value>, Error> {
    let value = iterate(value.clone())?;
    let len = value.len().unwrap_or(0);
    work(ITEM.saturating_mul(len))?;
    produce(SLOT.saturating_mul(len))?;
    let mut items = Vec::with_capacity(len);
    items.extend(value.try_iter()?);
    Ok(items)
}
