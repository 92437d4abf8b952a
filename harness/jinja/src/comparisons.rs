//! What is equal, what comes first, and what is in what.

use std::cmp::Ordering;

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind, tests};

use super::generator;
use super::meter::{ITEM, nested, work};
use super::methods;
use super::numbers::number;
use super::operators::{Operator, entry, is_list, is_tuple, iterate, unsupported};
use super::pytext::pairs;
use super::sequences::hashable;
use super::views::is_range;

/// Whether a comparison holds.
pub(super) fn holds(operator: Operator, a: &Value, b: &Value) -> Result<bool, Error> {
    match operator {
        Operator::Equal => equal_or_failed(a, b),
        Operator::NotEqual => equal_or_failed(a, b).map(|is_equal| !is_equal),
        Operator::In => is_in(a, b),
        Operator::NotIn => is_in(a, b).map(|is_in| !is_in),
        ordering => {
            let order = compare(ordering.name(), a, b)?;
            Ok(order.is_some_and(|order| match ordering {
                Operator::Less => order.is_lt(),
                Operator::LessOrEqual => order.is_le(),
                Operator::Greater => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
    }
}

/// `a == b`: values of different types are not equal, apart from numbers.
///
/// When a limit runs out they are not equal either, and the render has failed: see
/// `meter`.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return a.len() == b.len() && work(a.len()).is_ok() && a == b;
    }
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return a.compare(b) == Some(Ordering::Equal);
    }
    if a.kind() != b.kind() && !(is_list(a) && is_list(b)) {
        return false;
    }
    match a.kind() {
        ValueKind::Undefined | ValueKind::None => true,
        ValueKind::Seq | ValueKind::Iterable if generator::of(a).is_none() => {
            if is_tuple(a) != is_tuple(b) || is_range(a) != is_range(b) || a.len() != b.len() {
                return false;
            }
            // To begin with a list takes as long as to look at an item.
            let are_equal = nested(|| match (a.try_iter(), b.try_iter()) {
                _ if work(ITEM).is_err() => false,
                (Ok(a), Ok(b)) => a.zip(b).all(|(a, b)| is_item(&a, &b).unwrap_or(false)),
                _ => false,
            });
            are_equal.unwrap_or(false)
        }
        ValueKind::Map if methods::is_dictionary(a) && methods::is_dictionary(b) => {
            a.len() == b.len() && nested(|| maps_equal(a, b)).unwrap_or(false)
        }
        // Everything else is equal to itself only.
        _ => match (a.as_object(), b.as_object()) {
            (Some(_), Some(_)) => tests::is_sameas(a, b),
            _ => a == b,
        },
    }
}

/// Whether two values are [`equal`], or the error of a limit that ran out meanwhile.
fn equal_or_failed(a: &Value, b: &Value) -> Result<bool, Error> {
    let is_equal = equal(a, b);
    work(1)?;
    Ok(is_equal)
}

/// Whether two items of lists are equal: what is the same object is, and Python does not
/// look into it (`PyObject_RichCompareBool`).
pub(super) fn is_item(a: &Value, b: &Value) -> Result<bool, Error> {
    work(ITEM)?;
    let is_same = a.as_object().is_some() && b.as_object().is_some() && tests::is_sameas(a, b);
    if is_same {
        return Ok(true);
    }
    equal_or_failed(a, b)
}

/// Whether one of the items is equal to a value.
fn has_item(mut items: impl Iterator<Item = Value>, wanted: &Value) -> Result<bool, Error> {
    items
        .find_map(|item| {
            is_item(&item, wanted)
                .map_or_else(|error| Some(Err(error)), |is| is.then_some(Ok(true)))
        })
        .unwrap_or(Ok(false))
}

fn maps_equal(a: &Value, b: &Value) -> bool {
    pairs(a).is_ok_and(|pairs| {
        pairs.iter().all(|(key, item)| {
            entry(b, key).is_some_and(|other| is_item(item, &other).unwrap_or(false))
        })
    })
}

/// Whether a value is in another: a text in a text, an item in a list, a key in a
/// dictionary. Nothing is in an undefined value.
fn is_in(item: &Value, container: &Value) -> Result<bool, Error> {
    if let (Some(item), Some(container)) = (item.as_str(), container.as_str()) {
        // What is sought is prepared first.
        work(4 * (container.len() + item.len().min(container.len())))?;
        return Ok(container.contains(item));
    }
    match container.kind() {
        ValueKind::Undefined => Ok(false),
        ValueKind::Map => {
            match item.as_str() {
                Some(text) => work(4 * text.len())?,
                None => hashable(item)?,
            }
            Ok(entry(container, item).is_some())
        }
        ValueKind::Iterable if generator::of(container).is_some() => {
            let items = iterate(container.clone())?;
            has_item(items.try_iter()?, item)
        }
        ValueKind::Seq | ValueKind::Iterable => has_item(container.try_iter()?, item),
        kind => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{} in {kind} is not supported", item.kind()),
        )),
    }
}

/// Python orders numbers with numbers, texts with texts, and lists with lists; anything
/// else is a `TypeError`. A NaN has no place in the order.
pub(super) fn compare(operator: &str, a: &Value, b: &Value) -> Result<Option<Ordering>, Error> {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        work(a.len().min(b.len()) + ITEM / 4)?;
        return Ok(Some(a.cmp(b)));
    }
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        work(ITEM / 4)?;
        return Ok(a.compare(b));
    }
    let is_ordered = (is_tuple(a) && is_tuple(b)) || (is_list(a) && is_list(b));
    if !is_ordered {
        return Err(unsupported(operator, a, b));
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
