//! Filters that apply another filter or a test to each item: `map`, `select`, `reject`,
//! `selectattr` and `rejectattr` (Jinja2 3.1.6, `filters.py`).

use std::collections::VecDeque;

use minijinja::value::{Kwargs, Rest, Value};
use minijinja::{Error, ErrorKind, State};

use crate::library::path::{Path, attribute_of};
use crate::library::vocabulary::Registry;
use crate::library::vocabulary::{self, Callable};
use crate::meter::{ITEM, Nesting, SLOT, produce, work};
use crate::python::generator::Generator;
use crate::python::iteration::list;
use crate::python::text;

/// Adds the filters to a registry.
pub(super) fn add(registry: &mut Registry) {
    registry.filter("map", map);
    for (name, by_attribute, wanted) in [
        ("select", false, true),
        ("reject", false, false),
        ("selectattr", true, true),
        ("rejectattr", true, false),
    ] {
        registry.filter(
            name,
            move |state: &mut State<'_, '_>, value: Value, args: Rest<Value>, kwargs: Kwargs| {
                changed("select_or_reject", &value, || {
                    let mut choice = Choice::of(&args, &kwargs, by_attribute)?;
                    Ok(move |item: Value| {
                        let is_kept = choice.is_true(state, &item)? == wanted;
                        Ok(is_kept.then_some(item))
                    })
                })
            },
        );
    }
}

/// A generator that changes or drops each item of a value.
///
/// A filter or a test can be called only now, so all items are computed at once. An item of another
/// generator is taken from it only when somebody asks for what became of it. What others have taken
/// meanwhile is left out. An error is kept for whoever asks for the item after it.
fn changed<C>(
    function: &'static str,
    value: &Value,
    change: impl FnOnce() -> Result<C, Error>,
) -> Result<Value, Error>
where
    C: FnMut(Value) -> Result<Option<Value>, Error>,
{
    let source = value.downcast_object::<Generator>();
    let mut found = VecDeque::new();
    let compute = || -> Result<(), Error> {
        if !value.is_true() {
            return Ok(());
        }
        let mut change = change()?;
        let (given, items) = match &source {
            Some(generator) => {
                let ahead = generator.look_ahead();
                (ahead.given(), ahead.left().iter().cloned().collect())
            }
            None => (0, list(value)?),
        };
        for (at, item) in items.into_iter().enumerate() {
            found.extend(change(item)?.map(|item| (given + at, item)));
        }
        Ok(())
    };
    let mut failure = compute().err();
    produce(SLOT * found.len())?;
    Generator::lazy(function, move || {
        while let Some((at, item)) = found.pop_front() {
            if source.as_ref().is_none_or(|source| source.take_to(at)) {
                return Ok(Some(item));
            }
        }
        if let Some(error) = failure.take() {
            return Err(error);
        }
        match &source {
            Some(source) => source.run().map(|_| None),
            None => Ok(None),
        }
    })
}

/// `map(attribute=…, default=…)` or `map(filter, …)`.
fn map(
    state: &mut State<'_, '_>,
    value: Value,
    args: Rest<Value>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    if args.is_empty() && kwargs.has("attribute") {
        return changed("sync_do_map", &value, || {
            let default = given(&kwargs, "default")?.filter(|value| !value.is_none());
            let path = Path::of(&kwargs.get::<Value>("attribute")?)?.with_default(default);
            kwargs.assert_all_used()?;
            Ok(move |item| path.follow(item).map(Some))
        });
    }
    changed("sync_do_map", &value, || {
        let (name, rest) = named(&args)?;
        let rest = with_kwargs(rest, &kwargs)?;
        Ok(move |item| {
            // A name that there is not matters where there is an item.
            let filter = name
                .as_str()
                .and_then(vocabulary::filter)
                .ok_or_else(|| Error::new(ErrorKind::UnknownFilter, text::repr(name)))?;
            work(ITEM + ITEM / 4 * rest.len())?;
            let args: Vec<Value> = std::iter::once(item).chain(rest.iter().cloned()).collect();
            let _nesting = Nesting::deeper(1)?;
            filter.call(state, &args).map(Some)
        })
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

/// Arguments with the keyword arguments after them, as minijinja passes them.
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

/// What `select` and its relatives ask of an item: its truth, or a test.
struct Choice {
    path: Option<Path>,
    test: Option<ItemTest>,
}

/// A test with the arguments after the item.
struct ItemTest {
    /// The test, or the name that no test has.
    test: Result<&'static Callable, String>,
    /// The arguments. The first one is for the item.
    args: Vec<Value>,
}

impl Choice {
    fn of(args: &[Value], kwargs: &Kwargs, by_attribute: bool) -> Result<Choice, Error> {
        let (path, rest) = match args {
            [attribute, rest @ ..] if by_attribute => (Some(Path::of(attribute)?), rest),
            [] if by_attribute => return Err(Error::new(ErrorKind::MissingArgument, "attribute")),
            rest => (None, rest),
        };
        let test = match rest {
            [] => None,
            rest => {
                let (name, rest) = named(rest)?;
                // A name that there is not matters where there is an item.
                let known = name.as_str().and_then(vocabulary::test);
                let args = std::iter::once(Value::UNDEFINED).chain(with_kwargs(rest, kwargs)?);
                Some(ItemTest {
                    test: known.ok_or_else(|| text::repr(name)),
                    args: args.collect(),
                })
            }
        };
        Ok(Choice { path, test })
    }

    fn is_true(&mut self, state: &mut State<'_, '_>, item: &Value) -> Result<bool, Error> {
        let asked = attribute_of(self.path.as_ref(), item.clone())?;
        let Some(test) = &mut self.test else {
            return Ok(asked.is_true());
        };
        let known = test
            .test
            .as_ref()
            .map_err(|name| Error::new(ErrorKind::UnknownTest, name.clone()))?;
        test.args[0] = asked;
        work(ITEM)?;
        known.call(state, &test.args).map(|value| value.is_true())
    }
}
