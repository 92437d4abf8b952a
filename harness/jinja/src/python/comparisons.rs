//! Compares values as Python does: equality, order, and membership.

use std::cmp::Ordering;

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, tests};

use crate::meter::{ITEM, nested, work};
use crate::python::dictionaries::{entry, hashed, pairs, view_parts};
use crate::python::generator::Generator;
use crate::python::kinds::{is_dictionary, is_list, is_range, is_tuple};
use crate::python::numbers::{AnyNumber, big_digits, number};
use crate::python::undefined::unsupported;
use crate::refusal::invalid;

/// `a == b`. Values of different types are not equal, unless they are numbers.
///
/// If a limit runs out, the values are not equal, and the render fails: see `meter`.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return a.len() == b.len() && work(a.len()).is_ok() && a == b;
    }
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return a.compare(b) == Some(Ordering::Equal);
    }
    if let Some(order) = large(a, b) {
        return order.is_ok_and(|order| order == Some(Ordering::Equal));
    }
    if a.kind() != b.kind() {
        return false;
    }
    if let (Some((name, left)), Some((other, right))) = (view_parts(a), view_parts(b)) {
        return views_equal((name, &left), (other, &right)) || tests::is_sameas(a, b);
    }
    match a.kind() {
        ValueKind::Undefined | ValueKind::None => true,
        ValueKind::Seq | ValueKind::Iterable if Generator::of(a).is_none() => {
            if is_tuple(a) != is_tuple(b) || is_range(a) != is_range(b) || a.len() != b.len() {
                return false;
            }
            // To open a list takes as long as to look at an item.
            let are_equal = nested(|| match (a.try_iter(), b.try_iter()) {
                _ if work(ITEM).is_err() => false,
                (Ok(a), Ok(b)) => a.zip(b).all(|(a, b)| is_item(&a, &b).unwrap_or(false)),
                _ => false,
            });
            are_equal.unwrap_or(false)
        }
        ValueKind::Map if is_dictionary(a) && is_dictionary(b) => {
            // To open a dictionary takes as long as to look at an item.
            a.len() == b.len() && nested(|| work(ITEM).is_ok() && maps_equal(a, b)).unwrap_or(false)
        }
        // Any other object is only equal to itself.
        _ => match (a.as_object(), b.as_object()) {
            (Some(_), Some(_)) => tests::is_sameas(a, b),
            _ => a == b,
        },
    }
}

/// How two numbers compare, if one is an integer that no machine type holds, or the error of a limit
/// that ran out.
fn large(a: &Value, b: &Value) -> Option<Result<Option<Ordering>, Error>> {
    let digits = |value: &Value| big_digits(value).map_or(0, str::len);
    let len = digits(a) + digits(b);
    if len == 0 {
        return None;
    }
    let (a, b) = (AnyNumber::of(a)?, AnyNumber::of(b)?);
    Some(work(ITEM + len).map(|()| a.compare(&b)))
}

/// Whether two values are [`equal`], or the error if a limit ran out meanwhile.
pub(crate) fn equal_or_failed(a: &Value, b: &Value) -> Result<bool, Error> {
    let is_equal = equal(a, b);
    work(1)?;
    Ok(is_equal)
}

/// Whether two texts are equal, or the error if a limit ran out meanwhile.
fn texts_equal(a: &str, b: &str) -> Result<bool, Error> {
    let is_alike = a.len() == b.len();
    work(1 + if is_alike { a.len() } else { 0 })?;
    Ok(is_alike && a == b)
}

/// Whether two items of lists are equal. An object is equal to itself, without a look into it
/// (`PyObject_RichCompareBool`).
pub(crate) fn is_item(a: &Value, b: &Value) -> Result<bool, Error> {
    work(ITEM)?;
    if let Some(a) = a.as_str() {
        return match b.as_str() {
            Some(b) => texts_equal(a, b),
            None => work(1).map(|()| false),
        };
    }
    let is_same = a.as_object().is_some() && b.as_object().is_some() && tests::is_sameas(a, b);
    if is_same {
        return Ok(true);
    }
    equal_or_failed(a, b)
}

/// Whether a value is one of these items.
fn has_item(mut items: impl Iterator<Item = Value>, wanted: &Value) -> Result<bool, Error> {
    items
        .find_map(|item| {
            is_item(&item, wanted)
                .map_or_else(|error| Some(Err(error)), |is| is.then_some(Ok(true)))
        })
        .unwrap_or(Ok(false))
}

