//! Filters that write for web pages: addresses, and attributes of elements (Jinja2 3.1.6,
//! `filters.py`).

use std::fmt::Write as _;

use minijinja::value::{Kwargs, Rest, Value};
use minijinja::{Error, ErrorKind};

use crate::library::vocabulary::Registry;
use crate::meter::{CHARACTER, ITEM, SLOT, produce, work};
use crate::python::arguments::Arguments;
use crate::python::dictionaries::pairs;
use crate::python::kinds::is_dictionary;
use crate::python::markup::escaped;
use crate::python::text;
use crate::refusal::invalid;

/// Adds the filters to a registry.
pub(super) fn add(registry: &mut Registry) {
    registry.filter("urlencode", url_encode);
    registry.filter("xmlattr", attributes);
}

/// `urlencode(value)`: of a text, or of a dictionary's or a list's pairs.
fn url_encode(value: &Value) -> Result<String, Error> {
    // A generator gives its items only once.
    let items = match value.as_str() {
        None if !value.is_none() => value.try_iter().ok(),
        _ => None,
    };
    let Some(items) = items else {
        return Ok(quoted(&text::str(value), false));
    };
    let mut parts = Vec::new();
    for item in items {
        work(ITEM + item.as_str().map_or(0, str::len) * 4)?;
        let (key, item) = if is_dictionary(value) {
            let found = value.get_item(&item)?;
            (item, found)
        } else {
            let pair: Vec<Value> = item.try_iter()?.take(3).collect();
            let [key, item] = pair.as_slice() else {
                return Err(Error::from(ErrorKind::CannotUnpack));
            };
            (key.clone(), item.clone())
        };
        let (key, item) = (text::str(&key), text::str(&item));
        work((key.len() + item.len()) * CHARACTER)?;
        produce(SLOT + 4 * (key.len() + item.len()))?;
        parts.push(format!("{}={}", quoted(&key, true), quoted(&item, true)));
    }
    Ok(parts.join("&"))
}

/// Jinja2's `url_quote`.
fn quoted(text: &str, in_query: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            b'/' if !in_query => out.push('/'),
            b' ' if in_query => out.push('+'),
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// `xmlattr(d, autospace=True)`.
fn attributes(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<String, Error> {
    let args = Arguments::of(["autospace"], &args, &kwargs)?;
    if !is_dictionary(value) {
        return Err(invalid(format!("{} has no items", value.kind())));
    }
    let mut parts = Vec::new();
    for (key, item) in pairs(value)? {
        if item.is_none() || item.is_undefined() {
            continue;
        }
        let name = key.as_str().unwrap_or(" ");
        // Jinja2 looks for the white space of ASCII alone (`_attr_key_re`).
        if name.contains([' ', '\t', '\n', '\r', '\u{B}', '\u{C}', '/', '>', '=']) {
            return Err(invalid("a character that no attribute's name may have"));
        }
        let text = text::str(&item);
        let text = if item.is_safe() {
            text.into_owned()
        } else {
            escaped(&text)?
        };
        work(name.len() * CHARACTER)?;
        produce(SLOT + 2 * (name.len() + text.len()))?;
        parts.push(format!("{}=\"{text}\"", escaped(name)?));
    }
    let text = parts.join(" ");
    Ok(if args.truth(0, true) && !text.is_empty() {
        format!(" {text}")
    } else {
        text
    })
}
