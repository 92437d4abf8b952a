//! How Go's `fmt` writes values: `print`, `printf`, and what an action prints.
//!
//! Source: fmt/print.go and fmt/format.go of Go 1.26.

use super::json::stringer;
use super::values::{ListKind, RecordKind, Value};

/// What `{{ value }}` prints.
pub(super) fn print_action(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Absent => out.extend_from_slice(b"<no value>"),
        // text/template looks behind a pointer before it prints.
        Value::Record(record) if record.kind == RecordKind::Message => {
            write(out, value, &Spec::plain('v'), Depth::Inside);
        }
        _ => write(out, value, &Spec::plain('v'), Depth::Top),
    }
}

/// `fmt.Sprint`: a space between operands of which neither is a string. More text than
/// the limit is not written to its end; the caller counts it and stops.
pub(super) fn sprint(values: &[Value], limit: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let is_text = |value: &Value| matches!(value, Value::Text(_));
    for (i, value) in values.iter().enumerate() {
        if i > 0 && !is_text(value) && !is_text(&values[i - 1]) {
            out.push(b' ');
        }
        write(&mut out, value, &Spec::plain('v'), Depth::Top);
        if out.len() > limit {
            break;
        }
    }
    out
}

/// `fmt.Sprintln`, within a limit as [`sprint`].
pub(super) fn sprintln(values: &[Value], limit: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        write(&mut out, value, &Spec::plain('v'), Depth::Top);
        if out.len() > limit {
            break;
        }
    }
    out.push(b'\n');
    out
}

/// A verb with its flags.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "a flag each, as Go has them")]
pub(super) struct Spec {
    pub(super) verb: char,
    pub(super) plus: bool,
    pub(super) minus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
}

