//! Methods of Python's types that templates call.
//!
//! minijinja-contrib's `pycompat` has most of them; here is what it lacks or does
//! differently.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Object, ObjectRepr, Value, ValueKind, from_args};
use minijinja::{Error, State};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::pytext::has_own_text;
use super::strings::{self, or_not_found};

/// Calls a method of a value that has no methods of its own.
pub(super) fn call(
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
                let found = value.try_iter()?.position(|item| item == wanted);
                return or_not_found(found);
            }
            "copy" => {
                let () = from_args(args)?;
                return Ok(value.try_iter()?.collect());
            }
            _ => {}
        }
    }
    if method == "copy" && is_dictionary(value) {
        let () = from_args(args)?;
        return Ok(value.clone());
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
