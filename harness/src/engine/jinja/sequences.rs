//! Filters that take or give sequences (Jinja2 3.1.6, `filters.py`).

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::cmp::Ordering;

use minijinja::value::{Kwargs, Rest, Tuple, Value};
use minijinja::{Environment, Error, ErrorKind, State};

use super::arguments::Arguments;
use super::checks;
use super::generator::{self, Generator};
use super::meter::{produce, work};
use super::methods::{self, is_dictionary};
use super::operators::{Operator, compare, equal, holds, is_list, item, iterate};
use super::pytext;
use super::vocabulary;

/// Adds the filters.
pub(super) fn add_filters(environment: &mut Environment<'_>) {
    environment.add_filter("length", length);
    environment.add_filter("count", length);
    environment.add_filter("items", items);
    environment.add_filter("default", default);
    environment.add_filter("d", default);
    environment.add_filter("attr", attribute);
    environment.add_filter("list", |value: Value| {
        let items = all(&value)?;
        produce(16 * items.len())?;
        Ok::<_, Error>(Value::from(items))
    });
    environment.add_filter("first", |value: Value| {
        let first = match generator::of(&value) {
            Some(generator) => generator.first()?,
            None => each(&value)?.next(),
        };
        Ok::<_, Error>(first.unwrap_or_default())
    });
    environment.add_filter("last", last);
    environment.add_filter("random", |value: Value| last(value));
    environment.add_filter("reverse", reverse);
    environment.add_filter("join", join);
    environment.add_filter("sort", sort);
    environment.add_filter("dictsort", dict_sort);
    environment.add_filter("groupby", group_by);
    environment.add_filter("unique", unique);
    environment.add_filter("min", |value: &Value, args: Rest<Value>, kwargs: Kwargs| {
        extreme(value, &args, &kwargs, Ordering::Less)
    });
    environment.add_filter("max", |value: &Value, args: Rest<Value>, kwargs: Kwargs| {
        extreme(value, &args, &kwargs, Ordering::Greater)
    });
    environment.add_filter("sum", sum);
    environment.add_filter("batch", batch);
    environment.add_filter("slice", slice);
    environment.add_filter("map", map);
    for (name, by_attribute, wanted) in [
        ("select", false, true),
        ("reject", false, false),
        ("selectattr", true, true),
        ("rejectattr", true, false),
    ] {
        environment.add_filter(
            name,
            move |state: &mut State<'_, '_>, value: Value, args: Rest<Value>, kwargs: Kwargs| {
                Generator::value("select_or_reject", |kept| {
                    choose(state, &value, (&args, &kwargs), by_attribute, wanted, kept)
                })
            },
        );
    }
}

/// `iter(value)`.
fn each(value: &Value) -> Result<impl Iterator<Item = Value> + use<>, Error> {
    let value = iterate(value.clone())?;
    value.try_iter()
}

/// `list(value)`.
fn all(value: &Value) -> Result<Vec<Value>, Error> {
    Ok(each(value)?.collect())
}

/// `len(value)`; an undefined value has none.
pub(super) fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    if let Some(text) = value.as_str() {
        return Ok(text.chars().count());
    }
    let length = if value.kind() == minijinja::value::ValueKind::Map && !is_dictionary(value) {
        None
    } else {
        value.len()
    };
    length.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidOperation,
            format!("a value of type {} has no length", value.kind()),
        )
    })
}

/// `dict.items()`, of an undefined value none.
fn items(value: &Value) -> Result<Value, Error> {
    Generator::value("do_items", |pairs| {
        if value.is_undefined() {
            return Ok(());
        }
        if !is_dictionary(value) {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                "only mappings have pairs of items",
            ));
        }
        for key in value.try_iter()? {
            let found = value.get_item(&key)?;
            pairs.push(Value::from(Tuple::from([key, found])));
        }
        Ok(())
    })
}

/// `default(value, default_value='', boolean=False)`.
fn default(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["default_value", "boolean"], &args, &kwargs)?;
    if value.is_undefined() || (args.truth(1, false) && !value.is_true()) {
        Ok(args.get(0).cloned().unwrap_or_else(|| Value::from("")))
    } else {
        Ok(value.clone())
    }
}

/// `attr(obj, name)`: an attribute, never an item.
fn attribute(value: &Value, name: &str) -> Result<Value, Error> {
    if is_dictionary(value) && !methods::is_method(name) {
        return Ok(Value::UNDEFINED);
    }
    if value.is_undefined() && !name.starts_with("__") {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_undefined() {
        return Ok(Value::UNDEFINED);
    }
    methods::attribute(value, name)
}

fn last(value: Value) -> Result<Value, Error> {
    if generator::of(&value).is_some() {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "a generator cannot be reversed",
        ));
    }
    Ok(all(&value)?.pop().unwrap_or_default())
}

fn reverse(value: &Value) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        let reversed: String = text.chars().rev().collect();
        return Ok(pytext::like(value, reversed));
    }
    let mut items = all(value)?;
    items.reverse();
    if generator::of(value).is_some() {
        return Ok(Value::from(items));
    }
    Generator::value("reverse", |reversed| {
        *reversed = items;
        Ok(())
    })
}

