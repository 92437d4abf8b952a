//! Methods of Python's types that templates call.
//!
//! minijinja-contrib's `pycompat` has most of them; here is what it lacks or does
//! differently.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Kwargs, Object, ObjectRepr, Rest, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::meter::produce;
use super::pytext::{has_own_text, is_space};

/// Calls a method of a value that has no methods of its own.
pub(super) fn call(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    if let Some(text) = value.as_str()
        && let Some(result) = string_method(text, method, args)
    {
        return result.map(|result| match result.as_str() {
            Some(text) if value.is_safe() => Value::from_safe_string(text.to_owned()),
            _ => result,
        });
    }
    unknown_method_callback(state, value, method, args)
}

/// The methods of Python's dictionaries that the sandbox lets a template see.
const DICT_METHODS: [&str; 6] = ["copy", "fromkeys", "get", "items", "keys", "values"];

/// Those that it hides, since they change the dictionary (`ImmutableSandboxedEnvironment`).
const HIDDEN_DICT_METHODS: [&str; 5] = ["clear", "pop", "popitem", "setdefault", "update"];

/// Whether `value.name` means a method where the value is a dictionary.
pub(super) fn is_dict_method(name: &str) -> bool {
    DICT_METHODS.contains(&name) || HIDDEN_DICT_METHODS.contains(&name)
}

/// `value.name` for a name that [`is_dict_method`] knows: with a dot a method comes before
/// a key of the same name, so that `properties.items` never is the property `items`.
pub(super) fn attribute(value: &Value, name: &str) -> Result<Value, Error> {
    if !is_dictionary(value) {
        return value.get_attr(name);
    }
    Ok(if DICT_METHODS.contains(&name) {
        Value::from_object(BoundMethod {
            value: value.clone(),
            name: name.to_owned(),
        })
    } else {
        Value::UNDEFINED
    })
}

fn is_dictionary(value: &Value) -> bool {
    value.kind() == ValueKind::Map && !has_own_text(value)
}

/// A method that is not called yet.
struct BoundMethod {
    value: Value,
    name: String,
}

impl fmt::Debug for BoundMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Python adds where it lies in memory, which is another place each time.
        write!(f, "<built-in method {} of dict object>", self.name)
    }
}

impl Object for BoundMethod {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        self.value.call_method(state, &self.name, args)
    }
}

fn string_method(text: &str, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    Some(match method {
        "strip" => strip(args, |chars| trim(text, chars, true, true)),
        "lstrip" => strip(args, |chars| trim(text, chars, true, false)),
        "rstrip" => strip(args, |chars| trim(text, chars, false, true)),
        "title" => no_args(args).map(|()| Value::from(title(text))),
        "split" => split(text, args),
        "replace" => replace(text, args),
        "removeprefix" => one_text(args)
            .map(|prefix| Value::from(text.strip_prefix(prefix.as_str()).unwrap_or(text))),
        "removesuffix" => one_text(args)
            .map(|suffix| Value::from(text.strip_suffix(suffix.as_str()).unwrap_or(text))),
        _ => return None,
    })
}

fn no_args(args: &[Value]) -> Result<(), Error> {
    from_args(args)
}

fn one_text(args: &[Value]) -> Result<String, Error> {
    let (text,): (String,) = from_args(args)?;
    Ok(text)
}

fn strip<'t>(
    args: &[Value],
    trimmed: impl FnOnce(Option<&str>) -> &'t str,
) -> Result<Value, Error> {
    let (chars,): (Option<Value>,) = from_args(args)?;
    match chars {
        None => Ok(Value::from(trimmed(None))),
        Some(chars) if chars.is_none() => Ok(Value::from(trimmed(None))),
        Some(chars) => match chars.as_str() {
            Some(chars) => Ok(Value::from(trimmed(Some(chars)))),
            None => Err(Error::new(
                ErrorKind::InvalidOperation,
                "strip takes text or none",
            )),
        },
    }
}

/// `str.strip`, `str.lstrip`, `str.rstrip`: white space, or the given characters.
pub(super) fn trim<'t>(text: &'t str, chars: Option<&str>, left: bool, right: bool) -> &'t str {
    let taken = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    let text = if left {
        text.trim_start_matches(taken)
    } else {
        text
    };
    if right {
        text.trim_end_matches(taken)
    } else {
        text
    }
}

/// `str.title()`: the first letter of each run of letters in upper case, the rest in
/// lower case; an apostrophe ends a run.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_word = false;
    for c in text.chars() {
        let is_cased = c.is_lowercase() || c.is_uppercase();
        if is_cased && in_word {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        in_word = is_cased;
    }
    out
}

/// `str.split(sep=None, maxsplit=-1)`.
fn split(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (positional, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
    let mut positional = positional.0.into_iter();
    let separator = positional.next().or(kwargs.get("sep").ok());
    let at_most: i64 = match positional.next() {
        Some(value) => value.try_into()?,
        None => kwargs.get::<Option<i64>>("maxsplit")?.unwrap_or(-1),
    };
    kwargs.assert_all_used()?;
    let at_most = usize::try_from(at_most).unwrap_or(usize::MAX - 1);
    produce(text.len())?;
    let separator = separator.filter(|value| !value.is_none() && !value.is_undefined());
    let Some(separator) = separator else {
        return Ok(split_space(text, at_most)
            .into_iter()
            .map(Value::from)
            .collect());
    };
    match separator.as_str() {
        Some("") => Err(Error::new(ErrorKind::InvalidOperation, "empty separator")),
        Some(separator) => Ok(text
            .splitn(at_most.saturating_add(1), separator)
            .map(Value::from)
            .collect()),
        None => Err(Error::new(
            ErrorKind::InvalidOperation,
            "split takes text or none",
        )),
    }
}

fn split_space(text: &str, at_most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        if parts.len() == at_most {
            // What is left keeps its inner space, but not the space at its end.
            parts.push(rest.trim_end_matches(is_space));
            break;
        }
        let end = rest.find(is_space).unwrap_or(rest.len());
        parts.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(is_space);
    }
    parts
}

/// `str.replace(old, new, count=-1)`.
fn replace(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (old, new, count): (String, String, Option<i64>) = from_args(args)?;
    replaced(text, &old, &new, count)
}

/// Replaces, and counts what that produces before it is there.
pub(super) fn replaced(
    text: &str,
    old: &str,
    new: &str,
    count: Option<i64>,
) -> Result<Value, Error> {
    let at_most = count
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(usize::MAX);
    let found = text.matches(old).take(at_most).count();
    produce(text.len().saturating_add(new.len().saturating_mul(found)))?;
    Ok(Value::from(text.replacen(old, new, found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected values are what CPython 3.11 gives.
    #[test]
    fn titles() {
        assert_eq!(title("they're here"), "They'Re Here");
        assert_eq!(title("hELLO wORLD-2nd"), "Hello World-2Nd");
    }

    #[test]
    fn white_space_of_python() {
        assert_eq!(trim("\u{1C}\u{A0} a\u{85}\u{1F}", None, true, true), "a");
        assert_eq!(
            trim("\u{FEFF}a\u{200B}", None, true, true),
            "\u{FEFF}a\u{200B}"
        );
        assert_eq!(trim("xxaxx", Some("x"), true, false), "axx");
    }

    #[test]
    fn splits() {
        assert_eq!(split_space("  a  b c ", usize::MAX - 1), ["a", "b", "c"]);
        assert_eq!(split_space("  a  b  c ", 1), ["a", "b  c"]);
        assert!(split_space(" ", 5).is_empty());
    }
}
