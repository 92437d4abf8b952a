//! The format of a single value: the text after the colon in `'{:>8.2f}'.format(x)`.
//!
//! The rules are CPython's (3.11, `formatter_unicode.c`, and `pystrtod.c` for floats), without
//! a locale.

use minijinja::Error;

use crate::meter::produce;
use crate::python::numbers::{Number, write_float};
use crate::python::padding::padded;
use crate::refusal::invalid;

/// `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`
struct Spec {
    fill: char,
    align: Option<char>,
    sign: Option<char>,
    /// `z`: a zero has no sign.
    no_negative_zero: bool,
    /// `#`: with the mark of a base, and with a point.
    is_alternate: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

impl Spec {
    /// Reads a format. `default` is where values are aligned that say nothing.
    fn parse(spec: &str, default: char) -> Result<Spec, Error> {
        let is_align = |c: char| "<>=^".contains(c);
        let mut chars = spec.chars().peekable();
        let mut second = spec.chars();
        second.next();
        let (mut fill, mut align) = (None, None);
        if second.next().is_some_and(is_align) {
            fill = chars.next();
            align = chars.next();
        } else {
            align = chars.next_if(|c| is_align(*c)).or(align);
        }
        let sign = chars.next_if(|c| " +-".contains(*c));
        let no_negative_zero = chars.next_if_eq(&'z').is_some();
        let is_alternate = chars.next_if_eq(&'#').is_some();
        if fill.is_none() && chars.next_if_eq(&'0').is_some() {
            fill = Some('0');
            if align.is_none() && default == '>' {
                align = Some('=');
            }
        }
        let mut number = || -> Result<Option<usize>, Error> {
            let mut digits = String::new();
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            if digits.is_empty() {
                return Ok(None);
            }
            let number: Option<i64> = digits.parse().ok();
            let number = number.and_then(|number| usize::try_from(number).ok());
            number
                .map(Some)
                .ok_or_else(|| invalid("too many digits in the format"))
        };
        let width = number()?.unwrap_or(0);
        let mut grouping = None;
        let rest: String = {
            let mut rest: String = chars.clone().collect();
            if rest.starts_with([',', '_']) {
                grouping = rest.chars().next();
                rest.remove(0);
                if rest.starts_with([',', '_']) {
                    return Err(invalid("Cannot specify both ',' and '_'."));
                }
            }
            rest
        };
        let (precision, rest) = match rest.strip_prefix('.') {
            None => (None, rest.as_str()),
            Some(after) => {
                let end = after.find(|c: char| !c.is_ascii_digit());
                let (digits, rest) = after.split_at(end.unwrap_or(after.len()));
                let number: Option<i64> = digits.parse().ok();
                let number = number.and_then(|number| usize::try_from(number).ok());
                let number = number.ok_or_else(|| invalid("Format specifier missing precision"))?;
                (Some(number), rest)
            }
        };
        let mut kinds = rest.chars();
        let kind = kinds.next();
        if kinds.next().is_some() {
            return Err(invalid("Invalid format specifier"));
        }
        produce(width.saturating_add(precision.unwrap_or(0)))?;
        Ok(Spec {
            fill: fill.unwrap_or(' '),
            align,
            sign,
            no_negative_zero,
            is_alternate,
            width,
            grouping,
            precision,
            kind,
        })
    }

    /// The error of a type that a value does not have.
    fn unknown(&self, of: &str) -> Error {
        let kind = self.kind.unwrap_or(' ');
        invalid(format!(
            "Unknown format code '{kind}' for object of type '{of}'"
        ))
    }

