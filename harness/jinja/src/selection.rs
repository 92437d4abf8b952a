//! Filters that ask every item: `map`, `select` and their kin.

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use minijinja::value::{Kwargs, Rest, Value};
use minijinja::{Environment, Error, ErrorKind, State};

use super::checks;
use super::comparisons::holds;
use super::generator::Generator;
use super::meter::{ITEM, SLOT, called, produce, work};
use super::operators::item;
use super::sequences::each;
use super::vocabulary;

/// Adds the filters.
pub(super) fn add_filters(environment: &mut Environment<'_>) {
    vocabulary::add_filter(environment, "map", map);
    for (name, by_attribute, wanted) in [
        ("select", false, true),
        ("reject", false, false),
        ("selectattr", true, true),
        ("rejectattr", true, false),
    ] {
        vocabulary::add_filter(
            environment,
            name,
            move |state: &mut State<'_, '_>, value: Value, args: Rest<Value>, kwargs: Kwargs| {
                Generator::value("select_or_reject", |kept| {
                    choose(state, &value, (&args, &kwargs), by_attribute, wanted, kept)
                })
            },
        );
    }
}

/// What `attribute='a.b'` leads to (`make_attrgetter`).
pub(super) struct Path {
    parts: Vec<Value>,
    /// What stands for a part that is not there.
    pub(super) default: Option<Value>,
}

impl Path {
    pub(super) fn of(attribute: &Value) -> Result<Path, Error> {
        let parts = match attribute.as_str() {
            None => vec![attribute.clone()],
            Some(path) => {
                work(path.len().saturating_mul(ITEM))?;
                produce(path.len().saturating_mul(SLOT))?;
                path.split('.').map(part).collect()
            }
        };
        Ok(Path {
            parts,
            default: None,
        })
    }

    pub(super) fn of_item(&self, of: &Value) -> Result<Value, Error> {
        self.parts.iter().try_fold(of.clone(), |value, part| {
            work(ITEM)?;
            let found = item(&value, part)?;
            Ok(match &self.default {
                Some(default) if found.is_undefined() => default.clone(),
                _ => found,
            })
        })
    }
}

/// A part of a path: digits are an index.
fn part(part: &str) -> Value {
    match part.parse::<i64>() {
        Ok(index) if part.bytes().all(|byte| byte.is_ascii_digit()) => Value::from(index),
        _ => Value::from(part),
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
            let path = Path {
                default: given(&kwargs, "default")?.filter(|value| !value.is_none()),
                ..Path::of(&kwargs.get::<Value>("attribute")?)?
            };
            kwargs.assert_all_used()?;
            for item in each(&value)? {
                mapped.push(path.of_item(&item)?);
            }
            return Ok(());
        }
        let (name, rest) = named(&args)?;
        if !vocabulary::is_filter(name) {
            return Err(Error::new(ErrorKind::UnknownFilter, name.to_owned()));
        }
        let rest = with_kwargs(rest, &kwargs)?;
        for item in each(&value)? {
            work(ITEM + ITEM / 4 * rest.len())?;
            let args: Vec<Value> = std::iter::once(item).chain(rest.iter().cloned()).collect();
            mapped.push(called(|| state.apply_filter(name, &args))??);
        }
        Ok(())
    })
}

fn given(kwargs: &Kwargs, name: &str) -> Result<Option<Value>, Error> {
    if kwargs.has(name) {
        kwargs.get::<Value>(name).map(Some)
    } else {
        Ok(None)
    }
}

/// The name of a filter or test, and the arguments after it.
fn named(args: &[Value]) -> Result<(&str, &[Value]), Error> {
    let [name, rest @ ..] = args else {
        return Err(Error::new(ErrorKind::MissingArgument, "a name"));
    };
    let name = name
        .as_str()
        .ok_or_else(|| Error::new(ErrorKind::UnknownFilter, "it is no name"))?;
    Ok((name, rest))
}

/// Arguments with the keyword arguments behind, as minijinja passes them.
fn with_kwargs(args: &[Value], kwargs: &Kwargs) -> Result<Vec<Value>, Error> {
    // There are more copies of them while filters are within filters.
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
            if !vocabulary::is_test(name) {
                return Err(Error::new(ErrorKind::UnknownTest, name.to_owned()));
            }
            let args: Vec<Value> = std::iter::once(Value::UNDEFINED)
                .chain(with_kwargs(rest, kwargs)?)
                .collect();
            Some((name, args, checks::comparison(name)))
        }
    };
    for item in each(value)? {
        let asked = match &path {
            Some(path) => path.of_item(&item)?,
            None => item.clone(),
        };
        let is_true = match &mut test {
            None => asked.is_true(),
            Some((name, args, comparison)) => match (comparison, args.as_mut_slice()) {
                (Some(operator), [_, other]) if !other.is_kwargs() => {
                    holds(*operator, &asked, other)?
                }
                (_, args) => {
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