/// `join(value, d='', attribute=None)`.
fn join(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["d", "attribute"], &args, &kwargs)?;
    let separator = args.get(0).map_or_else(Default::default, pytext::str);
    let path = args.some(1).map(Path::of);
    let mut text = String::new();
    for (index, item) in each(value)?.enumerate() {
        let item = match &path {
            Some(path) => path.of_item(&item)?,
            None => item,
        };
        let item = pytext::str(&item);
        produce(item.len() + separator.len())?;
        if index > 0 {
            text.push_str(&separator);
        }
        text.push_str(&item);
    }
    Ok(Value::from(text))
}

/// What `attribute='a.b'` leads to (`make_attrgetter`).
struct Path {
    parts: Vec<Value>,
    /// What stands for a part that is not there.
    default: Option<Value>,
}

impl Path {
    fn of(attribute: &Value) -> Path {
        let parts = match attribute.as_str() {
            None => vec![attribute.clone()],
            Some(path) => path.split('.').map(part).collect(),
        };
        Path {
            parts,
            default: None,
        }
    }

    fn of_item(&self, of: &Value) -> Result<Value, Error> {
        self.parts.iter().try_fold(of.clone(), |value, part| {
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

/// Jinja2's `ignore_case`.
fn folded(value: Value, case_sensitive: bool) -> Value {
    match value.as_str() {
        Some(text) if !case_sensitive => Value::from(text.to_lowercase()),
        _ => value,
    }
}

/// Sorts stably, as Python does, in reverse too; fails at a pair without an order.
fn sorted(mut keyed: Vec<(Value, Value)>, reverse: bool) -> Result<Vec<(Value, Value)>, Error> {
    produce(32 * keyed.len())?;
    let mut failure = None;
    keyed.sort_by(|(a, _), (b, _)| {
        let order = compare("<", a, b).unwrap_or_else(|error| {
            failure.get_or_insert(error);
            None
        });
        let order = order.unwrap_or(Ordering::Equal);
        if reverse { order.reverse() } else { order }
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(keyed),
    }
}

/// `sort(value, reverse=False, case_sensitive=False, attribute=None)`.
fn sort(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["reverse", "case_sensitive", "attribute"], &args, &kwargs)?;
    let case_sensitive = args.truth(1, false);
    // Several attributes have commas between them.
    let paths: Vec<Path> = match args.some(2) {
        None => Vec::new(),
        Some(attribute) => match attribute.as_str() {
            None => vec![Path::of(attribute)],
            Some(names) => names
                .split(',')
                .map(|name| Path::of(&name.into()))
                .collect(),
        },
    };
    let mut keyed = Vec::new();
    for item in each(value)? {
        let key = if paths.is_empty() {
            folded(item.clone(), case_sensitive)
        } else {
            let mut keys = Vec::new();
            for path in &paths {
                keys.push(folded(path.of_item(&item)?, case_sensitive));
            }
            Value::from(keys)
        };
        keyed.push((key, item));
    }
    let sorted = sorted(keyed, args.truth(0, false))?;
    Ok(sorted.into_iter().map(|(_, item)| item).collect())
}

/// `dictsort(value, case_sensitive=False, by='key', reverse=False)`.
fn dict_sort(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["case_sensitive", "by", "reverse"], &args, &kwargs)?;
    let by_value = match args.text(1, "key")? {
        "key" => false,
        "value" => true,
        _ => return Err(args.wrong_type(1)),
    };
    if !is_dictionary(value) {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "only mappings can be sorted by their keys",
        ));
    }
    let mut keyed = Vec::new();
    for key in value.try_iter()? {
        let found = value.get_item(&key)?;
        let by = if by_value { &found } else { &key };
        let by = folded(by.clone(), args.truth(0, false));
        keyed.push((by, Value::from(Tuple::from([key, found]))));
    }
    let sorted = sorted(keyed, args.truth(2, false))?;
    Ok(sorted.into_iter().map(|(_, pair)| pair).collect())
}

/// `groupby(value, attribute, default=None, case_sensitive=False)`.
fn group_by(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["attribute", "default", "case_sensitive"], &args, &kwargs)?;
    let path = Path {
        default: args.some(1).cloned(),
        ..Path::of(args.required(0)?)
    };
    let case_sensitive = args.truth(2, false);
    let mut keyed = Vec::new();
    for item in each(value)? {
        let key = folded(path.of_item(&item)?, case_sensitive);
        keyed.push((key, item));
    }
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for (key, item) in sorted(keyed, false)? {
        match groups.last_mut() {
            Some((group, items)) if equal(group, &key) => items.push(item),
            _ => groups.push((key, vec![item])),
        }
    }
    groups
        .into_iter()
        .map(|(key, items)| {
            let key = match items.first() {
                Some(first) if !case_sensitive => path.of_item(first)?,
                _ => key,
            };
            Ok(generator::group(key, Value::from(items)))
        })
        .collect()
}

