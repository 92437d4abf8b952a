//! Writes values as Go's `fmt` does, for `print`, `printf` and actions.
//!
//! Source: fmt/print.go and fmt/format.go of Go 1.26.

use crate::error::Error;
use crate::json;
use crate::meter::{Sink, WriteResult};
use crate::quote;
use crate::values::{ListKind, StructKind, Text, Value};
use rolecall_core::float;

/// The work to write one value.
const VALUE: usize = 100;

/// The work to find one digit of a number with a point.
const DIGIT: usize = 500;

/// The work to read a byte that may not be UTF-8.
const BROKEN: usize = 40;

/// The most non-zero digits of a `float64`.
const MOST_DIGITS: usize = 1100;

/// Prints a value as `{{ value }}` does.
pub(crate) fn print_action(out: &mut Sink<'_>, value: &Value) -> WriteResult {
    match value {
        Value::Absent => out.push(b"<no value>"),
        // text/template looks after a pointer before it prints.
        Value::Struct(structure) if structure.kind == StructKind::Message => {
            write(out, value, &VerbSpec::plain('v'), Depth::Inside)
        }
        _ => write(out, value, &VerbSpec::plain('v'), Depth::Top),
    }
}

/// The text that `html` and similar functions escape: `fmt.Sprint` of the printable values
/// (text/template, `evalArgs`).
pub(crate) fn sprint_printable(out: &mut Sink<'_>, values: &[Value]) -> WriteResult {
    let is_text = |value: &Value| matches!(value, Value::Text(_) | Value::Nil | Value::Absent);
    for (i, value) in values.iter().enumerate() {
        if i > 0 && !is_text(value) && !is_text(&values[i - 1]) {
            out.push(b" ")?;
        }
        match value {
            Value::Nil => print_action(out, &Value::Absent)?,
            value => print_action(out, value)?,
        }
    }
    Ok(())
}

/// `fmt.Sprint`: it puts a space between two operands if neither is a string.
pub(crate) fn sprint(out: &mut Sink<'_>, values: &[Value]) -> WriteResult {
    let is_text = |value: &Value| matches!(value, Value::Text(_));
    for (i, value) in values.iter().enumerate() {
        if i > 0 && !is_text(value) && !is_text(&values[i - 1]) {
            out.push(b" ")?;
        }
        write(out, value, &VerbSpec::plain('v'), Depth::Top)?;
    }
    Ok(())
}

/// `fmt.Sprintln`.
pub(crate) fn sprintln(out: &mut Sink<'_>, values: &[Value]) -> WriteResult {
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.push(b" ")?;
        }
        write(out, value, &VerbSpec::plain('v'), Depth::Top)?;
    }
    out.push(b"\n")
}

#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "a flag each, as Go has them")]
pub(crate) struct VerbSpec {
    pub(crate) verb: char,
    pub(crate) plus: bool,
    pub(crate) minus: bool,
    pub(crate) sharp: bool,
    pub(crate) space: bool,
    pub(crate) zero: bool,
    /// `%#v`: as in the source of a program.
    pub(crate) is_source: bool,
    /// Within a complaint about a verb, where no String method is called.
    pub(crate) is_complaint: bool,
    /// `%+v`: with the names of fields.
    pub(crate) has_names: bool,
    pub(crate) width: Option<usize>,
    pub(crate) precision: Option<usize>,
}

