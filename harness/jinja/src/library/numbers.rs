//! Filters that give numbers (Jinja2 3.1.6, `filters.py`).

use std::borrow::Cow;

use minijinja::value::{Kwargs, Rest, Value};
use minijinja::{Error, ErrorKind};

use crate::library::vocabulary::Registry;
use crate::meter::{LETTER, work};
use crate::python::arguments::Arguments;
use crate::python::characters::decimal;
use crate::python::numbers::{
    MOST_DIGITS, Number, big_digits, big_integer, divide, integer, multiply, number, power,
    too_large, whole,
};
use crate::refusal::invalid;

/// Adds the filters to a registry.
pub(super) fn add(registry: &mut Registry) {
    registry.filter("int", int);
    registry.filter("float", float);
    registry.filter("abs", abs);
    registry.filter("round", round);
}

/// `int(value, default=0, base=10)`: gives the default if the value is not a number. An undefined
/// value is an error.
fn int(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["default", "base"], &args, &kwargs)?;
    defined(value)?;
    // If the base is not an integer, `int` raises a `TypeError`, and `float` reads the text.
    let base = match args.get(1).map(number) {
        None => Some(10),
        Some(Some(Number::Int(base))) => u32::try_from(base).ok(),
        Some(_) => None,
    };
    let parsed = match number(value) {
        Some(Number::Int(int)) => Some(integer(int)),
        Some(Number::Float(float)) if float.is_infinite() => {
            return Err(invalid("infinity is no integer"));
        }
        Some(Number::Float(float)) => whole_of_any_size(float),
        None => value
            .as_str()
            .and_then(|text| parse_int(text, base.unwrap_or(1))),
    };
    Ok(match parsed {
        Some(int) => int,
        None if big_digits(value).is_some() => value.clone(),
        None => args.get(0).cloned().unwrap_or_else(|| Value::from(0)),
    })
}

/// The error of a value that is undefined.
fn defined(value: &Value) -> Result<(), Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    Ok(())
}

/// The whole part of a float, if it has one.
fn whole_of_any_size(float: f64) -> Option<Value> {
    match whole(float) {
        Some(int) => Some(integer(int)),
        // Rust writes all digits.
        None => float
            .is_finite()
            .then(|| big_integer(&format!("{:.0}", float.trunc()))),
    }
}

/// `int(text, base)`, or where that fails `int(float(text))`, as in Jinja2.
fn parse_int(text: &str, base: u32) -> Option<Value> {
    let text = &with_ascii_digits(text);
    let trimmed = text.trim_matches(is_blank);
    let (is_negative, digits) = match trimmed.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let lower = digits.to_ascii_lowercase();
    let prefix = |mark: &str| lower.strip_prefix(mark).map(str::to_owned);
    let (base, digits) = match base {
        2 => (2, prefix("0b")),
        8 => (8, prefix("0o")),
        16 => (16, prefix("0x")),
        0 => match (prefix("0b"), prefix("0o"), prefix("0x")) {
            (Some(digits), ..) => (2, Some(digits)),
            (_, Some(digits), _) => (8, Some(digits)),
            (.., Some(digits)) => (16, Some(digits)),
            _ => (10, None),
        },
        base => (base, None),
    };
    let digits = digits.unwrap_or(lower);
    let is_plain = !digits.is_empty()
        && !digits.starts_with('_')
        && !digits.ends_with('_')
        && !digits.contains("__")
        && digits
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_');
    let parsed = (is_plain && (2..=36).contains(&base))
        .then(|| i128::from_str_radix(&digits.replace('_', ""), base).ok())
        .flatten();
    let digits = digits.replace('_', "");
    match parsed {
        Some(int) => Some(integer(if is_negative { -int } else { int })),
        None if is_plain && base == 10 && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            let digits = digits.trim_start_matches('0');
            let sign = if is_negative { "-" } else { "" };
            (digits.len() <= MOST_DIGITS).then(|| big_integer(&format!("{sign}{digits}")))
        }
        None => parse_float(text).and_then(whole_of_any_size),
    }
}

/// A text with the digits 0 to 9 in place of those of other scripts
/// (`_PyUnicode_TransformDecimalAndSpaceToASCII`).
fn with_ascii_digits(text: &str) -> Cow<'_, str> {
    /// The work for a byte of a digit, which counts the digits before it in its script. If the work
    /// runs out, the render fails: see `meter`.
    const DIGIT: usize = 10 * LETTER;
    if text.is_ascii() || work(text.len().saturating_mul(DIGIT)).is_err() {
        return Cow::Borrowed(text);
    }
    let ascii = |c: char| decimal(c).and_then(|digit| char::from_digit(digit, 10));
    Cow::Owned(text.chars().map(|c| ascii(c).unwrap_or(c)).collect())
}

