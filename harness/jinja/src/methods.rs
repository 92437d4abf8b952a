//! Methods of Python's types that templates call.
//!
//! minijinja-contrib's `pycompat` has most of them; here is what it lacks or does
//! differently.

use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::value::{DynObject, Object, ObjectRepr, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::comparisons::is_item;
use super::meter::{ENTRY, ITEM, OBJECT, SLOT, produce, work};
use super::numbers::{Number, integer, number};
use super::operators::{is_list, iterate};
use super::pytext::has_own_text;
use super::sequences::hashable;
use super::strings::{self, or_not_found};
use super::views;

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
                return views::view(value, method);
            }
            "get" => {
                let (key, otherwise): (Value, Option<Value>) = from_args(args)?;
                match key.as_str() {
                    Some(text) => work(4 * text.len())?,
                    None => hashable(&key)?,
                }
                let found = value.as_object().and_then(|map| map.get_value(&key));
                return Ok(found.or(otherwise).unwrap_or_else(|| Value::from(())));
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
    // What is left are texts in upper and lower case; the rest is no method here.
    unknown_method_callback(state, value, method, args)
}

/// `int.bit_length()`, `float.is_integer()`
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

/// The methods of Python's dictionaries that the sandbox lets a template see.
const DICT_METHODS: [&str; 6] = ["copy", "fromkeys", "get", "items", "keys", "values"];

/// Those that it hides, since they change the dictionary (`ImmutableSandboxedEnvironment`).
const HIDDEN_DICT_METHODS: [&str; 5] = ["clear", "pop", "popitem", "setdefault", "update"];

/// Methods of Python's lists that the sandbox lets a template see.
const LIST_METHODS: [&str; 3] = ["copy", "count", "index"];

/// Methods of Python's texts.
const TEXT_METHODS: [&str; 47] = [
    "capitalize",
    "casefold",
    "center",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "format_map",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "maketrans",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
];

/// What every object of Python has, and the sandbox hides: the name gives nothing, of a
/// value that is not there and of a dictionary with such a key too.
const HIDDEN_ATTRIBUTES: [&str; 27] = [
    "__class__",
    "__delattr__",
    "__dir__",
    "__doc__",
    "__eq__",
    "__format__",
    "__ge__",
    "__getattribute__",
    "__getitem__",
    "__getstate__",
    "__gt__",
    "__hash__",
    "__init__",
    "__init_subclass__",
    "__iter__",
    "__le__",
    "__len__",
    "__lt__",
    "__ne__",
    "__new__",
    "__reduce__",
    "__reduce_ex__",
    "__repr__",
    "__setattr__",
    "__sizeof__",
    "__str__",
    "__subclasshook__",
];

/// Whether `value.name` may mean a method of one of Python's types.
pub(super) fn is_method(name: &str) -> bool {
    HIDDEN_ATTRIBUTES.contains(&name)
        || DICT_METHODS.contains(&name)
        || HIDDEN_DICT_METHODS.contains(&name)
        || LIST_METHODS.contains(&name)
        || TEXT_METHODS.contains(&name)
}

/// `value.name`: with a dot a method comes before a key of the same name, so that
/// `properties.items` never is the property `items`.
pub(super) fn attribute(value: &Value, name: &str) -> Result<Value, Error> {
    let (methods, hidden): (&[&str], &[&str]) = if value.as_str().is_some() {
        (&TEXT_METHODS, &[])
    } else if is_dictionary(value) {
        (&DICT_METHODS, &HIDDEN_DICT_METHODS)
    } else if value.is_tuple() {
        (&LIST_METHODS[1..], &[])
    } else if is_list(value) {
        (&LIST_METHODS, &[])
    } else {
        (&[], &[])
    };
    if methods.contains(&name) {
        produce(OBJECT)?;
        return Ok(Value::from_object(BoundMethod {
            value: value.clone(),
            name: name.to_owned(),
        }));
    }
    if hidden.contains(&name) || HIDDEN_ATTRIBUTES.contains(&name) {
        return Ok(Value::UNDEFINED);
    }
    value.get_attr(name)
}

/// Whether a value is what Python has a `dict` for.
pub(super) fn is_dictionary(value: &Value) -> bool {
    /// What minijinja makes of pairs.
    static DICTIONARY: LazyLock<&str> = LazyLock::new(|| type_name(&Value::from_pairs([("", "")])));
    value.kind() == ValueKind::Map && (type_name(value) == *DICTIONARY || !has_own_text(value))
}

fn type_name(value: &Value) -> &'static str {
    value.as_object().map_or("", DynObject::type_name)
}

/// Whether a value is a method that is not called yet.
pub(super) fn is_bound(value: &Value) -> bool {
    value.downcast_object_ref::<BoundMethod>().is_some()
}

/// A method that is not called yet.
struct BoundMethod {
    value: Value,
    name: String,
}

impl fmt::Debug for BoundMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Python adds where it lies in memory, which is another place each time.
        let of = match self.value.kind() {
            ValueKind::String => "str",
            ValueKind::Map => "dict",
            _ => "list",
        };
        write!(f, "<built-in method {} of {of} object>", self.name)
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