impl VerbSpec {
    pub(crate) fn plain(verb: char) -> VerbSpec {
        VerbSpec {
            verb,
            ..VerbSpec::default()
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    Top,
    Inside,
}

/// Writes one value with a verb.
pub(crate) fn write(
    out: &mut Sink<'_>,
    value: &Value,
    spec: &VerbSpec,
    depth: Depth,
) -> WriteResult {
    let outer = out.begin(value);
    write_value(out, value, spec, depth)?;
    out.end(outer);
    Ok(())
}

fn write_value(out: &mut Sink<'_>, value: &Value, spec: &VerbSpec, depth: Depth) -> WriteResult {
    out.meter.work(VALUE)?;
    if spec.verb == 'T' && depth == Depth::Top {
        let name = match value {
            Value::Nil => "<nil>",
            value => value.type_name(),
        };
        return pad(out, name.as_bytes(), spec);
    }
    // Verbs that are valid for strings call the String method, in the depth too.
    if matches!(spec.verb, 'v' | 's' | 'x' | 'X' | 'q')
        && !spec.is_source
        && !spec.is_complaint
        && json::is_stringer(value)
    {
        if matches!(spec.verb, 'v' | 's') && spec.width.is_none() && spec.precision.is_none() {
            return json::string(out, value);
        }
        let text = out.aside(|side| json::string(side, value))?;
        return write_text(out, &text, spec);
    }
    match value {
        Value::Absent | Value::Nil if depth == Depth::Inside => out.push(b"<nil>"),
        Value::Absent | Value::Nil => match spec.verb {
            'v' => pad(out, b"<nil>", spec),
            verb => out.push_str(&format!("%!{verb}(<nil>)")),
        },
        Value::Bool(b) => match spec.verb {
            'v' | 't' => pad(out, if *b { b"true" } else { b"false" }, spec),
            _ => bad_verb(out, value, spec),
        },
        Value::Int(n) => integer(out, i128::from(*n), value, spec),
        Value::Byte(n) => integer(out, i128::from(*n), value, spec),
        Value::Float(number) => match spec.verb {
            'v' | 'g' | 'G' | 'e' | 'E' | 'f' | 'F' | 'b' | 'x' | 'X' => float(out, *number, spec),
            _ => bad_verb(out, value, spec),
        },
        Value::Text(text) => match spec.verb {
            'v' | 's' | 'q' | 'x' | 'X' => write_text(out, text, spec),
            _ => bad_verb(out, value, spec),
        },
        Value::Bytes(bytes) if matches!(spec.verb, 's' | 'q' | 'x' | 'X') => {
            write_text(out, bytes, spec)
        }
        Value::Bytes(bytes) => write_items(out, bytes.iter(), |out, byte| {
            write(out, &Value::Byte(*byte), spec, Depth::Inside)
        }),
        Value::List(list) => write_items(out, list.items().iter(), |out, item| {
            match (list.kind, spec.verb) {
                // Go prints an address here, another one each time.
                (ListKind::Messages, 'v' | 'p' | 'b' | 'o' | 'd' | 'x' | 'X') => {
                    out.push(b"0xc000000000")
                }
                (ListKind::Messages, _) => bad_verb(out, item, spec),
                _ => write(out, item, spec, Depth::Inside),
            }
        }),
        Value::Map(map) => {
            out.push(b"map")?;
            write_items(out, map.iter(), |out, (key, item): (&Text, &Value)| {
                write(out, &Value::Text(key.clone()), spec, Depth::Inside)?;
                out.push(b":")?;
                write(out, item, spec, Depth::Inside)
            })
        }
        Value::Struct(structure) => {
            if structure.kind == StructKind::Message && depth == Depth::Top {
                out.push(b"&")?;
            }
            out.push(b"{")?;
            for (i, (field, item)) in structure
                .kind
                .fields()
                .iter()
                .zip(&structure.fields)
                .enumerate()
            {
                if i > 0 {
                    out.push(b" ")?;
                }
                if spec.has_names {
                    out.push_str(field.name)?;
                    out.push(b":")?;
                }
                write(out, item, spec, Depth::Inside)?;
            }
            out.push(b"}")
        }
        Value::Ordered(None) => match spec.verb {
            'v' => pad(out, b"<nil>", spec),
            verb => out.push_str(&format!("%!{verb}(*api.ToolPropertiesMap=<nil>)")),
        },
        // An address as well.
        Value::Ordered(Some(_)) => out.push(b"0xc000000000"),
    }
}

/// Writes the items of a slice or of a map in brackets, with spaces between them.
fn write_items<T>(
    out: &mut Sink<'_>,
    items: impl Iterator<Item = T>,
    write: impl Fn(&mut Sink<'_>, T) -> WriteResult,
) -> WriteResult {
    out.push(b"[")?;
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push(b" ")?;
        }
        write(out, item)?;
    }
    out.push(b"]")
}

fn bad_verb(out: &mut Sink<'_>, value: &Value, spec: &VerbSpec) -> WriteResult {
    out.push_str(&format!("%!{}({}=", spec.verb, value.type_name()))?;
    let plain = VerbSpec {
        verb: 'v',
        is_complaint: true,
        ..spec.clone()
    };
    write(out, value, &plain, Depth::Top)?;
    out.push(b")")
}

/// Pads a text. The width counts characters; each byte that is not UTF-8 counts as one.
fn pad(out: &mut Sink<'_>, text: &[u8], spec: &VerbSpec) -> WriteResult {
    let Some(width) = spec.width else {
        return out.push(text);
    };
    let missing = width - shorter(out, text, width)?;
    if spec.minus {
        out.push(text)?;
        return out.fill(b' ', missing);
    }
    out.fill(if spec.zero { b'0' } else { b' ' }, missing)?;
    out.push(text)
}

/// The number of characters in a text, up to a maximum.
fn shorter(out: &mut Sink<'_>, text: &[u8], most: usize) -> Result<usize, Error> {
    let text = truncated(out, text, most)?;
    Ok(text
        .utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
        .sum())
}

fn write_text(out: &mut Sink<'_>, text: &[u8], spec: &VerbSpec) -> WriteResult {
    let text = match spec.precision {
        Some(precision) if !matches!(spec.verb, 'x' | 'X') => truncated(out, text, precision)?,
        _ => text,
    };
    match spec.verb {
        'q' | 'v' if spec.verb == 'q' || spec.is_source => {
            let is_q = spec.verb == 'q';
            let (raw, ascii) = (is_q && spec.sharp, is_q && spec.plus);
            if spec.width.is_none() {
                return quote::quote(out, text, raw, ascii);
            }
            let quoted = out.aside(|side| quote::quote(side, text, raw, ascii))?;
            pad(out, &quoted, spec)
        }
        'x' | 'X' => {
            let text = &text[..spec.precision.unwrap_or(text.len()).min(text.len())];
            if spec.width.is_none() {
                return hex(out, text, spec);
            }
            let digits = out.aside(|side| hex(side, text, spec))?;
            pad(out, &digits, spec)
        }
        _ => pad(out, text, spec),
    }
}

fn hex(out: &mut Sink<'_>, text: &[u8], spec: &VerbSpec) -> WriteResult {
    let mark = [b'0', if spec.verb == 'x' { b'x' } else { b'X' }];
    for (i, byte) in text.iter().enumerate() {
        if spec.space && i > 0 {
            out.push(b" ")?;
        }
        if spec.sharp && (i == 0 || spec.space) {
            out.push(&mark)?;
        }
        let digits = quote::hex(*byte, spec.verb == 'X');
        out.in_place_of(&text[i..=i], |out| out.escape(&digits))?;
    }
    Ok(())
}

/// The first characters of a text.
fn truncated<'t>(out: &mut Sink<'_>, text: &'t [u8], characters: usize) -> Result<&'t [u8], Error> {
    if text.len() <= characters {
        return Ok(text);
    }
    // No character has more than four bytes, and an invalid byte counts as one character.
    let text = &text[..characters.saturating_mul(4).min(text.len())];
    out.meter.work(text.len().saturating_mul(BROKEN))?;
    let mut left = characters;
    let mut length = 0;
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            if left == 0 {
                return Ok(&text[..length]);
            }
            left -= 1;
            length += c.len_utf8();
        }
        for _ in chunk.invalid() {
            if left == 0 {
                return Ok(&text[..length]);
            }
            left -= 1;
            length += 1;
        }
    }
    Ok(text)
}

