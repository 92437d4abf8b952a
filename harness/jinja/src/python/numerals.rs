//! The methods of Python's numbers (CPython 3.11, `longobject.c` and `floatobject.c`).

use minijinja::value::{Kwargs, Rest, Tuple, Value, from_args};
use minijinja::{Error, ErrorKind};

use crate::meter::{CHARACTER, work};
use crate::python::arguments::Arguments;
use crate::python::characters::trim;
use crate::python::iteration::list;
use crate::python::numbers::{self, Number, integer, number, too_large};
use crate::refusal::invalid;

/// Calls a method of a number, or gives None if there is none of this name.
pub(super) fn call(of: Number, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    let no_args = || from_args::<()>(args);
    Some(match (of, method) {
        (Number::Int(int), "bit_length") => {
            no_args().map(|()| Value::from(128 - int.unsigned_abs().leading_zeros()))
        }
        (Number::Int(int), "bit_count") => {
            no_args().map(|()| Value::from(int.unsigned_abs().count_ones()))
        }
        (Number::Int(int), "conjugate") => no_args().map(|()| integer(int)),
        (Number::Int(int), "as_integer_ratio") => no_args().map(|()| pair(int, 1)),
        (Number::Int(_), "from_bytes") => from_bytes(args),
        (Number::Float(float), "is_integer") => {
            no_args().map(|()| Value::from(float.fract() == 0.0))
        }
        (Number::Float(float), "conjugate") => no_args().map(|()| Value::from(float)),
        (Number::Float(float), "as_integer_ratio") => no_args().and_then(|()| ratio(float)),
        (Number::Float(float), "hex") => no_args().map(|()| Value::from(hex(float))),
        (Number::Float(_), "fromhex") => from_args(args)
            .and_then(|(text,): (&str,)| from_hex(text))
            .map(Value::from),
        _ => return None,
    })
}

fn pair(numerator: i128, denominator: i128) -> Value {
    Value::from(Tuple::from([integer(numerator), integer(denominator)]))
}

/// The parts of a finite float: the number is the mantissa times two to the power of the
/// exponent.
fn parts(float: f64) -> (u64, i32) {
    /// The bits of the mantissa, without the one that is always set.
    const MANTISSA: u32 = 52;
    let bits = float.to_bits();
    let mantissa = bits & ((1 << MANTISSA) - 1);
    let exponent = i32::try_from((bits >> MANTISSA) & 0x7FF).unwrap_or(0);
    match exponent {
        0 => (mantissa, -1074),
        exponent => (mantissa | (1 << MANTISSA), exponent - 1075),
    }
}

/// `float.as_integer_ratio()`, where both integers are small enough.
fn ratio(float: f64) -> Result<Value, Error> {
    if !float.is_finite() {
        return Err(invalid("it is no ratio of integers"));
    }
    let (mantissa, exponent) = parts(float);
    if mantissa == 0 {
        return Ok(pair(0, 1));
    }
    let zeros = mantissa.trailing_zeros();
    let numerator = i128::from(mantissa >> zeros) * if float < 0.0 { -1 } else { 1 };
    let exponent = exponent + i32::try_from(zeros).unwrap_or(0);
    let power = |exponent: i32| {
        let two = Number::Int(2);
        let power = numbers::power(two, Number::Int(i128::from(exponent)))?;
        match number(&power) {
            Some(Number::Int(power)) => Ok(power),
            _ => Err(too_large("as_integer_ratio")),
        }
    };
    if exponent < 0 {
        return Ok(pair(numerator, power(-exponent)?));
    }
    let numerator = numerator.checked_mul(power(exponent)?);
    Ok(pair(
        numerator.ok_or_else(|| too_large("as_integer_ratio"))?,
        1,
    ))
}

/// `float.hex()`
fn hex(float: f64) -> String {
    let sign = if float.is_sign_negative() { "-" } else { "" };
    if float.is_nan() {
        return "nan".to_owned();
    }
    if float.is_infinite() {
        return format!("{sign}inf");
    }
    if float == 0.0 {
        return format!("{sign}0x0.0p+0");
    }
    let (mantissa, exponent) = parts(float);
    let (whole, fraction) = (mantissa >> 52, mantissa & ((1 << 52) - 1));
    let exponent = exponent + 52;
    format!("{sign}0x{whole}.{fraction:013x}p{exponent:+}")
}

