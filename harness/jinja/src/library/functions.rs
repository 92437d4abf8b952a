//! The functions that a template may call, as transformers and Jinja2 have them.

use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::value::{
    Kwargs, Object, ObjectRepr, Rest, Value, ValueKind, ValueOrKwargs, from_args,
};
use minijinja::{Error, ErrorKind, State};
use rolecall_core::provenance::{Input, InputKind};

use crate::library::callables::callable;
use crate::library::cycler::cycler;
use crate::library::joiner::joiner;
use crate::meter::{ENTRY, ITEM, OBJECT, SLOT, now, produce, work};
use crate::provenance;
use crate::python::arguments::{Arguments, wrong_type};
use crate::python::dictionaries::{dictionary, hashed, pairs};
use crate::python::methods;
use crate::python::namespaces;
use crate::python::numbers::{Number, number};
use crate::python::ranges;
use crate::python::text;
use crate::python::undefined;
use crate::refusal::{RaisedException, invalid};

/// The name of the function that a `{% generation %}` block calls. No template can spell it.
pub(crate) const GENERATION: &str = "generation block";

/// Whether a template can read a name without setting it: the functions of this module, and the
/// names that Jinja2's blocks define.
pub(crate) fn is_global(name: &str) -> bool {
    name == GENERATION
        || [
            "raise_exception",
            "strftime_now",
            "namespace",
            "dict",
            "range",
            "lipsum",
            "cycler",
            "joiner",
            "loop",
            "caller",
            "varargs",
            "kwargs",
            "self",
        ]
        .contains(&name)
}

/// A variable that every template has.
pub(crate) fn global(name: &str) -> Option<Value> {
    let (_, value) = GLOBALS.iter().find(|(known, _)| *known == name)?;
    Some(value.clone())
}

static GLOBALS: LazyLock<Vec<(&'static str, Value)>> = LazyLock::new(made_globals);

fn made_globals() -> Vec<(&'static str, Value)> {
    let functions = [
        (
            "raise_exception",
            "<function _cached_compile_jinja_template.<locals>.raise_exception>",
            Value::from_function(raise_exception),
        ),
        (
            "strftime_now",
            "<function _cached_compile_jinja_template.<locals>.strftime_now>",
            Value::from_function(strftime_now),
        ),
        (
            "namespace",
            "<class 'transformers.utils.chat_template_utils.\
             _cached_compile_jinja_template.<locals>.TemplateNamespace'>",
            Value::from_function(namespace),
        ),
        (
            "range",
            "<function safe_range>",
            Value::from_function(range),
        ),
        (
            "cycler",
            "<class 'jinja2.utils.Cycler'>",
            Value::from_function(cycler),
        ),
        (
            "joiner",
            "<class 'jinja2.utils.Joiner'>",
            Value::from_function(joiner),
        ),
        (
            "lipsum",
            "<function generate_lorem_ipsum>",
            Value::from_function(lipsum),
        ),
    ];
    let functions = functions.into_iter();
    let functions = functions.map(|(name, python, function)| (name, callable(python, function)));
    let objects = [
        ("self", Value::from_object(TemplateReference)),
        ("dict", Value::from_object(DictType)),
    ];
    functions.chain(objects).collect()
}

/// `strftime_now(format)`
fn strftime_now(args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["format"], &args, &kwargs)?;
    args.required(0)?;
    let format = args.text(0, "")?;
    // A directive has two characters; the longest text that one represents is a date.
    work(format.len().saturating_mul(ITEM))?;
    produce(format.len().saturating_mul(ITEM))?;
    let text = now().strftime(format);
    let len = text.len();
    let text = Value::from(text);
    if !provenance::is_traced() {
        return Ok(text);
    }
    let clock = Input {
        kind: InputKind::Clock,
        path: "now".to_owned(),
    };
    let spans = provenance::made(len, vec![Arc::new(clock)], "strftime_now");
    Ok(provenance::known(&text, spans))
}

