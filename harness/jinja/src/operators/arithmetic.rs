//! The operators that calculate: `+`, `-`, `*`, `/`, `//`, `%` and `**`. Some of them also
//! take texts, lists and tuples.

use minijinja::Error;
use minijinja::value::{Tuple, Value};

use crate::meter::{ITEM, OBJECT, SLOT, produce, work};
use crate::operator::Operator;
use crate::operators::concatenation::joined;
use crate::python::kinds::{is_list, is_tuple, sequence_like};
use crate::python::markup::{escaped, like};
use crate::python::numbers::{self, Number, number};
use crate::python::printf::printf;
use crate::python::text;
use crate::python::undefined::{unsupported, unsupported_sign};

/// An operator of two values, which is no comparison.
pub(super) fn calculated(operator: Operator, a: &Value, b: &Value) -> Result<Value, Error> {
    let of_numbers = match operator {
        Operator::Add => return plus(a, b),
        Operator::Multiply => return multiply(a, b),
        Operator::Modulo => return modulo(a, b),
        Operator::Subtract => numbers::subtract,
        Operator::Divide => numbers::divide,
        Operator::FloorDivide => numbers::floor_divide,
        _ => numbers::power,
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => of_numbers(a, b),
        _ => Err(unsupported(operator.label(), a, b)),
    }
}

/// `-a`
pub(super) fn negate(a: &Value) -> Result<Value, Error> {
    match number(a) {
        Some(number) => numbers::negate(number),
        None => Err(unsupported_sign(a)),
    }
}

/// `a + b`
fn plus(a: &Value, b: &Value) -> Result<Value, Error> {
    if let (Some(left), Some(right)) = (a.as_str(), b.as_str()) {
        return match (a.is_safe(), b.is_safe()) {
            (false, false) => joined([left, right].into_iter()),
            // A `Markup` (what `|safe` gives) escapes the plain text that is added to it,
            // on either side, also where nothing else is escaped.
            (true, false) => joined([left, &escaped(right)?].into_iter()).map(|text| safe(&text)),
            (false, true) => joined([&escaped(left)?, right].into_iter()).map(|text| safe(&text)),
            (true, true) => joined([left, right].into_iter()).map(|text| safe(&text)),
        };
    }
    match (number(a), number(b)) {
        (Some(a), Some(b)) => numbers::add(a, b),
        _ if is_tuple(a) && is_tuple(b) => Ok(Value::from(Tuple::from(appended(a, b)?))),
        _ if is_list(a) && is_list(b) => Ok(Value::from(appended(a, b)?)),
        _ => Err(unsupported("+", a, b)),
    }
}

/// The items of two lists or tuples, in a list that has no room for more.
fn appended(a: &Value, b: &Value) -> Result<Vec<Value>, Error> {
    let len = a.len().unwrap_or(0) + b.len().unwrap_or(0);
    work(ITEM * len / 4)?;
    produce(OBJECT + SLOT * len)?;
    let mut items = Vec::with_capacity(len);
    items.extend(a.try_iter()?);
    items.extend(b.try_iter()?);
    Ok(items)
}

/// `a + b + …`, from the left. Texts are put together at once.
pub(super) fn sum(values: &[Value]) -> Result<Value, Error> {
    if values
        .iter()
        .all(|value| value.as_str().is_some() && !value.is_safe())
    {
        return joined(values.iter().filter_map(|value| value.as_str()));
    }
    let Some((first, rest)) = values.split_first() else {
        return Ok(Value::UNDEFINED);
    };
    rest.iter()
        .try_fold(first.clone(), |left, right| plus(&left, right))
}

/// A joined text as a `Markup`.
fn safe(text: &Value) -> Value {
    Value::from_safe_string(text::str(text).into_owned())
}

/// `a * b`
fn multiply(a: &Value, b: &Value) -> Result<Value, Error> {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => numbers::multiply(a, b),
        (None, Some(Number::Int(times))) => repeat(a, times, b),
        (Some(Number::Int(times)), None) => repeat(b, times, a),
        _ => Err(unsupported("*", a, b)),
    }
}

/// `a % b`: the remainder has the divisor's sign, and a text is a printf format.
fn modulo(a: &Value, b: &Value) -> Result<Value, Error> {
    if let Some(text) = a.as_str() {
        return Ok(like(a, printf(text, b, a.is_safe())?));
    }
    match (number(a), number(b)) {
        (Some(a), Some(b)) => numbers::modulo(a, b),
        _ => Err(unsupported("%", a, b)),
    }
}

/// `a * 3`, where `a` is a text, a list or a tuple.
fn repeat(value: &Value, times: i128, other: &Value) -> Result<Value, Error> {
    let times = numbers::size(times)?;
    if let Some(text) = value.as_str() {
        produce(text.len().saturating_mul(times))?;
        return Ok(like(value, text.repeat(times)));
    }
    if !is_tuple(value) && !is_list(value) {
        return Err(unsupported("*", value, other));
    }
    // An empty list stays empty, however often it is repeated.
    let len = value.len().unwrap_or(0);
    let times = if len == 0 { 0 } else { times };
    let len = len.saturating_mul(times);
    work(len.saturating_mul(ITEM / 4))?;
    produce(len.saturating_mul(SLOT).saturating_add(OBJECT))?;
    let mut repeated = Vec::with_capacity(len);
    for _ in 0..times {
        repeated.extend(value.try_iter()?);
    }
    Ok(sequence_like(value, repeated))
}