/// `unique(value, case_sensitive=False, attribute=None)`.
fn unique(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["case_sensitive", "attribute"], &args, &kwargs)?;
    let path = args.some(1).map(Path::of);
    let mut seen: Vec<Value> = Vec::new();
    Generator::value("sync_do_unique", |kept| {
        for item in each(value)? {
            let key = match &path {
                Some(path) => path.of_item(&item)?,
                None => item.clone(),
            };
            let key = folded(key, args.truth(0, false));
            hashable(&key)?;
            work(16 * seen.len())?;
            if !seen.iter().any(|other| equal(other, &key)) {
                seen.push(key);
                kept.push(item);
            }
        }
        Ok(())
    })
}

/// Python's lists and dictionaries have no hash.
pub(super) fn hashable(value: &Value) -> Result<(), Error> {
    let is_hashable = if value.is_tuple() {
        value.try_iter()?.all(|item| hashable(&item).is_ok())
    } else {
        !is_dictionary(value) && !is_list(value)
    };
    if is_hashable {
        Ok(())
    } else {
        Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("unhashable type: {}", value.kind()),
        ))
    }
}

/// `min(value, case_sensitive=False, attribute=None)` and `max`.
fn extreme(
    value: &Value,
    args: &[Value],
    kwargs: &Kwargs,
    wanted: Ordering,
) -> Result<Value, Error> {
    let args = Arguments::of(["case_sensitive", "attribute"], args, kwargs)?;
    let path = args.some(1).map(Path::of);
    let mut best: Option<(Value, Value)> = None;
    for item in each(value)? {
        let key = match &path {
            Some(path) => path.of_item(&item)?,
            None => item.clone(),
        };
        let key = folded(key, args.truth(0, false));
        let is_better = match &best {
            None => true,
            Some((best, _)) => compare("<", &key, best)? == Some(wanted),
        };
        if is_better {
            best = Some((key, item));
        }
    }
    Ok(best.map(|(_, item)| item).unwrap_or_default())
}

/// `sum(iterable, attribute=None, start=0)`.
fn sum(
    state: &mut State<'_, '_>,
    value: &Value,
    args: Rest<Value>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let args = Arguments::of(["attribute", "start"], &args, &kwargs)?;
    let path = args.some(0).map(Path::of);
    let mut total = args.get(1).cloned().unwrap_or_else(|| Value::from(0));
    if total.as_str().is_some() {
        return Err(args.wrong_type(1));
    }
    for item in each(value)? {
        let item = match &path {
            Some(path) => path.of_item(&item)?,
            None => item,
        };
        total = state.apply_filter(Operator::Add.name(), &[total, item])?;
    }
    Ok(total)
}

/// The number that `batch` and `slice` want.
fn count<const N: usize>(args: &Arguments<N>) -> Result<i64, Error> {
    args.required(0)?;
    args.int(0, 0)
}

/// `batch(value, linecount, fill_with=None)`.
fn batch(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["linecount", "fill_with"], &args, &kwargs)?;
    args.required(0)?;
    Generator::value("do_batch", |batches| {
        let size = usize::try_from(count(&args)?).unwrap_or(usize::MAX);
        let mut current: Vec<Value> = Vec::new();
        for item in each(value)? {
            if current.len() == size {
                batches.push(Value::from(std::mem::take(&mut current)));
            }
            current.push(item);
        }
        if !current.is_empty() {
            if let Some(fill) = args.some(1)
                && args.int(0, 0)? > 0
            {
                produce(16_usize.saturating_mul(size.saturating_sub(current.len())))?;
                current.resize(size.max(current.len()), fill.clone());
            }
            batches.push(Value::from(current));
        }
        Ok(())
    })
}

/// `slice(value, slices, fill_with=None)`.
fn slice(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["slices", "fill_with"], &args, &kwargs)?;
    args.required(0)?;
    Generator::value("sync_do_slice", |parts| {
        let items = all(value)?;
        let count = count(&args)?;
        if count == 0 {
            return Err(args.wrong_type(0));
        }
        let slices = usize::try_from(count).unwrap_or(0);
        produce(32_usize.saturating_mul(slices))?;
        let mut rest = items.as_slice();
        for at in 0..slices {
            let is_longer = at < items.len() % slices;
            let (part, after) = rest.split_at(items.len() / slices + usize::from(is_longer));
            rest = after;
            let mut part = part.to_vec();
            if let (Some(fill), false) = (args.some(1), is_longer) {
                part.push(fill.clone());
            }
            parts.push(Value::from(part));
        }
        Ok(())
    })
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
                ..Path::of(&kwargs.get::<Value>("attribute")?)
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
            let args: Vec<Value> = std::iter::once(item).chain(rest.iter().cloned()).collect();
            mapped.push(state.apply_filter(name, &args)?);
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
        [attribute, rest @ ..] if by_attribute => (Some(Path::of(attribute)), rest),
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