fn integer(out: &mut Sink<'_>, number: i128, value: &Value, spec: &VerbSpec) -> WriteResult {
    let size = number.unsigned_abs();
    let character = || {
        u32::try_from(number)
            .ok()
            .and_then(char::from_u32)
            .unwrap_or('\u{fffd}')
    };
    // With a precision of zero, a zero has no digits, only its width.
    let is_nothing = number == 0 && spec.precision == Some(0);
    if is_nothing && matches!(spec.verb, 'v' | 'd' | 'b' | 'o' | 'O' | 'x' | 'X') {
        return out.fill(b' ', spec.width.unwrap_or(0));
    }
    let digits = match spec.verb {
        'v' | 'd' => size.to_string(),
        'b' => format!("{size:b}"),
        'o' | 'O' => format!("{size:o}"),
        'x' => format!("{size:x}"),
        'X' => format!("{size:X}"),
        'c' => return pad(out, character().to_string().as_bytes(), spec),
        'q' => {
            let quoted = out.aside(|side| quote::quote_char(side, character(), spec.plus))?;
            return pad(out, &quoted, spec);
        }
        'U' => return code_point(out, number, spec),
        _ => return bad_verb(out, value, spec),
    };
    let prefix = match (spec.verb, spec.sharp) {
        ('O', _) => "0o",
        ('x', true) => "0x",
        ('X', true) => "0X",
        ('o', true) if !digits.starts_with('0') => "0",
        ('b', true) => "0b",
        _ => "",
    };
    let sign = sign(number < 0, spec);
    let mut shortest = spec.precision.unwrap_or(0);
    if spec.precision.is_none() && spec.zero && !spec.minus {
        shortest = spec.width.unwrap_or(0).saturating_sub(sign.len());
    }
    let zeros = shortest.saturating_sub(digits.len());
    // An octal number needs one zero before it.
    let prefix = if prefix == "0" && zeros > 0 {
        ""
    } else {
        prefix
    };
    let length = sign.len() + prefix.len() + zeros + digits.len();
    let missing = spec.width.unwrap_or(0).saturating_sub(length);
    if !spec.minus {
        out.fill(b' ', missing)?;
    }
    out.push_str(sign)?;
    out.push_str(prefix)?;
    out.fill(b'0', zeros)?;
    out.push_str(&digits)?;
    if spec.minus {
        out.fill(b' ', missing)?;
    }
    Ok(())
}