impl Spec {
    pub(super) fn plain(verb: char) -> Spec {
        Spec {
            verb,
            ..Spec::default()
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Top,
    Inside,
}

/// Writes one value with a verb.
pub(super) fn write(out: &mut Vec<u8>, value: &Value, spec: &Spec, depth: Depth) {
    if spec.verb == 'T' && depth == Depth::Top {
        pad(out, value.type_name().as_bytes(), spec);
        return;
    }
    // Verbs that are valid for strings call the String method, in the depth too.
    if matches!(spec.verb, 'v' | 's' | 'x' | 'X' | 'q')
        && !spec.sharp
        && let Some(text) = stringer(value)
    {
        write_text(out, &text, spec);
        return;
    }
    match value {
        Value::Absent | Value::Nil if depth == Depth::Inside => pad(out, b"<nil>", spec),
        Value::Absent | Value::Nil => match spec.verb {
            'v' => pad(out, b"<nil>", spec),
            verb => out.extend_from_slice(format!("%!{verb}(<nil>)").as_bytes()),
        },
        Value::Bool(b) => match spec.verb {
            'v' | 't' => pad(out, b.to_string().as_bytes(), spec),
            _ => bad_verb(out, value, spec),
        },
        Value::Int(n) => integer(out, i128::from(*n), value, spec),
        Value::Byte(n) => integer(out, i128::from(*n), value, spec),
        Value::Float(number) => match spec.verb {
            'v' | 'g' | 'G' | 'e' | 'E' | 'f' | 'F' => float(out, *number, spec),
            _ => bad_verb(out, value, spec),
        },
        Value::Text(text) => match spec.verb {
            'v' | 's' | 'q' | 'x' | 'X' => write_text(out, text, spec),
            _ => bad_verb(out, value, spec),
        },
        Value::List(list) => {
            if list.kind == ListKind::Bytes && matches!(spec.verb, 's' | 'q' | 'x' | 'X') {
                let bytes: Vec<u8> = list
                    .items()
                    .iter()
                    .map(|item| {
                        if let Value::Byte(byte) = item {
                            *byte
                        } else {
                            0
                        }
                    })
                    .collect();
                write_text(out, &bytes, spec);
                return;
            }
            out.push(b'[');
            for (i, item) in list.items().iter().enumerate() {
                if i > 0 {
                    out.push(b' ');
                }
                if list.kind == ListKind::Messages {
                    // Go prints an address here, another one each time.
                    out.extend_from_slice(b"0xc000000000");
                } else {
                    write(out, item, spec, Depth::Inside);
                }
            }
            out.push(b']');
        }
        Value::Map(map) => {
            out.extend_from_slice(b"map[");
            for (i, (key, item)) in map.iter().enumerate() {
                if i > 0 {
                    out.push(b' ');
                }
                write(out, &Value::Text(key.clone()), spec, Depth::Inside);
                out.push(b':');
                write(out, item, spec, Depth::Inside);
            }
            out.push(b']');
        }
        Value::Record(record) => {
            if record.kind == RecordKind::Message && depth == Depth::Top {
                out.push(b'&');
            }
            out.push(b'{');
            for (i, (field, item)) in record.kind.fields().iter().zip(&record.fields).enumerate() {
                if i > 0 {
                    out.push(b' ');
                }
                if spec.plus && spec.verb == 'v' {
                    out.extend_from_slice(field.name.as_bytes());
                    out.push(b':');
                }
                write(out, item, spec, Depth::Inside);
            }
            out.push(b'}');
        }
        Value::Ordered(None) => match spec.verb {
            'v' => pad(out, b"<nil>", spec),
            verb => {
                out.extend_from_slice(format!("%!{verb}(*api.ToolPropertiesMap=<nil>)").as_bytes());
            }
        },
        // An address as well.
        Value::Ordered(Some(_)) => out.extend_from_slice(b"0xc000000000"),
    }
}

fn bad_verb(out: &mut Vec<u8>, value: &Value, spec: &Spec) {
    out.extend_from_slice(format!("%!{}({}=", spec.verb, value.type_name()).as_bytes());
    let plain = Spec {
        verb: 'v',
        ..spec.clone()
    };
    write(out, value, &plain, Depth::Top);
    out.push(b')');
}

/// Width counts characters; bytes that are no UTF-8 count as one each.
fn pad(out: &mut Vec<u8>, text: &[u8], spec: &Spec) {
    let width = spec.width.unwrap_or(0);
    let missing = width.saturating_sub(count(text));
    let filler = if spec.zero && !spec.minus { b'0' } else { b' ' };
    if !spec.minus {
        out.extend(std::iter::repeat_n(filler, missing));
    }
    out.extend_from_slice(text);
    if spec.minus {
        out.extend(std::iter::repeat_n(b' ', missing));
    }
}

fn count(text: &[u8]) -> usize {
    text.utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
        .sum()
}

fn write_text(out: &mut Vec<u8>, text: &[u8], spec: &Spec) {
    let text = match spec.precision {
        Some(precision) if !matches!(spec.verb, 'x' | 'X') => truncated(text, precision),
        _ => text,
    };
    match spec.verb {
        'q' => pad(out, &super::quote::quote(text, spec.sharp, spec.plus), spec),
        'x' | 'X' => {
            let text = &text[..spec.precision.unwrap_or(text.len()).min(text.len())];
            let mut hex = String::new();
            for (i, byte) in text.iter().enumerate() {
                if spec.space && i > 0 {
                    hex.push(' ');
                }
                if spec.sharp && (i == 0 || spec.space) {
                    hex.push('0');
                    hex.push(spec.verb);
                }
                let pair = if spec.verb == 'x' {
                    format!("{byte:02x}")
                } else {
                    format!("{byte:02X}")
                };
                hex.push_str(&pair);
            }
            pad(out, hex.as_bytes(), spec);
        }
        'v' if spec.sharp => pad(out, &super::quote::quote(text, false, false), spec),
        _ => pad(out, text, spec),
    }
}

fn truncated(text: &[u8], characters: usize) -> &[u8] {
    let mut left = characters;
    let mut length = 0;
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            if left == 0 {
                return &text[..length];
            }
            left -= 1;
            length += c.len_utf8();
        }
        for _ in chunk.invalid() {
            if left == 0 {
                return &text[..length];
            }
            left -= 1;
            length += 1;
        }
    }
    text
}

