//! Python's numbers, and what filters do with them.

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::cmp::Ordering;

use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};

use super::arguments::Arguments;
use super::strings::trim;
use super::vocabulary;

/// A number as Python's arithmetic sees it: a boolean is an integer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    #[allow(clippy::cast_precision_loss)] // as in Python, where it meets a float
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Number::Int(int) => int as f64,
            Number::Float(float) => float,
        }
    }

    /// How two numbers compare, exactly; a NaN compares with nothing.
    pub(super) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
            (Number::Int(a), Number::Float(b)) => compare_exactly(a, b),
            (Number::Float(a), Number::Int(b)) => compare_exactly(b, a).map(Ordering::reverse),
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // bounds are checked
fn compare_exactly(int: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() || float.abs() >= 1e38 {
        return (int as f64).partial_cmp(&float);
    }
    let order = int.cmp(&(float.trunc() as i128));
    Some(order.then(0.0_f64.partial_cmp(&float.fract())?))
}

/// The number that a value is, if it is one.
pub(super) fn number(value: &Value) -> Option<Number> {
    match value.kind() {
        ValueKind::Bool => Some(Number::Int(i128::from(value.is_true()))),
        ValueKind::Number if value.is_integer() => {
            i128::try_from(value.clone()).ok().map(Number::Int)
        }
        ValueKind::Number => f64::try_from(value.clone()).ok().map(Number::Float),
        _ => None,
    }
}

/// An integer as a value.
pub(super) fn integer(int: i128) -> Value {
    i64::try_from(int).map_or_else(|_| Value::from(int), Value::from)
}

fn too_large(operator: &str) -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!("the result of {operator} is larger than 128 bits"),
    )
}

fn by_zero() -> Error {
    Error::new(ErrorKind::InvalidOperation, "division by zero")
}

/// A size or a count: nothing below zero, and an error, as in Python, where the machine
/// could not count so far. Whether it is allowed is another question.
pub(super) fn size(int: i128) -> Result<usize, Error> {
    i64::try_from(int)
        .map(|size| usize::try_from(size).unwrap_or(0))
        .map_err(|_| Error::new(ErrorKind::InvalidOperation, "the number is too large"))
}

/// `a + b`
pub(super) fn add(a: Number, b: Number) -> Result<Value, Error> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => {
            a.checked_add(b).map(integer).ok_or_else(|| too_large("+"))
        }
        (a, b) => Ok(Value::from(a.as_f64() + b.as_f64())),
    }
}

/// `a - b`
pub(super) fn subtract(a: Number, b: Number) -> Result<Value, Error> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => {
            a.checked_sub(b).map(integer).ok_or_else(|| too_large("-"))
        }
        (a, b) => Ok(Value::from(a.as_f64() - b.as_f64())),
    }
}

/// `a * b`
pub(super) fn multiply(a: Number, b: Number) -> Result<Value, Error> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => {
            a.checked_mul(b).map(integer).ok_or_else(|| too_large("*"))
        }
        (a, b) => Ok(Value::from(a.as_f64() * b.as_f64())),
    }
}

/// `a / b`: a float, of integers too.
pub(super) fn divide(a: Number, b: Number) -> Result<Value, Error> {
    let divisor = b.as_f64();
    if divisor == 0.0 {
        return Err(by_zero());
    }
    Ok(Value::from(a.as_f64() / divisor))
}

/// `a // b`: rounded down.
pub(super) fn floor_divide(a: Number, b: Number) -> Result<Value, Error> {
    match (a, b) {
        (Number::Int(_), Number::Int(0)) => Err(by_zero()),
        (Number::Int(a), Number::Int(b)) => {
            let quotient = a.checked_div(b).ok_or_else(|| too_large("//"))?;
            let is_inexact = a % b != 0 && (a < 0) != (b < 0);
            Ok(integer(quotient - i128::from(is_inexact)))
        }
        (a, b) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            if b == 0.0 {
                return Err(by_zero());
            }
            // CPython's `_float_div_mod`.
            let remainder = float_remainder(a, b);
            let quotient = (a - remainder) / b;
            if quotient == 0.0 {
                return Ok(Value::from(0.0_f64.copysign(a / b)));
            }
            let floor = quotient.floor();
            Ok(Value::from(if quotient - floor > 0.5 {
                floor + 1.0
            } else {
                floor
            }))
        }
    }
}

/// `a % b`: the remainder has the divisor's sign.
pub(super) fn modulo(a: Number, b: Number) -> Result<Value, Error> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => {
            if b == 0 {
                return Err(by_zero());
            }
            let remainder = a.checked_rem(b).unwrap_or(0);
            let is_other_sign = remainder != 0 && (remainder < 0) != (b < 0);
            Ok(integer(if is_other_sign {
                remainder + b
            } else {
                remainder
            }))
        }
        (a, b) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            if b == 0.0 {
                return Err(by_zero());
            }
            Ok(Value::from(float_remainder(a, b)))
        }
    }
}

