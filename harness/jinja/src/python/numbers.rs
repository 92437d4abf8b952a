//! Python's numbers: how they compare, how they are calculated with, and how a float is
//! written.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use minijinja::Error;
use minijinja::value::{Object, ObjectRepr, Value, ValueKind};

use crate::refusal::invalid;
use rolecall_core::float;

/// A number as Python's arithmetic sees it: a boolean is an integer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    #[allow(clippy::cast_precision_loss)] // as in Python, where it meets a float
    #[inline]
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Number::Int(int) => int as f64,
            Number::Float(float) => float,
        }
    }

    /// How two numbers compare, exactly; a NaN compares with nothing.
    #[inline]
    pub(crate) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
            (Number::Int(a), Number::Float(b)) => compare_exactly(a, b),
            (Number::Float(a), Number::Int(b)) => compare_exactly(b, a).map(Ordering::reverse),
        }
    }
}

/// How an integer and a float compare, exactly.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // bounds are checked
fn compare_exactly(int: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() || float.abs() >= 1e38 {
        return (int as f64).partial_cmp(&float);
    }
    let order = int.cmp(&(float.trunc() as i128));
    Some(order.then(0.0_f64.partial_cmp(&float.fract())?))
}

/// The number that a value is, if it is one.
#[inline]
pub(crate) fn number(value: &Value) -> Option<Number> {
    match value.kind() {
        ValueKind::Bool => Some(Number::Int(i128::from(value.is_true()))),
        ValueKind::Number if value.is_integer() => {
            i128::try_from(value.clone()).ok().map(Number::Int)
        }
        ValueKind::Number => f64::try_from(value.clone()).ok().map(Number::Float),
        _ => None,
    }
}

#[inline]
pub(crate) fn integer(int: i128) -> Value {
    i64::try_from(int).map_or_else(|_| Value::from(int), Value::from)
}

/// The error of a result that [`Number`] cannot hold.
pub(crate) fn too_large(operator: &str) -> Error {
    invalid(format!("the result of {operator} is larger than 128 bits"))
}

/// An integer as an index or a count. A value beyond 64 bits becomes the smallest or largest 64-bit
/// integer.
pub(crate) fn clamped(int: i128) -> i64 {
    i64::try_from(int).unwrap_or(if int < 0 { i64::MIN } else { i64::MAX })
}

/// The error of a division by zero.
fn by_zero() -> Error {
    invalid("division by zero")
}

/// A size or a count. A number below zero is zero; one beyond 64 bits is an error, as in
/// Python. Limits are not looked at.
pub(crate) fn size(int: i128) -> Result<usize, Error> {
    i64::try_from(int)
        .map(|size| usize::try_from(size).unwrap_or(0))
        .map_err(|_| invalid("the number is too large"))
}

/// `a + b`
pub(crate) fn add(a: Number, b: Number) -> Result<Value, Error> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => {
            a.checked_add(b).map(integer).ok_or_else(|| too_large("+"))
        }
        (a, b) => Ok(Value::from(a.as_f64() + b.as_f64())),
    }
}

/// `a - b`
pub(crate) fn subtract(a: Number, b: Number) -> Result<Value, Error> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => {
            a.checked_sub(b).map(integer).ok_or_else(|| too_large("-"))
        }
        (a, b) => Ok(Value::from(a.as_f64() - b.as_f64())),
    }
}

/// `a * b`
pub(crate) fn multiply(a: Number, b: Number) -> Result<Value, Error> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => {
            a.checked_mul(b).map(integer).ok_or_else(|| too_large("*"))
        }
        (a, b) => Ok(Value::from(a.as_f64() * b.as_f64())),
    }
}

/// Up to here every integer is a float.
const EXACT: u128 = 1 << f64::MANTISSA_DIGITS;

/// `a / b`: a float, of integers too.
pub(crate) fn divide(a: Number, b: Number) -> Result<Value, Error> {
    let divisor = b.as_f64();
    if divisor == 0.0 {
        return Err(by_zero());
    }
    if let (Number::Int(a), Number::Int(b)) = (a, b)
        && a.unsigned_abs().max(b.unsigned_abs()) > EXACT
    {
        let quotient = true_quotient(a.unsigned_abs(), b.unsigned_abs());
        let is_negative = (a < 0) != (b < 0);
        return Ok(Value::from(if is_negative { -quotient } else { quotient }));
    }
    Ok(Value::from(a.as_f64() / divisor))
}

/// The offset of the exponent in the bits of a float.
const BIAS: u64 = 1023;

