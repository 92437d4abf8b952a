//! The attributes of Python's types: the names of methods, and `value.name`.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::value::{Object, ObjectRepr, Value, ValueKind};
use minijinja::{Error, State};

use crate::meter::{OBJECT, produce};
use crate::python::kinds::{is_dictionary, is_list};
use crate::python::numbers::{Number, integer, number};

/// The methods of Python's dictionaries that the sandbox lets a template see.
const DICT_METHODS: [&str; 6] = ["copy", "fromkeys", "get", "items", "keys", "values"];

/// The methods of Python's dictionaries that the sandbox hides, since they change the
/// dictionary (Jinja2's `ImmutableSandboxedEnvironment`).
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

/// The attributes of Python's numbers that are numbers themselves. Floats have the first two.
const NUMBER_ATTRIBUTES: [&str; 4] = ["real", "imag", "numerator", "denominator"];

/// The attributes that every object of Python has, and that the sandbox hides: such a name
/// gives an undefined value, even for an undefined value or a dictionary with such a key.
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
pub(crate) fn is_method(name: &str) -> bool {
    static METHODS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let (of_values, of_dictionaries) = (HIDDEN_ATTRIBUTES, DICT_METHODS);
        let names = of_values.into_iter().chain(of_dictionaries);
        let names = names.chain(HIDDEN_DICT_METHODS).chain(LIST_METHODS);
        names.chain(NUMBER_ATTRIBUTES).chain(TEXT_METHODS).collect()
    });
    METHODS.contains(name)
}

/// `value.name`. After a dot a method comes before a key of the same name, so that
/// `properties.items` never is the property `items`.
pub(crate) fn attribute(value: &Value, name: &str) -> Result<Value, Error> {
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
    if NUMBER_ATTRIBUTES.contains(&name)
        && let Some(number) = number(value)
    {
        return Ok(of_number(number, name));
    }
    if hidden.contains(&name) || HIDDEN_ATTRIBUTES.contains(&name) {
        return Ok(Value::UNDEFINED);
    }
    value.get_attr(name)
}

/// An attribute of a number: every number is complex, and every integer a fraction.
fn of_number(of: Number, name: &str) -> Value {
    match (of, name) {
        (Number::Int(int), "real" | "numerator") => integer(int),
        (Number::Int(_), "imag") => Value::from(0),
        (Number::Int(_), _) => Value::from(1),
        (Number::Float(float), "real") => Value::from(float),
        (Number::Float(_), "imag") => Value::from(0.0),
        (Number::Float(_), _) => Value::UNDEFINED,
    }
}

/// Whether a value is a method that was not called yet.
pub(crate) fn is_bound_method(value: &Value) -> bool {
    value.downcast_object_ref::<BoundMethod>().is_some()
}

/// A method that was not called yet.
struct BoundMethod {
    value: Value,
    name: String,
}

impl fmt::Debug for BoundMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Python also writes the address, which is another one each time.
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
