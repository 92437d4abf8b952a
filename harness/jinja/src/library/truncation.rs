//! The filter `truncate` (Jinja2 3.1.6, `filters.py`).

use std::cmp::Ordering;

use minijinja::Error;
use minijinja::value::{Kwargs, Rest, Value};

use crate::library::sequences;
use crate::operator::Operator;
use crate::operators::calculated;
use crate::python::arguments::Arguments;
use crate::python::markup::like;
use crate::python::numbers::{self, Number, number};
use crate::python::slices::slice;
use crate::refusal::invalid;

/// `truncate(s, length=255, killwords=False, end='...', leeway=5)`.
///
/// The checks are the same as in Jinja2 (`do_truncate`): it only compares lengths, so floats are
/// allowed, and the end may be anything with a length.
pub(super) fn truncate(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["length", "killwords", "end", "leeway"], &args, &kwargs)?;
    let number_at = |at: usize, otherwise: i128| match args.get(at) {
        None => Ok(Number::Int(otherwise)),
        Some(given) => number(given).ok_or_else(|| args.wrong_type(at)),
    };
    let length = number_at(0, 255)?;
    let leeway = match args.some(3) {
        None => Number::Int(5),
        Some(_) => number_at(3, 5)?,
    };
    let end = args.get(2).cloned().unwrap_or_else(|| Value::from("..."));
    let end_length = sequences::length(&end)?;
    if !is_at_least(length, end_length) || !is_at_least(leeway, 0) {
        return Err(invalid("the length is too small"));
    }
    // A value of any type that has a length and is short enough stays as it is.
    let most = numbers::add(length, leeway)?;
    if number(&most)
        .is_some_and(|most| sequences::length(value).is_ok_and(|length| is_at_least(most, length)))
    {
        return Ok(value.clone());
    }
    let Number::Int(length) = length else {
        return Err(args.wrong_type(0));
    };
    let kept = length.saturating_sub(i128::try_from(end_length).unwrap_or(i128::MAX));
    let (none, kept) = (Value::from(()), Value::from(kept));
    let start = slice(value, &none, &kept, &none)?;
    let start = match start.as_str() {
        _ if args.truth(1, false) => start,
        None => return Err(invalid(format!("{} has no words", value.kind()))),
        Some(text) => match text.rsplit_once(' ') {
            Some((words, _)) => like(value, words),
            None => start,
        },
    };
    calculated(Operator::Add, &[start, end])
}

/// Whether a number is not smaller than a length.
fn is_at_least(number: Number, length: usize) -> bool {
    let length = Number::Int(i128::try_from(length).unwrap_or(i128::MAX));
    number.compare(length).is_some_and(Ordering::is_ge)
}