/// The nearest float to a quotient of integers. The first integer may be larger than a float holds
/// exactly (CPython's `long_true_divide`).
#[allow(clippy::cast_precision_loss)] // it is rounded once, here
fn true_quotient(a: u128, b: u128) -> f64 {
    if a == 0 {
        return 0.0;
    }
    let (mut quotient, mut rest) = (a / b, a % b);
    // These are more digits than a float has, so the remainder can only decide a tie.
    let mut exponent = 0;
    while quotient >> 63 == 0 {
        // The rest is less than the divisor, which has no more than 128 bits with a sign.
        rest *= 2;
        quotient *= 2;
        if rest >= b {
            rest -= b;
            quotient += 1;
        }
        exponent += 1;
    }
    quotient |= u128::from(rest != 0);
    // Undoes the scaling of the digits: a negative power of two.
    let power = f64::from_bits((BIAS - exponent) << (f64::MANTISSA_DIGITS - 1));
    quotient as f64 * power
}

/// `a // b`: rounded down.
pub(crate) fn floor_divide(a: Number, b: Number) -> Result<Value, Error> {
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
            let remainder = a % b;
            let is_other_sign = remainder != 0.0 && (remainder < 0.0) != (b < 0.0);
            let quotient = (a - remainder) / b - if is_other_sign { 1.0 } else { 0.0 };
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
pub(crate) fn modulo(a: Number, b: Number) -> Result<Value, Error> {
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

/// The remainder of two floats, with the divisor's sign.
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
pub(crate) fn power(a: Number, b: Number) -> Result<Value, Error> {
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
    if base < 0.0 && exponent.is_finite() && exponent.fract() != 0.0 {
        return Err(invalid(
            "the result of ** is a complex number, which this engine does not know",
        ));
    }
    // Python raises its `OverflowError`.
    if result.is_infinite() && base.is_finite() && exponent.is_finite() {
        return Err(invalid("the result of ** is too large for a float"));
    }
    Ok(Value::from(result))
}

/// `-a`
pub(crate) fn negate(a: Number) -> Result<Value, Error> {
    match a {
        Number::Int(int) => int.checked_neg().map(integer).ok_or_else(|| too_large("-")),
        Number::Float(float) => Ok(Value::from(-float)),
    }
}

/// `int(float)`, where it is not too large.
#[allow(clippy::cast_possible_truncation)] // bounds are checked
pub(crate) fn whole(float: f64) -> Option<i128> {
    (float.is_finite() && float.abs() < 1e38).then(|| float.trunc() as i128)
}

/// `repr(float)`: the shortest digits that read back as the same number, with an
/// exponent below 1e-4 and from 1e16 on (Python's `float_repr_style` 'short').
pub(super) fn write_float(float: f64, out: &mut String) {
    if float.is_nan() {
        out.push_str("nan");
    } else if float.is_infinite() {
        out.push_str(if float > 0.0 { "inf" } else { "-inf" });
    } else {
        let scientific = float::scientific(float);
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let exponent: i32 = exponent.parse().unwrap_or_default();
        if (-4..16).contains(&exponent) || float == 0.0 {
            let decimal = float::decimal(float);
            out.push_str(&decimal);
            if !decimal.contains('.') {
                out.push_str(".0");
            }
        } else {
            let sign = if exponent < 0 { '-' } else { '+' };
            let _ = write!(out, "{mantissa}e{sign}{:02}", exponent.abs());
        }
    }
}

/// The most digits that CPython reads (`sys.int_info.default_max_str_digits`).
pub(crate) const MOST_DIGITS: usize = 4300;

/// The integer that digits without underscores mean, with or without the mark of a base: as in
/// a template, or as `int(text, 0)` reads them.
pub(crate) fn parse_integer(digits: &str) -> Option<Value> {
    let marks = [
        ("0b", 2),
        ("0B", 2),
        ("0o", 8),
        ("0O", 8),
        ("0x", 16),
        ("0X", 16),
    ];
    let marked = marks
        .iter()
        .find_map(|(mark, base)| digits.strip_prefix(mark).map(|digits| (digits, *base)));
    let (digits, base) = marked.unwrap_or((digits, 10));
    match i128::from_str_radix(digits, base) {
        Ok(int) => Some(integer(int)),
        Err(_) if base == 10 && digits.len() <= MOST_DIGITS => Some(big_integer(digits)),
        Err(_) => None,
    }
}

/// An integer beyond all machine types. It can be written and compared; templates need no more.
struct BigInteger(String);

/// The value of an integer that no machine type holds, given its digits.
pub(crate) fn big_integer(digits: &str) -> Value {
    Value::from_object(BigInteger(digits.to_owned()))
}

/// The digits of an integer that no machine type holds.
pub(crate) fn big_digits(value: &Value) -> Option<&str> {
    let big: &BigInteger = value.downcast_object_ref()?;
    Some(&big.0)
}

pub(super) enum AnyNumber<'v> {
    Usual(Number),
    /// The digits of an integer that no machine type holds.
    Large(&'v str),
}

impl AnyNumber<'_> {
    /// The number that a value is, if it is one.
    pub(super) fn of(value: &Value) -> Option<AnyNumber<'_>> {
        let large = big_digits(value).map(AnyNumber::Large);
        large.or_else(|| number(value).map(AnyNumber::Usual))
    }

    /// How two numbers compare, exactly; a NaN compares with nothing.
    pub(super) fn compare(&self, other: &AnyNumber<'_>) -> Option<Ordering> {
        match (self, other) {
            (AnyNumber::Usual(a), AnyNumber::Usual(b)) => a.compare(*b),
            (AnyNumber::Large(a), AnyNumber::Large(b)) => Some(compare_digits(a, b)),
            (AnyNumber::Large(a), AnyNumber::Usual(b)) => compare_with_large(a, *b),
            (AnyNumber::Usual(a), AnyNumber::Large(b)) => {
                compare_with_large(b, *a).map(Ordering::reverse)
            }
        }
    }
}