fn float_remainder(a: f64, b: f64) -> f64 {
    let remainder = a % b;
    if remainder == 0.0 {
        0.0_f64.copysign(b)
    } else if (remainder < 0.0) != (b < 0.0) {
        remainder + b
    } else {
        remainder
    }
}

/// `a ** b`: of integers a float where the exponent is negative.
pub(super) fn power(a: Number, b: Number) -> Result<Value, Error> {
    if let (Number::Int(base), Number::Int(exponent)) = (a, b)
        && exponent >= 0
    {
        return match base {
            0 => Ok(Value::from(i64::from(exponent == 0))),
            1 => Ok(Value::from(1)),
            -1 => Ok(Value::from(if exponent % 2 == 0 { 1 } else { -1 })),
            base => u32::try_from(exponent)
                .ok()
                .and_then(|exponent| base.checked_pow(exponent))
                .map(integer)
                .ok_or_else(|| too_large("**")),
        };
    }
    let (base, exponent) = (a.as_f64(), b.as_f64());
    if base == 0.0 && exponent < 0.0 {
        return Err(by_zero());
    }
    let result = base.powf(exponent);
    // Where Python gives a complex number, and its OverflowError.
    let is_complex = base < 0.0 && exponent.is_finite() && exponent.fract() != 0.0;
    let is_overflow = result.is_infinite() && base.is_finite() && exponent.is_finite();
    if is_complex || is_overflow {
        return Err(too_large("**"));
    }
    Ok(Value::from(result))
}

/// `-a`
pub(super) fn negate(a: Number) -> Result<Value, Error> {
    match a {
        Number::Int(int) => int.checked_neg().map(integer).ok_or_else(|| too_large("-")),
        Number::Float(float) => Ok(Value::from(-float)),
    }
}

/// Adds the filters that give numbers.
pub(super) fn add_filters(environment: &mut Environment<'_>) {
    vocabulary::add_filter(environment, "int", int);
    vocabulary::add_filter(environment, "float", float);
    vocabulary::add_filter(environment, "abs", abs);
    vocabulary::add_filter(environment, "round", round);
}

/// `int(value, default=0, base=10)`: what is no number is the default, not an error; but
/// an undefined value cannot be asked.
fn int(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["default", "base"], &args, &kwargs)?;
    defined(value)?;
    let base = args.int(1, 10)?;
    let parsed = match number(value) {
        Some(Number::Int(int)) => Some(int),
        Some(Number::Float(float)) if float.is_infinite() => {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                "infinity is no integer",
            ));
        }
        Some(Number::Float(float)) => whole(float),
        None => value
            .as_str()
            .and_then(|text| parse_int(text, u32::try_from(base).unwrap_or(1))),
    };
    Ok(match parsed {
        Some(int) => integer(int),
        None if value
            .downcast_object_ref::<super::context::BigInteger>()
            .is_some() =>
        {
            value.clone()
        }
        None => args.get(0).cloned().unwrap_or_else(|| Value::from(0)),
    })
}

fn defined(value: &Value) -> Result<(), Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    Ok(())
}

/// `int(text, base)`, and where that fails what Jinja2 tries next: `int(float(text))`.
fn parse_int(text: &str, base: u32) -> Option<i128> {
    let trimmed = trim(text, None, true, true);
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
    match parsed {
        Some(int) => Some(if is_negative { -int } else { int }),
        None => parse_float(text).and_then(whole),
    }
}

/// `int(float)`, where it is not too large.
#[allow(clippy::cast_possible_truncation)] // bounds are checked
pub(super) fn whole(float: f64) -> Option<i128> {
    (float.is_finite() && float.abs() < 1e38).then(|| float.trunc() as i128)
}

/// `float(text)`.
fn parse_float(text: &str) -> Option<f64> {
    let text = trim(text, None, true, true);
    let is_plain = text.bytes().enumerate().all(|(at, byte)| {
        // An underscore stands between digits.
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
        None => value.as_str().and_then(parse_float),
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
        None => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("abs of {} is not supported", value.kind()),
        )),
    }
}

/// `round(value, precision=0, method='common')`.
fn round(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["precision", "method"], &args, &kwargs)?;
    let precision = args.int(0, 0)?;
    let method = args.text(1, "common")?;
    let Some(number) = number(value) else {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{} cannot be rounded", value.kind()),
        ));
    };
    if !["common", "ceil", "floor"].contains(&method) {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "method must be common, ceil or floor",
        ));
    }
    if method == "common" {
        return match number {
            Number::Int(int) => Ok(round_integer(int, precision)),
            Number::Float(float) => Ok(Value::from(round_float(float, precision))),
        };
    }
    let scale = power(Number::Int(10), Number::Int(i128::from(precision)))?;
    let scale = super::numbers::number(&scale).map_or(1.0, Number::as_f64);
    let scaled = number.as_f64() * scale;
    if !scaled.is_finite() {
        return Err(too_large("round"));
    }
    let rounded = if method == "ceil" {
        scaled.ceil()
    } else {
        scaled.floor()
    };
    Ok(Value::from((rounded + 0.0) / scale))
}

/// `round(int, precision)`: half to even, where the precision is negative.
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

/// `round(float, precision)`: the digits that the number exactly has decide.
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