/// `U+0041`, with `#` and the character after it if it can be printed (`fmtUnicode`).
fn code_point(out: &mut Sink<'_>, number: i128, spec: &VerbSpec) -> WriteResult {
    // For a negative number Go takes the bits.
    let bits = i64::try_from(number).unwrap_or_default().cast_unsigned();
    let digits = spec.precision.unwrap_or(0).max(4);
    let mut text = b"U+".to_vec();
    let written = format!("{bits:X}");
    let zeros = digits.saturating_sub(written.len());
    out.meter.produce(zeros)?;
    text.resize(text.len() + zeros, b'0');
    text.extend_from_slice(written.as_bytes());
    let character = u32::try_from(bits).ok().and_then(char::from_u32);
    if let Some(c) = character.filter(|c| spec.sharp && quote::is_printable(*c)) {
        text.extend_from_slice(format!(" '{c}'").as_bytes());
    }
    let spaced = VerbSpec {
        zero: false,
        ..spec.clone()
    };
    pad(out, &text, &spaced)
}

fn sign(is_negative: bool, spec: &VerbSpec) -> &'static str {
    match (is_negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    }
}

fn float(out: &mut Sink<'_>, number: f64, spec: &VerbSpec) -> WriteResult {
    let size = number.abs();
    // Rust writes at most 65,535 digits, and slowly. This code writes the trailing zeros itself.
    let precision = spec.precision.map(|precision| precision.min(MOST_DIGITS));
    let whole = if size >= 1e17 { 310 } else { 20 };
    out.meter.work((precision.unwrap_or(0) + whole) * DIGIT)?;
    let mut zeros = 0;
    let mut text = if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        "Inf".to_owned()
    } else {
        match spec.verb {
            'b' => binary(size),
            'x' | 'X' => hexadecimal(size, precision, spec.verb == 'X'),
            'f' | 'F' | 'e' | 'E' => {
                zeros = spec.precision.unwrap_or(0).saturating_sub(MOST_DIGITS);
                let precision = precision.unwrap_or(6);
                if matches!(spec.verb, 'f' | 'F') {
                    format!("{size:.precision$}")
                } else {
                    exponent(&format!("{size:.precision$e}"))
                }
            }
            _ => match precision {
                None => shortest(size),
                Some(precision) => general(size, precision.max(1)),
            },
        }
    };
    if matches!(spec.verb, 'E' | 'G') {
        text = text.replace('e', "E");
    }
    let is_hexadecimal = matches!(spec.verb, 'x' | 'X');
    let power: &[char] = if is_hexadecimal {
        &['p', 'P']
    } else {
        &['e', 'E', 'p']
    };
    let at = text.find(power).unwrap_or(text.len());
    let (digits, power) = text.split_at(at);
    let padded;
    let digits = if spec.sharp && spec.verb != 'b' && number.is_finite() {
        padded = with_point(digits, spec);
        padded.as_str()
    } else {
        digits
    };
    let sign = sign(number.is_sign_negative(), spec);
    let length = sign.len() + digits.len() + power.len() + zeros;
    let missing = spec.width.unwrap_or(0).saturating_sub(length);
    let is_filled = spec.zero && !spec.minus && number.is_finite();
    if !spec.minus && !is_filled {
        out.fill(b' ', missing)?;
    }
    out.push_str(sign)?;
    if is_filled {
        out.fill(b'0', missing)?;
    }
    out.push_str(digits)?;
    out.fill(b'0', zeros)?;
    out.push_str(power)?;
    if spec.minus {
        out.fill(b' ', missing)?;
    }
    Ok(())
}

/// The mantissa of a number and its power of two.
fn parts(size: f64) -> (u64, i64) {
    let bits = size.to_bits();
    let mantissa = bits & ((1 << 52) - 1);
    match i64::try_from((bits >> 52) & 0x7ff).unwrap_or(0) {
        0 => (mantissa, -1022),
        power => (mantissa | (1 << 52), power - 1023),
    }
}

