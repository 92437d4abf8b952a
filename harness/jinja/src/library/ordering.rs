//! Filters that compare the items of a sequence with each other: those that sort, group and
//! choose (Jinja2 3.1.6, `filters.py`).

use std::cmp::Ordering;

use minijinja::Error;
use minijinja::value::{Kwargs, Rest, Tuple, Value};

use crate::library::path::{Path, attribute_of};
use crate::library::vocabulary::Registry;
use crate::meter::{ENTRY, LETTER, OBJECT, SLOT, has_failed, produce, work};
use crate::python::arguments::Arguments;
use crate::python::comparisons::{compare, equal, is_item};
use crate::python::dictionaries::{hashable, pairs};
use crate::python::generator::Generator;
use crate::python::groups;
use crate::python::iteration::{each, source_when_asked};
use crate::python::kinds::is_dictionary;
use crate::python::sorting;
use crate::python::undefined::undefined;
use crate::refusal::invalid;

/// Adds the filters to a registry.
pub(super) fn add(registry: &mut Registry) {
    registry.filter("sort", sort);
    registry.filter("dictsort", dict_sort);
    registry.filter("groupby", group_by);
    registry.filter("unique", unique);
    registry.filter("min", |value: &Value, args: Rest<Value>, kwargs: Kwargs| {
        extreme(value, &args, &kwargs, Ordering::Less)
    });
    registry.filter("max", |value: &Value, args: Rest<Value>, kwargs: Kwargs| {
        extreme(value, &args, &kwargs, Ordering::Greater)
    });
}

/// A text in lower case, unless case counts (Jinja2's `ignore_case`).
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

/// Sorts values by their keys. It fails where two keys have no order.
fn sorted(
    keyed: Vec<(Value, Value)>,
    reverse: bool,
    equal_may_lack_order: bool,
) -> Result<Vec<(Value, Value)>, Error> {
    produce(6 * SLOT * keyed.len())?;
    sorting::sorted(keyed, reverse, |(a, _), (b, _)| match compare("<", a, b) {
        Ok(order) => Ok(order == Some(Ordering::Less)),
        Err(error) if has_failed() || !equal_may_lack_order || !equal(a, b) => Err(error),
        Err(_) => Ok(false),
    })
}

/// `sort(value, reverse=False, case_sensitive=False, attribute=None)`.
fn sort(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["reverse", "case_sensitive", "attribute"], &args, &kwargs)?;
    let case_sensitive = args.truth(1, false);
    let reverse = args.int(0, 0)? != 0;
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
                keys.push(folded(path.follow(item.clone())?, case_sensitive)?);
            }
            produce(OBJECT + SLOT * keys.len())?;
            Value::from(keys)
        };
        keyed.push((key, item));
    }
    // Jinja2 sorts by lists of keys (`make_multi_attrgetter`). Equal items in two lists need no
    // order.
    let sorted = sorted(keyed, reverse, true)?;
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
        return Err(invalid("only mappings can be sorted by their keys"));
    }
    let mut keyed = Vec::new();
    for (key, found) in pairs(value)? {
        produce(ENTRY)?;
        let by = if by_value { &found } else { &key };
        let by = folded(by.clone(), args.truth(0, false))?;
        keyed.push((by, Value::from(Tuple::from([key, found]))));
    }
    let sorted = sorted(keyed, args.int(2, 0)? != 0, false)?;
    Ok(sorted.into_iter().map(|(_, pair)| pair).collect())
}

/// `groupby(value, attribute, default=None, case_sensitive=False)`.
fn group_by(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["attribute", "default", "case_sensitive"], &args, &kwargs)?;
    let path = Path::of(args.required(0)?)?.with_default(args.some(1).cloned());
    let case_sensitive = args.truth(2, false);
    let mut keyed = Vec::new();
    for item in each(value)? {
        let key = folded(path.follow(item.clone())?, case_sensitive)?;
        keyed.push((key, item));
    }
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for (key, item) in sorted(keyed, false, false)? {
        match groups.last_mut() {
            Some((group, items)) if equal(group, &key) => items.push(item),
            _ => groups.push((key, vec![item])),
        }
    }
    groups
        .into_iter()
        .map(|(key, items)| {
            let key = match items.first() {
                Some(first) if !case_sensitive => path.follow(first.clone())?,
                _ => key,
            };
            produce(2 * OBJECT + SLOT * items.len())?;
            Ok(groups::group(key, Value::from(items)))
        })
        .collect()
}

/// `unique(value, case_sensitive=False, attribute=None)`.
fn unique(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["case_sensitive", "attribute"], &args, &kwargs)?;
    let path = args.some(1).map(Path::of).transpose()?;
    let is_case_sensitive = args.truth(0, false);
    let mut seen: Vec<Value> = Vec::new();
    let mut items = source_when_asked(value);
    Generator::lazy("sync_do_unique", move || {
        'items: while let Some(item) = items()? {
            let key = attribute_of(path.as_ref(), item.clone())?;
            let key = folded(key, is_case_sensitive)?;
            hashable(&key)?;
            for other in &seen {
                if is_item(other, &key)? {
                    continue 'items;
                }
            }
            produce(2 * SLOT)?;
            seen.push(key);
            return Ok(Some(item));
        }
        Ok(None)
    })
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
        let key = attribute_of(path.as_ref(), item.clone())?;
        let key = folded(key, args.truth(0, false))?;
        let is_better = match &best {
            None => true,
            Some((best, _)) => compare("<", &key, best)? == Some(wanted),
        };
        if is_better {
            best = Some((key, item));
        }
    }
    let none = || undefined(|| "No aggregated item, sequence was empty.".to_owned());
    Ok(best.map_or_else(none, |(_, item)| item))
}
