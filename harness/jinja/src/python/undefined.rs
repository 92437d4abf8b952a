//! What a missing value is called, for the message of a render that fails.
//!
//! Jinja2's undefined values know where they come from (3.1.6, `runtime.py`, `Undefined`);
//! minijinja's do not. So a render that fails is repeated with values that do. They are in
//! variables, and filters, tests and operators receive minijinja's in their place.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use minijinja::value::{DynObject, Enumerator, Kwargs, Object, ObjectRepr, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};

use crate::python::generator::Generator;
use crate::python::kinds::{is_dictionary, is_list, is_loop, is_range, is_tuple};
use crate::python::numbers::{Number, number};

thread_local! {
    /// Whether missing values have names in the render on this thread.
    static IS_NAMED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a render in which missing values have names.
pub(crate) fn with_names<T>(render: impl FnOnce() -> T) -> T {
    /// Ends it, after a panic too.
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            IS_NAMED.set(false);
        }
    }
    IS_NAMED.set(true);
    let _off = Off;
    render()
}

/// Whether missing values have names in the render on this thread.
#[inline]
pub(crate) fn is_named() -> bool {
    IS_NAMED.get()
}

/// Calls something with minijinja's undefined values. Its error names the first missing argument.
#[inline]
pub(crate) fn nameless<T>(
    args: &[Value],
    call: impl FnOnce(&[Value]) -> Result<T, Error>,
) -> Result<T, Error> {
    if !is_named() {
        return call(args);
    }
    let plain = without_names(args);
    call(plain.as_deref().unwrap_or(args)).map_err(|error| with_name(args, error))
}

/// An undefined value with a message about it.
struct Unset {
    message: String,
}

/// The mark of an error that names what is missing.
#[derive(Debug, thiserror::Error)]
#[error("something is undefined")]
struct NamesIt;

/// An undefined value, which has a message if this render wants to know.
pub(crate) fn undefined(message: impl FnOnce() -> String) -> Value {
    if !IS_NAMED.get() {
        return Value::UNDEFINED;
    }
    named(message())
}

/// An undefined value with a message.
pub(crate) fn named(message: String) -> Value {
    Value::from_object(Unset { message })
}

/// What was found at a key of a value, or an undefined value that names the key.
pub(crate) fn found_at(found: Value, of: &Value, key: &Value) -> Value {
    if found.is_undefined() {
        undefined(|| missing(of, key))
    } else {
        found
    }
}

/// The value of a variable, or an undefined value that names it.
pub(crate) fn variable<'n>(value: Value, name: impl Fn() -> &'n str) -> Value {
    if value.is_undefined() {
        undefined(|| format!("'{}' is undefined", name()))
    } else {
        value
    }
}

/// The message of a value without such a key.
pub(crate) fn missing(of: &Value, key: &Value) -> String {
    let kind = kind(of);
    let Some(name) = key.as_str() else {
        let space = if of.is_none() { "" } else { " object" };
        return format!("{kind}{space} has no element {key}");
    };
    if is_unsafe(of, name) {
        return format!("access to attribute '{name}' of '{kind}' object is unsafe.");
    }
    let space = if of.is_none() { "" } else { " object" };
    format!("'{kind}{space}' has no attribute '{name}'")
}

/// The error of something that is done with a missing value.
pub(crate) fn error(message: String) -> Error {
    Error::new(ErrorKind::UndefinedError, message).with_source(NamesIt)
}

/// The message of an undefined value that has one.
pub(crate) fn message(value: &Value) -> Option<&str> {
    let unset: &Unset = value.downcast_object_ref()?;
    Some(&unset.message)
}

/// The error of an operator that has no meaning for values of these kinds.
pub(crate) fn unsupported(operator: &str, a: &Value, b: &Value) -> Error {
    if let Some(message) = message(a).or_else(|| message(b)) {
        return error(message.to_owned());
    }
    let kind = if a.is_undefined() || b.is_undefined() {
        ErrorKind::UndefinedError
    } else {
        ErrorKind::InvalidOperation
    };
    Error::new(
        kind,
        format!("{} {operator} {} is not supported", a.kind(), b.kind()),
    )
}

/// The error of `-a` and `+a`, where `a` is no number.
pub(crate) fn unsupported_sign(a: &Value) -> Error {
    if a.is_undefined() || message(a).is_some() {
        return unsupported("-", a, a);
    }
    let message = format!("a sign before {} is not supported", a.kind());
    Error::new(ErrorKind::InvalidOperation, message)
}