/// Whether a value is an item of a list or another sequence.
fn is_among(items: &Value, wanted: &Value) -> Result<bool, Error> {
    let Some(list) = items.downcast_object_ref::<Vec<Value>>() else {
        return has_item(items.try_iter()?, wanted);
    };
    for item in list {
        if is_item(item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a generator gives a value. It is asked for no item after that one.
fn is_next(items: &Generator, wanted: &Value) -> Result<bool, Error> {
    while let Some(item) = items.first()? {
        if is_item(&item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether two views are equal: those of keys and items are sets, those of values are only
/// equal to themselves.
fn views_equal((name, a): (&str, &Value), (other, b): (&str, &Value)) -> bool {
    if [name, other].contains(&"dict_values") || a.len() != b.len() {
        return false;
    }
    let Ok(mut items) = a.try_iter() else {
        return false;
    };
    items.all(|item| {
        b.try_iter()
            .is_ok_and(|others| has_item(others, &item).unwrap_or(false))
    })
}

/// Whether two dictionaries of the same length are equal.
fn maps_equal(a: &Value, b: &Value) -> bool {
    pairs(a).is_ok_and(|pairs| {
        pairs.iter().all(|(key, item)| {
            entry(b, key).is_some_and(|other| is_item(item, &other).unwrap_or(false))
        })
    })
}

/// Whether a value is in another: a text in a text, an item in a list, a key in a
/// dictionary. Nothing is in an undefined value.
pub(crate) fn is_in(item: &Value, container: &Value) -> Result<bool, Error> {
    if let (Some(item), Some(container)) = (item.as_str(), container.as_str()) {
        // The search first prepares the text that it looks for.
        work(4 * (container.len() + item.len().min(container.len())))?;
        return Ok(container.contains(item));
    }
    match container.kind() {
        ValueKind::Undefined => Ok(false),
        ValueKind::Map => {
            hashed(item)?;
            Ok(entry(container, item).is_some())
        }
        ValueKind::Seq | ValueKind::Iterable => {
            if let Some(generator) = Generator::of(container) {
                return is_next(generator, item);
            }
            // The keys of a dictionary are looked up by their hash.
            if let Some(("dict_keys", _)) = view_parts(container) {
                hashed(item)?;
            }
            is_among(container, item)
        }
        kind => Err(invalid(format!(
            "{} in {kind} is not supported",
            item.kind()
        ))),
    }
}

/// Compares two views of keys or items as sets: one may be a subset of the other (CPython's
/// `dictview_richcompare`).
fn compare_sets(a: &Value, b: &Value) -> Result<Option<Ordering>, Error> {
    let order = a.len().cmp(&b.len());
    let (part, whole) = if order.is_gt() { (b, a) } else { (a, b) };
    for item in part.try_iter()? {
        if !has_item(whole.try_iter()?, &item)? {
            return Ok(None);
        }
    }
    Ok(Some(order))
}

/// The order of two values. Python orders numbers, texts, lists and tuples, each among themselves,
/// and some views of dictionaries as sets. Anything else is a `TypeError`. A NaN has no order.
pub(crate) fn compare(operator: &str, a: &Value, b: &Value) -> Result<Option<Ordering>, Error> {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        work(a.len().min(b.len()) + ITEM / 4)?;
        return Ok(Some(a.cmp(b)));
    }
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        work(ITEM / 4)?;
        return Ok(a.compare(b));
    }
    if let Some(order) = large(a, b) {
        return order;
    }
    let is_ordered = (is_tuple(a) && is_tuple(b)) || (is_list(a) && is_list(b));
    if !is_ordered {
        return match (view_parts(a), view_parts(b)) {
            (Some((name, left)), Some((other, right)))
                if ![name, other].contains(&"dict_values") =>
            {
                compare_sets(&left, &right)
            }
            _ => Err(unsupported(operator, a, b)),
        };
    }
    nested(|| {
        work(ITEM)?;
        let (mut left, mut right) = (a.try_iter()?, b.try_iter()?);
        loop {
            return Ok(match (left.next(), right.next()) {
                (None, None) => Some(Ordering::Equal),
                (None, Some(_)) => Some(Ordering::Less),
                (Some(_), None) => Some(Ordering::Greater),
                (Some(a), Some(b)) if is_item(&a, &b)? => continue,
                (Some(a), Some(b)) => compare(operator, &a, &b)?,
            });
        }
    })?
}
