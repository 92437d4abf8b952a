//! Filters that apply another filter or a test to each item: `map`, `select`, `reject`,
//! `selectattr` and `rejectattr` (Jinja2 3.1.6, `filters.py`).

use minijinja::value::{Kwargs, Rest, Value};
use minijinja::{Error, ErrorKind, State};

use crate::decisions;
use crate::library::path::{Path, attribute_of};
use crate::library::tests;
use crate::library::vocabulary;
use crate::meter::{ITEM, SLOT, called, produce, work};
use crate::operators::comparison::holds;
use crate::python::generator::Generator;
use crate::python::iteration::each;
use crate::python::text;
use crate::registry::Registry;

/// Adds the filters to a registry.
pub(super) fn add(registry: &mut Registry<'_>) {
    vocabulary::add_filter(registry, "map", map);
    for (name, by_attribute, wanted) in [
        ("select", false, true),
        ("reject", false, false),
        ("selectattr", true, true),
        ("rejectattr", true, false),
    ] {
        vocabulary::add_filter(
            registry,
            name,
            move |state: &mut State<'_, '_>, value: Value, args: Rest<Value>, kwargs: Kwargs| {
                Generator::value("select_or_reject", |kept| {
                    choose(state, &value, (&args, &kwargs), by_attribute, wanted, kept)
                })
            },
        );
    }
}

/// `map(attribute=…, default=…)` or `map(filter, …)`.
fn map(
    state: &mut State<'_, '_>,
    value: Value,
    args: Rest<Value>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    Generator::value("sync_do_map", |mapped| {
        if !value.is_true() {
            return Ok(());
        }
        if args.is_empty() && kwargs.has("attribute") {
            let default = given(&kwargs, "default")?.filter(|value| !value.is_none());
            let path = Path::of(&kwargs.get::<Value>("attribute")?)?.with_default(default);
            kwargs.assert_all_used()?;
            for item in each(&value)? {
                mapped.push(path.follow(item)?);
            }
            return Ok(());
        }
        let (name, rest) = named(&args)?;
        let rest = with_kwargs(rest, &kwargs)?;
        for item in each(&value)? {
            // A name that there is not matters where there is an item.
            let name = name
                .as_str()
                .and_then(vocabulary::filter)
                .ok_or_else(|| Error::new(ErrorKind::UnknownFilter, text::repr(name)))?;
            work(ITEM + ITEM / 4 * rest.len())?;
            let args: Vec<Value> = std::iter::once(item).chain(rest.iter().cloned()).collect();
            mapped.push(called(|| state.apply_filter(name, &args))??);
        }
        Ok(())
    })
}

/// A keyword argument, if it is there.
fn given(kwargs: &Kwargs, name: &str) -> Result<Option<Value>, Error> {
    if kwargs.has(name) {
        kwargs.get::<Value>(name).map(Some)
    } else {
        Ok(None)
    }
}

/// The name of a filter or test, and the arguments after it.
fn named(args: &[Value]) -> Result<(&Value, &[Value]), Error> {
    args.split_first()
        .ok_or_else(|| Error::new(ErrorKind::MissingArgument, "a name"))
}

/// Arguments with the keyword arguments behind them, as minijinja passes them.
fn with_kwargs(args: &[Value], kwargs: &Kwargs) -> Result<Vec<Value>, Error> {
    // A filter within a filter copies them once more.
    produce(2 * SLOT * args.len())?;
    let mut all = args.to_vec();
    let names: Vec<&str> = kwargs.args().collect();
    if !names.is_empty() {
        let mut pairs = Vec::new();
        for name in names {
            pairs.push((name, kwargs.get::<Value>(name)?));
        }
        all.push(Value::from(Kwargs::from_iter(pairs)));
    }
    Ok(all)
}

/// Keeps the items for which a test, or their truth, is as wanted.
fn choose(
    state: &mut State<'_, '_>,
    value: &Value,
    (args, kwargs): (&[Value], &Kwargs),
    by_attribute: bool,
    wanted: bool,
    kept: &mut Vec<Value>,
) -> Result<(), Error> {
    if !value.is_true() {
        return Ok(());
    }
    let (path, rest) = match args {
        [attribute, rest @ ..] if by_attribute => (Some(Path::of(attribute)?), rest),
        [] if by_attribute => return Err(Error::new(ErrorKind::MissingArgument, "attribute")),
        rest => (None, rest),
    };
    let mut test = match rest {
        [] => None,
        rest => {
            let (name, rest) = named(rest)?;
            // A name that there is not matters where there is an item.
            let comparison = name.as_str().and_then(tests::comparison);
            let known = name.as_str().and_then(vocabulary::test);
            let known = known.ok_or_else(|| text::repr(name));
            let args: Vec<Value> = std::iter::once(Value::UNDEFINED)
                .chain(with_kwargs(rest, kwargs)?)
                .collect();
            Some((known, args, comparison))
        }
    };
    for item in each(value)? {
        let asked = attribute_of(path.as_ref(), item.clone())?;
        let is_true = match &mut test {
            None => asked.is_true(),
            Some((name, args, comparison)) => match (comparison, args.as_mut_slice()) {
                (Some(operator), [_, other]) if !other.is_kwargs() => {
                    let is_true = holds(*operator, &asked, other)?;
                    decisions::compared(*operator, &asked, other, is_true);
                    is_true
                }
                (_, args) => {
                    let name = name
                        .as_ref()
                        .map_err(|name| Error::new(ErrorKind::UnknownTest, name.clone()))?;
                    args[0] = asked;
                    work(ITEM)?;
                    state.perform_test(name, args)?
                }
            },
        };
        if is_true == wanted {
            kept.push(item);
        }
    }
    Ok(())
}