/// `float.fromhex(text)`
fn from_hex(text: &str) -> Result<f64, Error> {
    let wrong = || invalid("invalid hexadecimal floating-point string");
    work(text.len().saturating_mul(CHARACTER))?;
    let text = trim(text, None, true, true).to_ascii_lowercase();
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1.0, text),
        None => (1.0, text.strip_prefix('+').unwrap_or(&text)),
    };
    if ["inf", "infinity", "nan"].contains(&text) {
        return Ok(sign * text.parse::<f64>().unwrap_or(f64::NAN));
    }
    let text = text.strip_prefix("0x").unwrap_or(text);
    let (digits, exponent) = match text.split_once('p') {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().map_err(|_| wrong())?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all: String = [whole, fraction].concat();
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    // Sixteen digits are more than a float has; of those after them only one counts: that there is
    // one.
    let significant = all.trim_start_matches('0');
    let zeros = all.len() - significant.len();
    let (first, rest) = significant.split_at(significant.len().min(30));
    let mut mantissa = u128::from_str_radix(first, 16).unwrap_or(0) << 1;
    mantissa |= u128::from(rest.bytes().any(|digit| digit != b'0'));
    let places = |len: usize| i64::try_from(len).unwrap_or(i64::MAX);
    let exponent = exponent
        .saturating_add(places(whole.len()).saturating_mul(4))
        .saturating_sub(places(zeros + first.len()).saturating_mul(4))
        .saturating_sub(1);
    scaled(mantissa, exponent)
        .map(|float| sign * float)
        .ok_or_else(|| invalid("hexadecimal value too large to represent as a float"))
}

/// An integer times two to the power of an exponent, rounded once; a half is rounded to even.
/// None where that is too large.
#[allow(clippy::cast_precision_loss)] // the mantissa has few enough bits then
fn scaled(mantissa: u128, exponent: i64) -> Option<f64> {
    if mantissa == 0 {
        return Some(0.0);
    }
    let bits = i64::from(128 - mantissa.leading_zeros());
    let top = exponent.saturating_add(bits);
    if top > 1025 {
        return None;
    }
    if top < -1080 {
        return Some(0.0);
    }
    // How many bits are left: less where the number is very small.
    let kept = (top + 1074).clamp(0, 53);
    let dropped = u32::try_from(bits - kept).unwrap_or(0);
    let rounded = if bits <= kept {
        mantissa
    } else {
        let (whole, rest) = (
            mantissa.checked_shr(dropped).unwrap_or(0),
            mantissa & (1_u128.checked_shl(dropped).unwrap_or(0)).wrapping_sub(1),
        );
        let half = 1_u128 << (dropped - 1);
        whole + u128::from(rest > half || rest == half && whole % 2 == 1)
    };
    let exponent = i32::try_from(exponent + i64::from(if bits <= kept { 0 } else { dropped }));
    let exponent = exponent.unwrap_or(0);
    // Multiplies in two steps, because one power of two may be too small for a float.
    let (first, second) = (exponent / 2, exponent - exponent / 2);
    let float = rounded as f64 * 2_f64.powi(first) * 2_f64.powi(second);
    float.is_finite().then_some(float)
}

/// `int.from_bytes(bytes, byteorder='big', *, signed=False)`, where the bytes are a list of
/// integers.
fn from_bytes(args: &[Value]) -> Result<Value, Error> {
    let (positional, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
    if positional.len() > 2 {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let args = Arguments::of(["bytes", "byteorder", "signed"], &positional, &kwargs)?;
    let mut bytes = Vec::new();
    if args.required(0)?.as_str().is_some() {
        return Err(args.wrong_type(0));
    }
    for byte in list(args.required(0)?)? {
        match number(&byte) {
            Some(Number::Int(byte)) => bytes
                .push(u8::try_from(byte).map_err(|_| invalid("bytes must be in range(0, 256)"))?),
            _ => return Err(args.wrong_type(0)),
        }
    }
    match args.text(1, "big")? {
        "big" => {}
        "little" => bytes.reverse(),
        _ => return Err(invalid("byteorder must be either 'little' or 'big'")),
    }
    let is_negative = args.truth(2, false) && bytes.first().is_some_and(|byte| *byte > 0x7F);
    let mut int: i128 = if is_negative { -1 } else { 0 };
    for byte in bytes {
        let shifted = int.checked_mul(256).map(|int| int + i128::from(byte));
        int = shifted.ok_or_else(|| too_large("from_bytes"))?;
    }
    Ok(integer(int))
}
