//! The functions that a template may call, as transformers and Jinja2 have them.

use std::sync::Arc;

use minijinja::value::{
    Kwargs, Object, ObjectRepr, Rest, Value, ValueKind, ValueOrKwargs, from_args,
};
use minijinja::{Environment, Error, ErrorKind, State};

use crate::generation;
use crate::library::cycler::cycler;
use crate::library::joiner::joiner;
use crate::meter::{ENTRY, ITEM, OBJECT, SLOT, now, produce, work};
use crate::python::arguments::wrong_type;
use crate::python::dictionaries::{hashed, pairs};
use crate::python::methods;
use crate::python::namespaces;
use crate::python::numbers::{Number, number};
use crate::python::ranges;
use crate::python::text;
use crate::refusal::{Raised, invalid};

/// The name of the function that a `{% generation %}` block calls. No template spells it by
/// accident.
pub(crate) const GENERATION: &str = "__rolecall_generation";

/// The name of a variable that is the number one, which minijinja does not know to be a
/// constant.
pub(crate) const ONE: &str = "__rolecall_one";

/// Adds the functions that transformers adds to Jinja2's own, and those that a prepared
/// source uses.
pub(crate) fn add_globals(environment: &mut Environment<'_>) {
    environment.add_global(ONE, 1);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", |format: &str| {
        // A directive has two characters; the longest text that one stands for is a date.
        work(format.len().saturating_mul(ITEM))?;
        produce(format.len().saturating_mul(ITEM))?;
        Ok::<_, Error>(now().strftime(format))
    });
    environment.add_function(GENERATION, |state: &mut State<'_, '_>, kwargs: Kwargs| {
        let caller: Value = kwargs.get("caller")?;
        Ok(generation::block(caller.call(state, &[])?))
    });
}

/// Whether a template can read a name that nobody sets: the functions of this module, and
/// what Jinja2's blocks define.
pub(crate) fn is_global(name: &str) -> bool {
    name.starts_with("__rolecall_")
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

/// Adds Jinja2's own functions to an environment.
pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_function("namespace", namespace);
    environment.add_global("dict", Value::from_object(DictType));
    environment.add_function("range", range);
    environment.add_function("cycler", cycler);
    environment.add_function("joiner", joiner);
    environment.add_function("lipsum", lipsum);
}

/// `raise_exception(message)`
fn raise_exception(message: &Value) -> Result<Value, Error> {
    let message = text::str(message).into_owned();
    produce(2 * message.len())?;
    Err(invalid(message.clone()).with_source(Raised(message)))
}

/// `namespace(mapping or pairs, **kwargs)`
fn namespace(args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    namespaces::namespace(entries(&args)?)
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
        let (args,) = from_args(args)?;
        dict(args)
    }

    fn call_method(
        self: &Arc<Self>,
        state: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match method {
            "fromkeys" => methods::call(state, &Value::from_pairs([("", "")]), method, args),
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}

/// Whether a value is the type `dict`, which can be called.
pub(super) fn is_dict_type(value: &Value) -> bool {
    value.downcast_object_ref::<DictType>().is_some()
}

/// `dict(mapping or pairs, **kwargs)`.
fn dict(args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let pairs = entries(&args)?;
    produce(OBJECT + ENTRY * pairs.len())?;
    Ok(Value::from_pairs(pairs))
}

/// The entries of mappings and of lists of pairs, one after the other.
fn entries(args: &[ValueOrKwargs]) -> Result<Vec<(Value, Value)>, Error> {
    let mut entries: Vec<(Value, Value)> = Vec::new();
    for value in args {
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

/// `lipsum()` is an error: it gives another text each time.
fn lipsum(_: Rest<Value>) -> Result<Value, Error> {
    Err(invalid(
        "lipsum gives random text, which is not reproduced here",
    ))
}
