//! Filters that take or give sequences (Jinja2 3.1.6, `filters.py`).

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::cmp::Ordering;

use minijinja::value::{Kwargs, Rest, Tuple, Value};
use minijinja::{Environment, Error, ErrorKind, State};

use super::arguments::Arguments;
use super::comparisons::{compare, equal, is_item};
use super::generator::{self, Generator};
use super::meter::{ENTRY, ITEM, LETTER, OBJECT, SLOT, nested, produce, work};
use super::methods::{self, is_dictionary};
use super::operators::{Operator, is_list, iterate};
use super::pytext;
use super::selection::Path;
use super::vocabulary;

/// Adds the filters.
pub(super) fn add_filters(environment: &mut Environment<'_>) {
    vocabulary::add_filter(environment, "length", length);
    vocabulary::add_filter(environment, "count", length);
    vocabulary::add_filter(environment, "items", items);
    vocabulary::add_filter(environment, "default", default);
    vocabulary::add_filter(environment, "d", default);
    vocabulary::add_filter(environment, "attr", attribute);
    vocabulary::add_filter(environment, "list", |value: Value| {
        Ok::<_, Error>(Value::from(all(&value)?))
    });
    vocabulary::add_filter(environment, "first", first);
    vocabulary::add_filter(environment, "last", last);
    vocabulary::add_filter(environment, "random", |value: Value| last(value));
    vocabulary::add_filter(environment, "reverse", reverse);
    vocabulary::add_filter(environment, "join", join);
    vocabulary::add_filter(environment, "sort", sort);
    vocabulary::add_filter(environment, "dictsort", dict_sort);
    vocabulary::add_filter(environment, "groupby", group_by);
    vocabulary::add_filter(environment, "unique", unique);
    vocabulary::add_filter(
        environment,
        "min",
        |value: &Value, args: Rest<Value>, kwargs: Kwargs| {
            extreme(value, &args, &kwargs, Ordering::Less)
        },
    );
    vocabulary::add_filter(
        environment,
        "max",
        |value: &Value, args: Rest<Value>, kwargs: Kwargs| {
            extreme(value, &args, &kwargs, Ordering::Greater)
        },
    );
    vocabulary::add_filter(environment, "sum", sum);
    vocabulary::add_filter(environment, "batch", batch);
    vocabulary::add_filter(environment, "slice", slice);
}

/// `iter(value)`, which is going to be gone through.
pub(super) fn each(value: &Value) -> Result<impl Iterator<Item = Value> + use<>, Error> {
    let value = iterate(value.clone())?;
    work(ITEM.saturating_mul(value.len().unwrap_or(0)))?;
    value.try_iter()
}

/// `list(value)`.
fn all(value: &Value) -> Result<Vec<Value>, Error> {
    let value = iterate(value.clone())?;
    let len = value.len().unwrap_or(0);
    work(ITEM.saturating_mul(len))?;
    produce(SLOT.saturating_mul(len))?;
    let mut items = Vec::with_capacity(len);
    items.extend(value.try_iter()?);
    Ok(items)
}

/// `next(iter(value))`
fn first(value: Value) -> Result<Value, Error> {
    let first = match (generator::of(&value), value.as_str()) {
        (Some(generator), _) => generator.first()?,
        (None, Some(text)) => text.chars().next().map(Value::from),
        (None, None) => iterate(value)?.try_iter()?.next(),
    };
    Ok(first.unwrap_or_default())
}

/// `len(value)`; an undefined value has none.
pub(super) fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    if let Some(text) = value.as_str() {
        work(text.len())?;
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
        let found = pytext::pairs(value)?;
        produce(ENTRY * found.len())?;
        pairs.extend(
            found
                .into_iter()
                .map(|(key, item)| Value::from(Tuple::from([key, item]))),
        );
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
    if let Some(text) = value.as_str() {
        return Ok(text
            .chars()
            .next_back()
            .map(Value::from)
            .unwrap_or_default());
    }
    if let Some(len) = value.len()
        && (is_list(&value) || value.is_tuple())
    {
        return value.get_item(&Value::from(len.wrapping_sub(1)));
    }
    Ok(all(&value)?.pop().unwrap_or_default())
}

fn reverse(value: &Value) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        produce(text.len())?;
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
    let path = args.some(1).map(Path::of).transpose()?;
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