/// `raise_exception(message)`
fn raise_exception(args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["message"], &args, &kwargs)?;
    let message = text::str(args.required(0)?).into_owned();
    produce(2 * message.len())?;
    Err(invalid(message.clone()).with_source(RaisedException(message)))
}

/// `namespace(mapping or pairs, **kwargs)`
fn namespace(args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    namespaces::namespace(entries(&args)?)
}

/// The variable `self`: the template, which has nothing but its blocks (Jinja2's
/// `runtime.py`). minijinja finds them without it.
#[derive(Debug)]
struct TemplateReference;

impl Object for TemplateReference {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<TemplateReference None>")
    }
}

/// The type `dict`. transformers lets a template call it, and ask it for its method
/// `fromkeys` (`chat_template_utils.py`, `TemplateDict`).
#[derive(Debug)]
struct DictType;

impl Object for DictType {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        undefined::nameless(args, |args| {
            let (args,) = from_args(args)?;
            dict(args)
        })
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match method {
            "fromkeys" => methods::call(&Value::from_pairs([("", "")]), method, args),
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Python also writes the address, which is another one each time.
        f.write_str(
            "<transformers.utils.chat_template_utils.\
             _cached_compile_jinja_template.<locals>.TemplateDict object>",
        )
    }
}

/// Whether a value is the variable `self`. Python treats it as iterable, because it has
/// `__getitem__`.
pub(super) fn is_template(value: &Value) -> bool {
    value.downcast_object_ref::<TemplateReference>().is_some()
}

/// Whether a value is the type `dict`, which can be called.
pub(super) fn is_dict_type(value: &Value) -> bool {
    value.downcast_object_ref::<DictType>().is_some()
}

/// `dict(mapping or pairs, **kwargs)`.
fn dict(args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let pairs = entries(&args)?;
    produce(OBJECT + ENTRY * pairs.len())?;
    Ok(dictionary(pairs))
}

/// The entries of mappings and of lists of pairs, one after the other.
fn entries(args: &[ValueOrKwargs]) -> Result<Vec<(Value, Value)>, Error> {
    let mut entries: Vec<(Value, Value)> = Vec::new();
    let positional = args.iter().filter(|value| !value.is_kwargs());
    if positional.count() > 1 {
        return Err(Error::new(
            ErrorKind::TooManyArguments,
            "dict expected at most 1 argument",
        ));
    }
    for value in args {
        if value.is_undefined() {
            return Err(Error::from(ErrorKind::UndefinedError));
        }
        if value.is_none() {
            return Err(invalid("none is not iterable"));
        }
        produce(2 * SLOT * value.len().unwrap_or(0))?;
        if value.kind() == ValueKind::Map {
            entries.extend(pairs(value)?);
            continue;
        }
        for pair in value.try_iter()? {
            work(ITEM)?;
            let pair: Vec<Value> = pair.try_iter()?.take(3).collect();
            let [key, item] = pair.as_slice() else {
                return Err(wrong_type("dict"));
            };
            hashed(key)?;
            entries.push((key.clone(), item.clone()));
        }
    }
    Ok(entries)
}

/// `range(stop)` or `range(start, stop, step=1)`.
fn range(args: Rest<Value>) -> Result<Value, Error> {
    let mut bounds = Vec::new();
    for value in args.iter() {
        match number(value) {
            Some(Number::Int(int)) => bounds.push(int),
            _ => return Err(wrong_type("range")),
        }
    }
    match *bounds.as_slice() {
        [end] => ranges::range(0, end, 1),
        [start, end] => ranges::range(start, end, 1),
        [start, end, step] => ranges::range(start, end, step),
        _ => Err(wrong_type("range")),
    }
}

/// `lipsum(n=5, html=True, min=20, max=100)` is an error: it gives another text each time,
/// unless it gives none.
fn lipsum(args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["n", "html", "min", "max"], &args, &kwargs)?;
    if args.int(0, 5)? <= 0 {
        return Ok(if args.truth(1, true) {
            Value::from_safe_string(String::new())
        } else {
            Value::from("")
        });
    }
    Err(invalid(
        "lipsum gives random text, which is not reproduced here",
    ))
}