    /// Puts a number together from its sign, the mark of its base, its digits and the rest, groups
    /// the digits, and pads it to its width.
    fn number(&self, is_negative: bool, mark: &str, digits: &str, rest: &str) -> String {
        let sign = match (is_negative, self.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            _ => "",
        };
        let before = format!("{sign}{mark}");
        let align = self.align.unwrap_or('>');
        let around = before.chars().count() + rest.chars().count();
        let digits = match self.grouping {
            None => digits.to_owned(),
            Some(separator) => {
                let size = match self.kind {
                    Some('b' | 'o' | 'x' | 'X') => 4,
                    _ => 3,
                };
                // Zeros that fill up the number are grouped, too.
                let least = if align == '=' && self.fill == '0' {
                    self.width.saturating_sub(around)
                } else {
                    0
                };
                grouped(digits, separator, size, least)
            }
        };
        if align == '=' {
            let inner = self.width.saturating_sub(before.chars().count());
            let inner = padded(format!("{digits}{rest}"), inner, '>', self.fill);
            return format!("{before}{inner}");
        }
        padded(
            format!("{before}{digits}{rest}"),
            self.width,
            align,
            self.fill,
        )
    }
}

/// Digits in groups from the right, filled up with zeros until they have a length.
fn grouped(digits: &str, separator: char, size: usize, least: usize) -> String {
    let mut count = digits.len();
    while count + count.saturating_sub(1) / size < least {
        count += 1;
    }
    let mut out = String::with_capacity(count + count / size);
    let zeros = std::iter::repeat_n('0', count - digits.len());
    for (at, digit) in zeros.chain(digits.chars()).enumerate() {
        if at > 0 && (count - at).is_multiple_of(size) {
            out.push(separator);
        }
        out.push(digit);
    }
    out
}

/// `format(number, spec)`
pub(super) fn number(value: Number, spec: &str) -> Result<String, Error> {
    let spec = Spec::parse(spec, '>')?;
    match value {
        Number::Int(int) => integer(int, &spec),
        Number::Float(float) => self::float(float, &spec, "float"),
    }
}

fn integer(int: i128, spec: &Spec) -> Result<String, Error> {
    let kind = spec.kind.unwrap_or('d');
    if "eEfFgG%".contains(kind) {
        return float(Number::Int(int).as_f64(), spec, "int");
    }
    if !"bcdoxXn".contains(kind) {
        return Err(spec.unknown("int"));
    }
    if spec.precision.is_some() {
        return Err(invalid("Precision not allowed in integer format specifier"));
    }
    if spec.no_negative_zero {
        return Err(invalid(
            "Negative zero coercion (z) not allowed in format specifier with integer format code",
        ));
    }
    let is_wrong_group = match spec.grouping {
        Some(',') => "bcoxXn".contains(kind),
        Some(_) => "cn".contains(kind),
        None => false,
    };
    if is_wrong_group {
        return Err(invalid(format!(
            "Cannot specify a separator with '{kind}'."
        )));
    }
    if kind == 'c' {
        if spec.sign.is_some() || spec.is_alternate {
            return Err(invalid(
                "Sign and alternate form are not allowed with integer format specifier 'c'",
            ));
        }
        let c = u32::try_from(int).ok().and_then(char::from_u32);
        let c = c.ok_or_else(|| invalid("%c arg not in range(0x110000)"))?;
        return Ok(spec.number(false, "", &c.to_string(), ""));
    }
    let size = int.unsigned_abs();
    let (mark, digits) = match kind {
        'b' => ("0b", format!("{size:b}")),
        'o' => ("0o", format!("{size:o}")),
        'x' => ("0x", format!("{size:x}")),
        'X' => ("0X", format!("{size:X}")),
        _ => ("", size.to_string()),
    };
    let mark = if spec.is_alternate { mark } else { "" };
    Ok(spec.number(int < 0, mark, &digits, ""))
}

/// A float, or an integer in the format of one.
fn float(value: f64, spec: &Spec, of: &str) -> Result<String, Error> {
    let kind = spec.kind.unwrap_or('r');
    if !"eEfFgGnr%".contains(kind) || spec.kind == Some('r') {
        return Err(spec.unknown(of));
    }
    if kind == 'n' && spec.grouping.is_some() {
        return Err(invalid("Cannot specify a separator with 'n'."));
    }
    let value = if kind == '%' { value * 100.0 } else { value };
    let size = value.abs();
    let mut text = written(size, kind, spec);
    if kind.is_ascii_uppercase() {
        text.make_ascii_uppercase();
    }
    let is_zero = !text.contains(|c: char| c.is_ascii_alphanumeric() && c != '0' && c != 'e');
    let is_negative =
        value.is_sign_negative() && !value.is_nan() && !(spec.no_negative_zero && is_zero);
    let whole = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(whole.unwrap_or(text.len()));
    let rest = if kind == '%' {
        format!("{rest}%")
    } else {
        rest.to_owned()
    };
    // Infinity and NaN have no digits to group.
    if digits.is_empty() {
        return Ok(spec.number(is_negative, "", &rest, ""));
    }
    Ok(spec.number(is_negative, "", digits, &rest))
}

/// A float without its sign, in lower case.
fn written(value: f64, kind: char, spec: &Spec) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return "inf".to_owned();
    }
    let is_alternate = spec.is_alternate;
    let significant = spec.precision.unwrap_or(6).max(1);
    match (kind.to_ascii_lowercase(), spec.precision) {
        ('r', None) => {
            let mut text = String::new();
            write_float(value, &mut text);
            text
        }
        // The shortest form, with a digit after the point.
        ('r', Some(_)) => general(value, significant, is_alternate, true),
        ('g' | 'n', _) => general(value, significant, is_alternate, false),
        ('e', precision) => exponential(value, precision.unwrap_or(6), is_alternate),
        (_, precision) => fixed(value, precision.unwrap_or(6), is_alternate),
    }
}