/// Jinja2's `ignore_case`.
fn folded(value: Value, case_sensitive: bool) -> Result<Value, Error> {
    match value.as_str() {
        Some(text) if !case_sensitive => {
            work(text.len().saturating_mul(LETTER))?;
            produce(text.len().saturating_mul(2))?;
            Ok(Value::from(text.to_lowercase()))
        }
        _ => Ok(value),
    }
}

/// Sorts stably, as Python does, in reverse too; fails at a pair without an order.
fn sorted(mut keyed: Vec<(Value, Value)>, reverse: bool) -> Result<Vec<(Value, Value)>, Error> {
    produce(4 * SLOT * keyed.len())?;
    let mut failure = None;
    keyed.sort_by(|(a, _), (b, _)| {
        let order = if failure.is_some() {
            None
        } else {
            compare("<", a, b).unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        };
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
            None => vec![Path::of(attribute)?],
            Some(names) => {
                produce(names.len().saturating_mul(2 * SLOT))?;
                names
                    .split(',')
                    .map(|name| Path::of(&name.into()))
                    .collect::<Result<_, _>>()?
            }
        },
    };
    let mut keyed = Vec::new();
    for item in each(value)? {
        let key = if paths.is_empty() {
            folded(item.clone(), case_sensitive)?
        } else {
            let mut keys = Vec::new();
            for path in &paths {
                keys.push(folded(path.of_item(&item)?, case_sensitive)?);
            }
            produce(OBJECT + SLOT * keys.len())?;
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
    for (key, found) in pytext::pairs(value)? {
        produce(ENTRY)?;
        let by = if by_value { &found } else { &key };
        let by = folded(by.clone(), args.truth(0, false))?;
        keyed.push((by, Value::from(Tuple::from([key, found]))));
    }
    let sorted = sorted(keyed, args.truth(2, false))?;
    Ok(sorted.into_iter().map(|(_, pair)| pair).collect())
}

/// `groupby(value, attribute, default=None, case_sensitive=False)`.
fn group_by(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["attribute", "default", "case_sensitive"], &args, &kwargs)?;
    let mut path = Path::of(args.required(0)?)?;
    path.default = args.some(1).cloned();
    let case_sensitive = args.truth(2, false);
    let mut keyed = Vec::new();
    for item in each(value)? {
        let key = folded(path.of_item(&item)?, case_sensitive)?;
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
            produce(2 * OBJECT + SLOT * items.len())?;
            Ok(generator::group(key, Value::from(items)))
        })
        .collect()
}

/// `unique(value, case_sensitive=False, attribute=None)`.
fn unique(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["case_sensitive", "attribute"], &args, &kwargs)?;
    let path = args.some(1).map(Path::of).transpose()?;
    let mut seen: Vec<Value> = Vec::new();
    Generator::value("sync_do_unique", |kept| {
        for item in each(value)? {
            let key = match &path {
                Some(path) => path.of_item(&item)?,
                None => item.clone(),
            };
            let key = folded(key, args.truth(0, false))?;
            hashable(&key)?;
            let mut is_new = true;
            for other in &seen {
                if is_item(other, &key)? {
                    is_new = false;
                    break;
                }
            }
            if is_new {
                produce(2 * SLOT)?;
                seen.push(key);
                kept.push(item);
            }
        }
        Ok(())
    })
}

/// Python's lists and dictionaries have no hash.
pub(super) fn hashable(value: &Value) -> Result<(), Error> {
    if value.is_tuple() {
        return nested(|| {
            for item in value.try_iter()? {
                work(ITEM + item.as_str().map_or(0, str::len).saturating_mul(4))?;
                hashable(&item)?;
            }
            Ok(())
        })?;
    }
    if !is_dictionary(value) && !is_list(value) {
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
    let path = args.some(1).map(Path::of).transpose()?;
    let mut best: Option<(Value, Value)> = None;
    for item in each(value)? {
        let key = match &path {
            Some(path) => path.of_item(&item)?,
            None => item.clone(),
        };
        let key = folded(key, args.truth(0, false))?;
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
    let path = args.some(0).map(Path::of).transpose()?;
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
                produce(OBJECT + SLOT * size)?;
                batches.push(Value::from(std::mem::take(&mut current)));
            }
            current.push(item);
        }
        if !current.is_empty() {
            produce(OBJECT + SLOT * current.len())?;
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
        produce(
            OBJECT
                .saturating_mul(slices)
                .saturating_add(SLOT * items.len()),
        )?;
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