/// `%b`: a mantissa that is an integer, and its power of two (strconv, `fmtB`).
fn binary(size: f64) -> String {
    let (mantissa, power) = parts(size);
    format!("{mantissa}p{:+}", power - 52)
}

/// `%x`: a mantissa of one digit and a fraction, and its power of two (strconv, `fmtX`).
fn hexadecimal(size: f64, precision: Option<usize>, is_upper: bool) -> String {
    const TOP: u64 = 1 << 60;
    let (mantissa, mut power) = parts(size);
    if mantissa == 0 {
        power = 0;
    }
    let mut mantissa = mantissa << 8;
    while mantissa != 0 && mantissa & TOP == 0 {
        mantissa <<= 1;
        power -= 1;
    }
    if let Some(precision) = precision.filter(|precision| *precision < 15) {
        let shift = precision * 4;
        let extra = (mantissa << shift) & (TOP - 1);
        mantissa >>= 60 - shift;
        mantissa += u64::from((extra | (mantissa & 1)) > 1 << 59);
        mantissa <<= 60 - shift;
        if mantissa & (TOP << 1) != 0 {
            mantissa >>= 1;
            power += 1;
        }
    }
    let mut text = format!("0x{}", (mantissa >> 60) & 1);
    let mut fraction = mantissa << 4;
    let digits = precision.unwrap_or(usize::MAX);
    if fraction != 0 && precision.is_none() || precision.is_some_and(|digits| digits > 0) {
        text.push('.');
    }
    for _ in 0..digits {
        if fraction == 0 && precision.is_none() {
            break;
        }
        text.push(char::from_digit(u32::try_from(fraction >> 60).unwrap_or(0), 16).unwrap_or('0'));
        fraction <<= 4;
    }
    let sign = if power < 0 { '-' } else { '+' };
    let text = format!("{text}p{sign}{:02}", power.unsigned_abs());
    if is_upper { text.to_uppercase() } else { text }
}

/// The digits of a number, always with a decimal point and with the zeros that `%g` otherwise
/// leaves out (fmt, `fmtFloat`).
fn with_point(digits: &str, spec: &VerbSpec) -> String {
    let mut missing = match spec.verb {
        'v' | 'g' | 'G' | 'x' => spec.precision.unwrap_or(6).min(MOST_DIGITS),
        _ => 0,
    };
    let significant = digits.trim_start_matches(['0', '.']);
    missing = missing.saturating_sub(significant.chars().filter(|c| *c != '.').count());
    let mut padded = digits.to_owned();
    if !digits.contains('.') {
        // A zero counts once.
        missing = missing.saturating_sub(usize::from(digits == "0"));
        padded.push('.');
    }
    padded.extend(std::iter::repeat_n('0', missing));
    padded
}

/// `%g` with as many digits as needed. It has an exponent below 1e-4 and from 1e6 on.
fn shortest(size: f64) -> String {
    let scientific = float::scientific(size);
    let (_, power) = split(&scientific);
    if size != 0.0 && !(-4..6).contains(&power) {
        return exponent(&scientific);
    }
    float::decimal(size)
}

/// `%g` with a precision.
fn general(size: f64, precision: usize) -> String {
    let scientific = format!("{size:.*e}", precision - 1);
    let (digits, power) = split(&scientific);
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    let limit = i64::try_from(precision).unwrap_or(i64::MAX);
    if power < -4 || power >= limit {
        return exponent(&format!("{}e{power}", trimmed(digits)));
    }
    let decimals = usize::try_from(limit - 1 - power).unwrap_or(0);
    trimmed(&format!("{size:.decimals$}"))
}

fn split(scientific: &str) -> (&str, i64) {
    match scientific.split_once('e') {
        Some((digits, power)) => (digits, power.parse().unwrap_or(0)),
        None => (scientific, 0),
    }
}

/// Go writes a sign and at least two digits.
fn exponent(scientific: &str) -> String {
    let (digits, power) = split(scientific);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::tests::written;

    #[test]
    fn floats() {
        for (number, text) in [
            (1_000_000.0, "1e+06"),
            (100_000.0, "100000"),
            (0.000_01, "1e-05"),
            (123_456_789.0, "1.23456789e+08"),
            (7_205_759_403_792_794.0 / 8.0, "9.007199254740992e+14"),
            (2.5, "2.5"),
        ] {
            let out = written(|out| float(out, number, &VerbSpec::plain('v')));
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