/// How an integer that no machine type holds compares with a number.
fn compare_with_large(digits: &str, other: Number) -> Option<Ordering> {
    match other {
        Number::Float(float) if float.is_nan() => None,
        // A float of this size is a whole number, and Rust writes all of its digits.
        Number::Float(float) if float.is_finite() && float.abs() >= 1e38 => {
            Some(compare_digits(digits, &format!("{float:.0}")))
        }
        Number::Float(float) if float.is_infinite() => 0.0_f64.partial_cmp(&float),
        _ if digits.starts_with('-') => Some(Ordering::Less),
        _ => Some(Ordering::Greater),
    }
}

/// How two integers compare, given their digits without zeros before them.
fn compare_digits(a: &str, b: &str) -> Ordering {
    match (a.strip_prefix('-'), b.strip_prefix('-')) {
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (Some(a), Some(b)) => compare_digits(b, a),
        (None, None) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
    }
}

impl fmt::Debug for BigInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Object for BigInteger {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_integers_compare() {
        let power = |exponent: usize| format!("1{}", "0".repeat(exponent));
        let big = |digits: &str| big_integer(digits);
        let (large, larger) = (big(&power(40)), big(&power(41)));
        let negative = big(&format!("-{}", power(40)));
        // 2.0 ** 200, and the integers next to it.
        let exact = Value::from(2.0_f64.powi(200));
        let whole = format!("{:.0}", 2.0_f64.powi(200));
        let below = format!("{}5", whole.strip_suffix('6').unwrap());
        for (a, b, order) in [
            (&large, &larger, Some(Ordering::Less)),
            (&large, &large, Some(Ordering::Equal)),
            (&negative, &large, Some(Ordering::Less)),
            (&negative, &Value::from(0), Some(Ordering::Less)),
            (&large, &Value::from(i128::MAX), Some(Ordering::Greater)),
            (&large, &Value::from(true), Some(Ordering::Greater)),
            (&large, &Value::from(0.5), Some(Ordering::Greater)),
            (&big(&whole), &exact, Some(Ordering::Equal)),
            (&big(&below), &exact, Some(Ordering::Less)),
            (&large, &Value::from(f64::INFINITY), Some(Ordering::Less)),
            (
                &large,
                &Value::from(f64::NEG_INFINITY),
                Some(Ordering::Greater),
            ),
            (&large, &Value::from(f64::NAN), None),
        ] {
            let of = |value| AnyNumber::of(value).unwrap();
            assert_eq!(of(a).compare(&of(b)), order, "{a} {b}");
            let reversed = order.map(Ordering::reverse);
            assert_eq!(of(b).compare(&of(a)), reversed, "{b} {a}");
        }
        assert!(AnyNumber::of(&Value::from("1")).is_none());
    }

    // The expected values are what CPython 3.11 prints.
    #[test]
    fn floats() {
        for (float, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (7_205_759_403_792_794.0 / 8.0, "900719925474099.2"),
            (5e-324, "5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "nan"),
        ] {
            let mut out = String::new();
            write_float(float, &mut out);
            assert_eq!(out, text);
        }
    }
}