/// The arguments of a call with minijinja's undefined values, if one of them has a name.
fn without_names(args: &[Value]) -> Option<Vec<Value>> {
    if !args.iter().any(has_name) {
        return None;
    }
    let plain = |value: &Value| match message(value) {
        Some(_) => Value::UNDEFINED,
        None => value.clone(),
    };
    let mut all: Vec<Value> = args.iter().map(plain).collect();
    if let Some(last) = all.last_mut().filter(|last| last.is_kwargs()) {
        let pairs = keywords(last).into_iter();
        let pairs: Kwargs = pairs.map(|(name, value)| (name, plain(&value))).collect();
        *last = pairs.into();
    }
    Some(all)
}

/// The error of a call, which names the first missing argument.
fn with_name(args: &[Value], error: Error) -> Error {
    let is_named = std::error::Error::source(&error).is_some();
    let values = args.iter().cloned().flat_map(|value| {
        let mut all: Vec<Value> = keywords(&value)
            .into_iter()
            .map(|(_, value)| value)
            .collect();
        all.insert(0, value);
        all
    });
    let mut names = values.filter_map(|value| message(&value).map(str::to_owned));
    let Some(name) = names.next().filter(|_| !is_named) else {
        return error;
    };
    match (error.kind(), error.detail()) {
        (ErrorKind::UndefinedError, _) => self::error(name),
        (kind, None) => Error::new(kind, name).with_source(NamesIt),
        (kind, Some(detail)) => Error::new(kind, format!("{detail}: {name}")).with_source(NamesIt),
    }
}

fn has_name(value: &Value) -> bool {
    message(value).is_some()
        || keywords(value)
            .iter()
            .any(|(_, value)| message(value).is_some())
}

/// The keyword arguments that a value is.
fn keywords(value: &Value) -> Vec<(String, Value)> {
    let Some(kwargs) = value.is_kwargs().then(|| Kwargs::try_from(value.clone())) else {
        return Vec::new();
    };
    let Ok(kwargs) = kwargs else {
        return Vec::new();
    };
    let named = kwargs.args().filter_map(|name| {
        let value = kwargs.peek::<Value>(name).ok()?;
        Some((name.to_owned(), value))
    });
    named.collect()
}

/// The name of a value's type, as Jinja2's `object_type_repr` writes it.
fn kind(value: &Value) -> &'static str {
    match value.kind() {
        ValueKind::Undefined => "undefined",
        ValueKind::None => "None",
        ValueKind::Bool => "bool",
        ValueKind::Number if matches!(number(value), Some(Number::Float(_))) => "float",
        ValueKind::Number => "int",
        ValueKind::String if value.is_safe() => "markupsafe.Markup",
        ValueKind::String => "str",
        _ if is_loop(value) => "jinja2.runtime.LoopContext",
        _ if is_dictionary(value) => "dict",
        _ if is_tuple(value) => "tuple",
        _ if is_list(value) => "list",
        _ if is_range(value) => "range",
        _ if Generator::of(value).is_some() => "generator",
        _ => match value.as_object().map(DynObject::type_name) {
            Some(name) if name.ends_with("::Namespace") => {
                "transformers.utils.chat_template_utils.TemplateNamespace"
            }
            Some(name) if name.ends_with("::Macro") => "jinja2.runtime.Macro",
            Some(name) if name.ends_with("::Cycler") => "jinja2.utils.Cycler",
            Some(name) if name.ends_with("::Joiner") => "jinja2.utils.Joiner",
            _ => "function",
        },
    }
}

/// Whether the sandbox hides a method of a list or a dictionary, because it changes its object
/// (Jinja2's sandbox.py, `_mutable_spec`), or an attribute that every object has.
fn is_unsafe(of: &Value, name: &str) -> bool {
    let changes: &[&str] = if is_dictionary(of) {
        &["clear", "pop", "popitem", "setdefault", "update"]
    } else if is_list(of) && !is_tuple(of) {
        &[
            "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort",
        ]
    } else {
        &[]
    };
    changes.contains(&name) || name.starts_with("__")
}

impl fmt::Debug for Unset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Undefined")
    }
}

impl Object for Unset {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Empty
    }

    fn is_true(self: &Arc<Self>) -> bool {
        false
    }

    fn render(self: &Arc<Self>, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, _: &[Value]) -> Result<Value, Error> {
        Err(error(self.message.clone()))
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        _: &str,
        _: &[Value],
    ) -> Result<Value, Error> {
        Err(error(self.message.clone()))
    }
}