/// Whether a character may be around a number: C's white space, and Unicode's white space beyond
/// ASCII.
fn is_blank(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ') || (!c.is_ascii() && c.is_whitespace())
}

/// `float(text)`.
pub(super) fn parse_float(text: &str) -> Option<f64> {
    let text = &with_ascii_digits(text);
    let text = text.trim_matches(is_blank);
    let is_plain = text.bytes().enumerate().all(|(at, byte)| {
        // An underscore may only be between digits.
        byte != b'_'
            || (at > 0
                && text.as_bytes()[at - 1].is_ascii_digit()
                && text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit))
    });
    is_plain
        .then(|| text.replace('_', "").parse().ok())
        .flatten()
}

/// `float(value, default=0.0)`.
fn float(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["default"], &args, &kwargs)?;
    defined(value)?;
    let parsed = match number(value) {
        Some(number) => Some(number.as_f64()),
        None => match big_digits(value).map(str::parse) {
            Some(Ok(f64::INFINITY | f64::NEG_INFINITY)) => {
                return Err(invalid("int too large to convert to float"));
            }
            Some(float) => float.ok(),
            None => value.as_str().and_then(parse_float),
        },
    };
    Ok(match parsed {
        Some(float) => Value::from(float),
        None => args.get(0).cloned().unwrap_or_else(|| Value::from(0.0)),
    })
}

/// `abs(x)`.
fn abs(value: &Value) -> Result<Value, Error> {
    match number(value) {
        Some(Number::Int(int)) => int
            .checked_abs()
            .map(integer)
            .ok_or_else(|| too_large("abs")),
        Some(Number::Float(float)) => Ok(Value::from(float.abs())),
        None => Err(invalid(format!("abs of {} is not supported", value.kind()))),
    }
}

/// `round(value, precision=0, method='common')`.
fn round(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["precision", "method"], &args, &kwargs)?;
    let method = args.text(1, "common")?;
    let Some(value) = number(value) else {
        return Err(invalid(format!("{} cannot be rounded", value.kind())));
    };
    if !["common", "ceil", "floor"].contains(&method) {
        return Err(invalid("method must be common, ceil or floor"));
    }
    if method == "common" {
        let has_none = args.get(0).is_some_and(Value::is_none);
        let precision = if has_none { 0 } else { args.int(0, 0)? };
        return match value {
            Number::Int(int) => Ok(round_integer(int, precision)),
            // Without a precision Python gives an integer.
            Number::Float(float) if has_none => whole(float.round_ties_even())
                .map(integer)
                .ok_or_else(|| too_large("round")),
            Number::Float(float) => Ok(Value::from(round_float(float, precision))),
        };
    }
    // `func(value * (10**precision)) / (10**precision)`, where the precision may be a float.
    let precision = match args.get(0) {
        None => Number::Int(0),
        Some(precision) => number(precision).ok_or_else(|| args.wrong_type(0))?,
    };
    let no_number = || too_large("round");
    let scale = number(&power(Number::Int(10), precision)?).ok_or_else(no_number)?;
    let rounded = match number(&multiply(value, scale)?).ok_or_else(no_number)? {
        Number::Int(int) => Number::Int(int),
        Number::Float(scaled) if !scaled.is_finite() => return Err(no_number()),
        Number::Float(scaled) => {
            let float = if method == "ceil" {
                scaled.ceil()
            } else {
                scaled.floor()
            };
            // Python has an integer here. A large one is divided as the float that it was.
            whole(float).map_or(Number::Float(float), Number::Int)
        }
    };
    divide(rounded, scale)
}

/// `round(int, precision)`. With a negative precision, a half rounds to the even digit.
fn round_integer(int: i128, precision: i64) -> Value {
    let Some(unit) = u32::try_from(precision.saturating_neg())
        .ok()
        .filter(|digits| *digits > 0)
    else {
        return integer(int);
    };
    let Some(unit) = 10_i128.checked_pow(unit) else {
        return Value::from(0);
    };
    let down = int.div_euclid(unit);
    let rest = int.rem_euclid(unit);
    let is_up = rest * 2 > unit || (rest * 2 == unit && down % 2 != 0);
    integer((down + i128::from(is_up)) * unit)
}

/// `round(float, precision)`, rounded by the exact digits of the number.
fn round_float(float: f64, precision: i64) -> f64 {
    if !float.is_finite() || precision > 320 {
        return float;
    }
    match usize::try_from(precision) {
        // Rust prints exactly, and rounds half to even.
        Ok(digits) => format!("{float:.digits$}").parse().unwrap_or(float),
        Err(_) if precision < -320 => 0.0_f64.copysign(float),
        Err(_) => {
            let exponent = i32::try_from(-precision).unwrap_or(i32::MAX);
            let unit = 10_f64.powi(exponent);
            let scaled = float / unit;
            scaled.round_ties_even() * unit
        }
    }
}
