//! The operator that puts texts together: `~`.

use std::cell::RefCell;

use minijinja::Error;
use minijinja::value::Value;

use crate::meter::produce;
use crate::python::text;

/// `a ~ b ~ …`
pub(super) fn concat(values: &[Value]) -> Result<Value, Error> {
    // Without auto-escaping Jinja2 joins all texts as they are, a `Markup` too.
    if values.iter().all(|value| value.as_str().is_some()) {
        return joined(values.iter().filter_map(|value| value.as_str()));
    }
    let texts: Vec<_> = values.iter().map(|value| text::str(value)).collect();
    joined(texts.iter().map(AsRef::as_ref))
}

/// A text that is put together out of parts.
pub(super) fn joined<'t>(parts: impl Iterator<Item = &'t str> + Clone) -> Result<Value, Error> {
    thread_local! {
        /// A buffer for joining short texts. Most texts are short, and minijinja copies its input
        /// into a new text.
        static JOINED: RefCell<String> = const { RefCell::new(String::new()) };
    }
    const SHORT: usize = 4096;
    let len = parts.clone().map(str::len).sum();
    produce(len)?;
    if len > SHORT {
        return Ok(Value::from(parts.collect::<String>()));
    }
    Ok(JOINED.with_borrow_mut(|text| {
        text.clear();
        text.extend(parts);
        Value::from(text.as_str())
    }))
}
