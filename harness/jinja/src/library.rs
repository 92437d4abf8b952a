//! Functions, filters and tests as transformers and Jinja2 have them.

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::sync::Arc;

use minijinja::value::{
    Kwargs, Object, ObjectRepr, Rest, Value, ValueKind, ValueOrKwargs, from_args,
};
use minijinja::{Environment, Error, ErrorKind, State};

use super::checks;
use super::dumps::{Style, dumps};
use super::generation;
use super::helpers;
use super::meter::{ENTRY, ITEM, OBJECT, SLOT, now, produce, work};
use super::methods;
use super::namespaces;
use super::numbers::{Number, number, size};
use super::pytext;
use super::refusal::Raised;
use super::sequences::hashable;
use super::views;

/// The function that a `{% generation %}` block calls. No template can spell it by
/// accident.
pub(super) const GENERATION: &str = "__rolecall_generation";

/// The number one, which minijinja does not know to be a constant.
pub(super) const ONE: &str = "__rolecall_one";

/// What transformers adds to Jinja2's globals.
pub(super) fn add_globals(environment: &mut Environment<'_>) {
    environment.add_global(ONE, 1);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", |format: &str| {
        // The longest that a directive of two characters gives is a date in words.
        work(format.len().saturating_mul(ITEM))?;
        produce(format.len().saturating_mul(ITEM))?;
        Ok::<_, Error>(now().strftime(format))
    });
    environment.add_function(GENERATION, |state: &mut State<'_, '_>, kwargs: Kwargs| {
        let caller: Value = kwargs.get("caller")?;
        Ok(generation::block(caller.call(state, &[])?))
    });
}

/// Names that a template reads without anyone having to set them: what is above, Jinja2's
/// own globals, and what its blocks define.
pub(super) fn is_global(name: &str) -> bool {
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

/// The functions, filters and tests that Jinja2 and transformers give a template.
pub(super) fn add_functions_and_tests(environment: &mut Environment<'_>) {
    environment.add_function("namespace", namespace);
    environment.add_global("dict", Value::from_object(DictType));
    environment.add_function("range", range);
    environment.add_function("cycler", helpers::cycler);
    environment.add_function("joiner", helpers::joiner);
    environment.add_function("lipsum", helpers::lipsum);
    super::vocabulary::add_filter(environment, "tojson", tojson);
    checks::add(environment);
}

fn raise_exception(message: &Value) -> Result<Value, Error> {
    let message = pytext::str(message).into_owned();
    produce(2 * message.len())?;
    Err(Error::new(ErrorKind::InvalidOperation, message.clone()).with_source(Raised(message)))
}

/// `namespace(mapping or pairs, **kwargs)`
fn namespace(args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    namespaces::namespace(entries(&args)?)
}

/// `dict`, which transformers lets a template call, and ask for `fromkeys`
/// (`chat_template_utils.py`, `TemplateDict`).
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

/// Whether a value is the function `dict`.
pub(super) fn is_dict_type(value: &Value) -> bool {
    value.downcast_object_ref::<DictType>().is_some()
}

/// `dict(mapping or pairs, **kwargs)`.
fn dict(args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let pairs = entries(&args)?;
    produce(OBJECT + ENTRY * pairs.len())?;
    Ok(Value::from_pairs(pairs))
}

/// The entries of mappings, and of lists of pairs.
fn entries(args: &[ValueOrKwargs]) -> Result<Vec<(Value, Value)>, Error> {
    let mut entries: Vec<(Value, Value)> = Vec::new();
    for value in args {
        produce(2 * SLOT * value.len().unwrap_or(0))?;
        if value.kind() == ValueKind::Map {
            entries.extend(pytext::pairs(value)?);
            continue;
        }
        for pair in value.try_iter()? {
            work(ITEM)?;
            let pair: Vec<Value> = pair.try_iter()?.take(3).collect();
            let [key, item] = pair.as_slice() else {
                return Err(wrong_argument("dict"));
            };
            match key.as_str() {
                Some(text) => work(4 * text.len())?,
                None => hashable(key)?,
            }
            entries.push((key.clone(), item.clone()));
        }
    }
    Ok(entries)
}

/// `json.dumps(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
fn tojson(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let names = ["ensure_ascii", "indent", "separators", "sort_keys"];
    if args.len() > names.len() {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let has_kwargs = kwargs.args().next().is_some();
    let argument = |position: usize| -> Result<Option<Value>, Error> {
        if !has_kwargs {
            return Ok(args.get(position).cloned());
        }
        match (
            args.get(position),
            kwargs.get::<Option<Value>>(names[position])?,
        ) {
            (Some(_), Some(_)) => Err(Error::new(
                ErrorKind::TooManyArguments,
                format!("{} is given twice", names[position]),
            )),
            (Some(value), None) => Ok(Some(value.clone())),
            (None, given) => Ok(given),
        }
    };
    let mut style = Style::indented(None);
    style.ensure_ascii = argument(0)?.is_some_and(|value| value.is_true());
    if let Some(indent) = argument(1)?.filter(|value| !value.is_none()) {
        let width = match (indent.as_str(), number(&indent)) {
            (Some(text), _) => text.to_owned(),
            (None, Some(Number::Int(width))) => {
                let width = size(width)?;
                produce(width)?;
                " ".repeat(width)
            }
            _ => return Err(wrong_argument("indent")),
        };
        style.indent = Some(width);
        ",".clone_into(&mut style.item_separator);
    }
    if let Some(separators) = argument(2)?.filter(|value| !value.is_none()) {
        let pair: Vec<Value> = separators.try_iter()?.take(3).collect();
        let [item, key] = pair.as_slice() else {
            return Err(wrong_argument("separators"));
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        style.item_separator = text(item).ok_or_else(|| wrong_argument("separators"))?;
        style.key_separator = text(key).ok_or_else(|| wrong_argument("separators"))?;
    }
    style.sort_keys = argument(3)?.is_some_and(|value| value.is_true());
    kwargs.assert_all_used()?;
    dumps(value, &style).map(Value::from)
}

fn wrong_argument(name: &str) -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!("{name} has the wrong type"),
    )
}

/// `range(stop)` or `range(start, stop, step=1)`.
fn range(args: Rest<Value>) -> Result<Value, Error> {
    let mut bounds = Vec::new();
    for value in args.iter() {
        match number(value) {
            Some(Number::Int(int)) => bounds.push(int),
            _ => return Err(wrong_argument("range")),
        }
    }
    match *bounds.as_slice() {
        [end] => views::range(0, end, 1),
        [start, end] => views::range(start, end, 1),
        [start, end, step] => views::range(start, end, step),
        _ => Err(wrong_argument("range")),
    }
}