/// No float has more digits after its point, or more digits at all: the others are zeros.
const MOST_DIGITS: usize = 1100;

/// Rust writes the exact digits of a number, and rounds a half to the even digit, as C does.
fn fixed(value: f64, precision: usize, is_alternate: bool) -> String {
    let shown = precision.min(MOST_DIGITS);
    let mut text = format!("{value:.shown$}");
    text.extend(std::iter::repeat_n('0', precision - shown));
    if is_alternate && precision == 0 {
        text.push('.');
    }
    text
}

/// The digits of a number in its scientific form, and its exponent.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let shown = precision.min(MOST_DIGITS);
    let text = format!("{value:.shown$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut mantissa = mantissa.to_owned();
    mantissa.extend(std::iter::repeat_n('0', precision - shown));
    (mantissa, exponent.parse().unwrap_or_default())
}

fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn exponential(value: f64, precision: usize, is_alternate: bool) -> String {
    let (mut mantissa, exponent) = scientific(value, precision);
    if is_alternate && precision == 0 {
        mantissa.push('.');
    }
    with_exponent(&mantissa, exponent)
}

/// So many significant digits, without zeros at their end, and with an exponent where the
/// number is large or small.
fn general(value: f64, precision: usize, is_alternate: bool, with_point: bool) -> String {
    let (mut mantissa, exponent) = scientific(value, precision - 1);
    let most = i32::try_from(precision).unwrap_or(i32::MAX) - i32::from(with_point);
    let strip = |text: &mut String| {
        if !is_alternate && text.contains('.') {
            let kept = text.trim_end_matches('0').trim_end_matches('.').len();
            text.truncate(kept);
        }
        if is_alternate && !text.contains('.') {
            text.push('.');
        }
    };
    if exponent < -4 || exponent >= most {
        strip(&mut mantissa);
        return with_exponent(&mantissa, exponent);
    }
    let decimals = i64::try_from(precision).unwrap_or(i64::MAX) - 1 - i64::from(exponent);
    let mut text = fixed(value, usize::try_from(decimals).unwrap_or(0), false);
    strip(&mut text);
    if with_point && !text.contains('.') {
        text.push_str(".0");
    }
    text
}

/// `format(text, spec)`
pub(super) fn text(value: &str, spec: &str) -> Result<String, Error> {
    let spec = Spec::parse(spec, '<')?;
    if spec.kind.is_some_and(|kind| kind != 's') {
        return Err(spec.unknown("str"));
    }
    let message = if spec.sign.is_some() {
        "Sign not allowed in string format specifier"
    } else if spec.no_negative_zero {
        "Negative zero coercion (z) not allowed in string format specifier"
    } else if spec.is_alternate {
        "Alternate form (#) not allowed in string format specifier"
    } else if spec.grouping.is_some() {
        "Cannot specify a separator with 's'."
    } else if spec.align == Some('=') {
        "'=' alignment not allowed in string format specifier"
    } else {
        ""
    };
    if !message.is_empty() {
        return Err(invalid(message));
    }
    let cut = match spec.precision {
        Some(most) => value.chars().take(most).collect(),
        None => value.to_owned(),
    };
    let fill = spec.fill;
    produce(spec.width.saturating_mul(fill.len_utf8()))?;
    Ok(padded(cut, spec.width, spec.align.unwrap_or('<'), fill))
}