fn integer(out: &mut Vec<u8>, number: i128, value: &Value, spec: &Spec) {
    let size = number.unsigned_abs();
    let digits = match spec.verb {
        'v' | 'd' => size.to_string(),
        'b' => format!("{size:b}"),
        'o' | 'O' => format!("{size:o}"),
        'x' => format!("{size:x}"),
        'X' => format!("{size:X}"),
        'c' => {
            let c = u32::try_from(number)
                .ok()
                .and_then(char::from_u32)
                .unwrap_or('\u{fffd}');
            pad(out, c.to_string().as_bytes(), spec);
            return;
        }
        'q' => {
            let c = u32::try_from(number)
                .ok()
                .and_then(char::from_u32)
                .unwrap_or('\u{fffd}');
            pad(out, super::quote::quote_char(c, spec.plus).as_bytes(), spec);
            return;
        }
        'U' => {
            pad(out, format!("U+{size:04X}").as_bytes(), spec);
            return;
        }
        _ => return bad_verb(out, value, spec),
    };
    let prefix = match (spec.verb, spec.sharp) {
        ('O', _) => "0o",
        ('x', true) => "0x",
        ('X', true) => "0X",
        ('o', true) => "0",
        ('b', true) => "0b",
        _ => "",
    };
    let sign = match (number < 0, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    };
    let mut shortest = spec.precision.unwrap_or(0);
    if spec.precision.is_none() && spec.zero && !spec.minus {
        shortest = spec.width.unwrap_or(0).saturating_sub(sign.len());
    }
    let digits = format!("{digits:0>shortest$}");
    let plain = Spec {
        zero: false,
        ..spec.clone()
    };
    pad(out, format!("{sign}{prefix}{digits}").as_bytes(), &plain);
}

fn float(out: &mut Vec<u8>, number: f64, spec: &Spec) {
    let size = number.abs();
    let mut text = if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        "Inf".to_owned()
    } else {
        match (spec.verb, spec.precision) {
            ('f' | 'F', precision) => format!("{size:.*}", precision.unwrap_or(6)),
            ('e' | 'E', precision) => exponent(&format!("{size:.*e}", precision.unwrap_or(6))),
            (_, None) => shortest(size),
            (_, Some(precision)) => general(size, precision.max(1)),
        }
    };
    if matches!(spec.verb, 'E' | 'G') {
        text = text.replace('e', "E");
    }
    let sign = match (number.is_sign_negative(), spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    };
    if spec.zero && !spec.minus && number.is_finite() {
        let width = spec.width.unwrap_or(0).saturating_sub(sign.len());
        out.extend_from_slice(format!("{sign}{text:0>width$}").as_bytes());
        return;
    }
    let plain = Spec {
        zero: false,
        ..spec.clone()
    };
    pad(out, format!("{sign}{text}").as_bytes(), &plain);
}

/// `%g` with as many digits as are needed: an exponent below 1e-4 and from 1e6.
fn shortest(size: f64) -> String {
    let scientific = format!("{size:e}");
    let (_, power) = split(&scientific);
    if size != 0.0 && !(-4..6).contains(&power) {
        return exponent(&scientific);
    }
    format!("{size}")
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

    #[test]
    fn floats() {
        for (number, text) in [
            (1_000_000.0, "1e+06"),
            (100_000.0, "100000"),
            (0.000_01, "1e-05"),
            (123_456_789.0, "1.23456789e+08"),
            (2.5, "2.5"),
        ] {
            let mut out = Vec::new();
            float(&mut out, number, &Spec::plain('v'));
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
