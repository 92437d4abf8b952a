//! Python's two ways to format: `'%s' % x` and `'{}'.format(x)`.
//!
//! A format is taken apart here, as CPython 3.11 does it (`unicodeobject.c`,
//! `string_format.h`); how a single number is written is minijinja's.

use std::borrow::Cow;

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::{Kwargs, Rest, Value, from_args};
use minijinja::{Error, ErrorKind};

use super::meter::{CHARACTER, ITEM, SLOT, produce, work};
use super::methods::is_dictionary;
use super::numbers::{Number, number};
use super::operators::{is_tuple, item};
use super::pytext;

fn invalid(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// `text % values`, where a tuple has several.
pub(super) fn printf(text: &str, values: &Value) -> Result<String, Error> {
    let is_one = !is_tuple(values);
    let len = values.len().filter(|_| !is_one).unwrap_or(1);
    work(text.len() * CHARACTER + ITEM * len)?;
    produce(SLOT * len)?;
    let list: Vec<Value> = if is_one {
        vec![values.clone()]
    } else {
        values.try_iter()?.collect()
    };
    let mut values_left = list.iter();
    let mut uses_names = false;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let (spec, after) = Conversion::parse(&rest[at + 1..])?;
        rest = after;
        if spec.kind == '%' {
            out.push('%');
            continue;
        }
        let mut next = || {
            values_left
                .next()
                .ok_or_else(|| invalid("not enough arguments for format string"))
        };
        let value = if let Some(name) = spec.name {
            if !is_one || !is_dictionary(values) {
                return Err(invalid("format requires a mapping"));
            }
            uses_names = true;
            let found = values
                .as_object()
                .and_then(|map| map.get_value(&name.into()));
            Cow::Owned(found.ok_or_else(|| invalid("a name that is not there"))?)
        } else {
            let width = spec.width.star(&mut next)?;
            let precision = spec.precision.star(&mut next)?;
            let value = next()?;
            push(&mut out, &spec.written(value, width, precision)?)?;
            continue;
        };
        let (width, precision) = (spec.width.number()?, spec.precision.number()?);
        push(&mut out, &spec.written(&value, width, precision)?)?;
    }
    out.push_str(rest);
    // What is left over is an error, unless it could have been asked for by name.
    let could_be_named = is_one
        && values.as_str().is_none()
        && (is_dictionary(values) || super::operators::is_list(values) || values.is_undefined());
    if values_left.next().is_some() && !uses_names && !could_be_named {
        return Err(invalid(
            "not all arguments converted during string formatting",
        ));
    }
    produce(text.len())?;
    Ok(out)
}

/// Appends what a conversion gave, and counts it.
fn push(out: &mut String, text: &str) -> Result<(), Error> {
    work(ITEM + text.len() * CHARACTER)?;
    produce(text.len())?;
    out.push_str(text);
    Ok(())
}

/// A width or a precision.
#[derive(Clone, Copy)]
enum Size {
    None,
    Number(usize),
    /// One of the values.
    Star,
}

impl Size {
    fn number(self) -> Result<Option<i64>, Error> {
        match self {
            Size::None => Ok(None),
            Size::Number(size) => {
                produce(size)?;
                Ok(i64::try_from(size).ok())
            }
            Size::Star => Err(invalid("* wants a tuple")),
        }
    }

    fn star<'v>(
        self,
        next: &mut impl FnMut() -> Result<&'v Value, Error>,
    ) -> Result<Option<i64>, Error> {
        match self {
            Size::Star => match number(next()?) {
                Some(Number::Int(size)) => {
                    let size = i64::try_from(size).map_err(|_| invalid("width too big"))?;
                    produce(usize::try_from(size.unsigned_abs()).unwrap_or(usize::MAX))?;
                    Ok(Some(size))
                }
                _ => Err(invalid("* wants int")),
            },
            size => size.number(),
        }
    }
}

/// `%(name)#0- +5.2f`
struct Conversion<'t> {
    name: Option<&'t str>,
    flags: &'t str,
    width: Size,
    precision: Size,
    kind: char,
}

impl<'t> Conversion<'t> {
    /// Parses what follows a `%`, and gives the text after it.
    fn parse(text: &'t str) -> Result<(Conversion<'t>, &'t str), Error> {
        let incomplete = || invalid("incomplete format");
        let mut rest = text;
        let mut name = None;
        if let Some(inner) = rest.strip_prefix('(') {
            let mut depth = 1;
            let end = inner
                .char_indices()
                .find(|(_, c)| {
                    depth += match c {
                        '(' => 1,
                        ')' => -1,
                        _ => 0,
                    };
                    depth == 0
                })
                .ok_or_else(|| invalid("incomplete format key"))?
                .0;
            name = Some(&inner[..end]);
            rest = &inner[end + 1..];
        }
        let flags_end = rest.find(|c| !"#0- +".contains(c)).unwrap_or(rest.len());
        let (flags, after) = rest.split_at(flags_end);
        let (width, after) = size(after)?;
        let (precision, after) = match after.strip_prefix('.') {
            None => (Size::None, after),
            Some(after) => match size(after)? {
                (Size::None, after) => (Size::Number(0), after),
                sized => sized,
            },
        };
        let after = after.strip_prefix(['h', 'l', 'L']).unwrap_or(after);
        let mut chars = after.chars();
        let kind = chars.next().ok_or_else(incomplete)?;
        let conversion = Conversion {
            name,
            flags,
            width,
            precision,
            kind,
        };
        Ok((conversion, chars.as_str()))
    }

    fn written(
        &self,
        value: &Value,
        width: Option<i64>,
        precision: Option<i64>,
    ) -> Result<String, Error> {
        let has = |flag: char| self.flags.contains(flag);
        let is_left = has('-') || width.is_some_and(|width| width < 0);
        let width = width.map_or(0, |width| {
            usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX)
        });
        let precision = precision.map(|precision| usize::try_from(precision).unwrap_or(0));
        let text = match self.kind {
            's' | 'r' | 'a' => {
                let text = match self.kind {
                    's' => pytext::str(value).into_owned(),
                    'r' => pytext::repr(value),
                    _ => pytext::ascii(value),
                };
                match precision {
                    Some(most) => text.chars().take(most).collect(),
                    None => text,
                }
            }
            'c' => match (number(value), value.as_str()) {
                (Some(Number::Int(code)), _) => u32::try_from(code)
                    .ok()
                    .and_then(char::from_u32)
                    .ok_or_else(|| invalid("%c arg not in range"))?
                    .to_string(),
                (_, Some(text)) if text.chars().count() == 1 => text.to_owned(),
                _ => return Err(invalid("%c requires int or char")),
            },
            'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
                return self.number(value, is_left, width, precision);
            }
            other => return Err(invalid(format!("unsupported format character {other:?}"))),
        };
        Ok(padded(text, width, if is_left { '<' } else { '>' }, ' '))
    }

    fn number(
        &self,
        value: &Value,
        is_left: bool,
        width: usize,
        precision: Option<usize>,
    ) -> Result<String, Error> {
        let has = |flag: char| self.flags.contains(flag);
        let mut parsed = match number(value) {
            Some(number) => number,
            // Integers too large to be worked with can still be written.
            None if "diu".contains(self.kind) && super::dumps::big_digits(value).is_some() => {
                let digits = super::dumps::big_digits(value).unwrap_or_default();
                return Ok(padded(
                    digits.to_owned(),
                    width,
                    if is_left { '<' } else { '>' },
                    ' ',
                ));
            }
            None => return Err(invalid("a number is required")),
        };
        if "diu".contains(self.kind)
            && let Number::Float(float) = parsed
        {
            parsed = Number::Int(
                super::numbers::whole(float)
                    .ok_or_else(|| invalid("cannot convert this float to an integer"))?,
            );
        }
        let kind = match (self.kind, parsed) {
            ('i' | 'u', _) => 'd',
            ('o' | 'x' | 'X', Number::Float(_)) => return Err(invalid("an integer is required")),
            (kind, _) => kind,
        };
        let (is_negative, digits) = match parsed {
            Number::Int(int) if "doxX".contains(kind) => {
                let size = int.unsigned_abs();
                let digits = match kind {
                    'o' => format!("{size:o}"),
                    'x' => format!("{size:x}"),
                    'X' => format!("{size:X}"),
                    _ => size.to_string(),
                };
                let digits = match precision {
                    Some(least) => padded(digits, least, '>', '0'),
                    None => digits,
                };
                (int < 0, digits)
            }
            number => {
                let float = number.as_f64();
                let spec = match (precision, has('#')) {
                    (Some(precision), alternate) => {
                        format!(
                            "{{:{}.{precision}{kind}}}",
                            if alternate { "#" } else { "" }
                        )
                    }
                    (None, true) => format!("{{:#{kind}}}"),
                    (None, false) => format!("{{:{kind}}}"),
                };
                let text = format(FormatStyle::StrFormat, &spec, &[Value::from(float.abs())])?;
                (float.is_sign_negative() && !float.is_nan(), text)
            }
        };
        let prefix = match kind {
            'o' if has('#') => "0o",
            'x' if has('#') => "0x",
            'X' if has('#') => "0X",
            _ => "",
        };
        let sign = match (is_negative, has('+'), has(' ')) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (.., true) => " ",
            _ => "",
        };
        let front = format!("{sign}{prefix}");
        if is_left {
            return Ok(padded(front + &digits, width, '<', ' '));
        }
        if has('0') {
            let room = width.saturating_sub(front.len());
            return Ok(front + &padded(digits, room, '>', '0'));
        }
        Ok(padded(front + &digits, width, '>', ' '))
    }
}

/// Digits or a star.
fn size(text: &str) -> Result<(Size, &str), Error> {
    if let Some(rest) = text.strip_prefix('*') {
        return Ok((Size::Star, rest));
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Ok((Size::None, rest));
    }
    let size = digits.parse().map_err(|_| invalid("width too big"))?;
    Ok((Size::Number(size), rest))
}

fn padded(text: String, width: usize, align: char, fill: char) -> String {
    let missing = width.saturating_sub(text.chars().count());
    if missing == 0 {
        return text;
    }
    let filling = |count: usize| std::iter::repeat_n(fill, count).collect::<String>();
    match align {
        '<' => text + &filling(missing),
        '^' => filling(missing / 2) + &text + &filling(missing - missing / 2),
        _ => filling(missing) + &text,
    }
}

/// `text.format(*args, **kwargs)`
pub(super) fn str_format(text: &str, args: &[Value]) -> Result<String, Error> {
    let (positional, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
    let mut fields = Fields {
        positional: &positional,
        named: &|name| {
            if kwargs.has(name) {
                kwargs.get::<Value>(name).map(Some)
            } else {
                Ok(None)
            }
        },
        next: Numbering::None,
    };
    let out = fields.replaced(text, 2)?;
    produce(text.len())?;
    Ok(out)
}

/// `text.format_map(mapping)`
pub(super) fn format_map(text: &str, mapping: &Value) -> Result<String, Error> {
    let mut fields = Fields {
        positional: &[],
        named: &|name| {
            Ok(mapping
                .as_object()
                .and_then(|map| map.get_value(&name.into())))
        },
        next: Numbering::None,
    };
    let out = fields.replaced(text, 2)?;
    produce(text.len())?;
    Ok(out)
}

/// Whether fields without a name are counted, or have numbers.
#[derive(Clone, Copy)]
enum Numbering {
    None,
    Automatic(usize),
    Manual,
}

struct Fields<'a> {
    positional: &'a [Value],
    named: &'a dyn Fn(&str) -> Result<Option<Value>, Error>,
    next: Numbering,
}

impl Fields<'_> {
    fn replaced(&mut self, text: &str, depth: usize) -> Result<String, Error> {
        if depth == 0 {
            return Err(invalid("Max string recursion exceeded"));
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let is_open = rest[at..].starts_with('{');
            let after = &rest[at + 1..];
            if after.starts_with(if is_open { '{' } else { '}' }) {
                out.push_str(&after[..1]);
                rest = &after[1..];
                continue;
            }
            if !is_open {
                return Err(invalid("Single '}' encountered in format string"));
            }
            let end = closing(after).ok_or_else(|| invalid("expected '}' before end of string"))?;
            push(&mut out, &self.field(&after[..end], depth)?)?;
            rest = &after[end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    /// `name!conversion:spec`
    fn field(&mut self, field: &str, depth: usize) -> Result<String, Error> {
        let mut bracket = false;
        let name_end = field
            .find(|c| {
                bracket = (bracket || c == '[') && c != ']';
                !bracket && (c == '!' || c == ':')
            })
            .unwrap_or(field.len());
        let (name, after) = field.split_at(name_end);
        let (conversion, spec) = match after.strip_prefix('!') {
            Some(after) => {
                let mut chars = after.chars();
                let conversion = chars.next();
                let spec = match (conversion, chars.as_str()) {
                    (Some(_), "") => "",
                    (Some(_), spec) => spec
                        .strip_prefix(':')
                        .ok_or_else(|| invalid("expected ':' after conversion specifier"))?,
                    _ => return Err(invalid("end of string while looking for conversion")),
                };
                (conversion, spec)
            }
            None => (None, after.strip_prefix(':').unwrap_or_default()),
        };
        let value = self.value(name)?;
        let spec = self.replaced(spec, depth - 1).or_else(|error| {
            if spec.contains(['{', '}']) {
                Err(error)
            } else {
                Ok(spec.to_owned())
            }
        })?;
        let value = match conversion {
            None => value,
            Some('s') => Value::from(pytext::str(&value).into_owned()),
            Some('r') => Value::from(pytext::repr(&value)),
            Some('a') => Value::from(pytext::ascii(&value)),
            Some(_) => return Err(invalid("Unknown conversion specifier")),
        };
        with_spec(&value, &spec)
    }

    /// `0.name[key]`
    fn value(&mut self, name: &str) -> Result<Value, Error> {
        let first_end = name.find(['.', '[']).unwrap_or(name.len());
        let (first, mut rest) = name.split_at(first_end);
        let by_index = |index: usize, fields: &Fields<'_>| {
            fields
                .positional
                .get(index)
                .cloned()
                .ok_or_else(|| invalid("Replacement index out of range for positional args"))
        };
        let mut value = if first.is_empty() {
            let index = match self.next {
                Numbering::None => 0,
                Numbering::Automatic(next) => next,
                Numbering::Manual => return Err(invalid("cannot switch to automatic numbering")),
            };
            self.next = Numbering::Automatic(index + 1);
            by_index(index, self)?
        } else if first.bytes().all(|byte| byte.is_ascii_digit()) {
            if matches!(self.next, Numbering::Automatic(_)) {
                return Err(invalid("cannot switch from automatic numbering"));
            }
            self.next = Numbering::Manual;
            by_index(first.parse().unwrap_or(usize::MAX), self)?
        } else {
            (self.named)(first)?.ok_or_else(|| invalid("a name that is not there"))?
        };
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('.') {
                let end = after.find(['.', '[']).unwrap_or(after.len());
                if end == 0 {
                    return Err(invalid("Empty attribute in format string"));
                }
                value = item(&value, &Value::from(&after[..end]))?;
                rest = &after[end..];
            } else if let Some((key, after)) =
                rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            {
                let key = match key.parse::<i64>() {
                    Ok(index) if key.bytes().all(|byte| byte.is_ascii_digit()) => {
                        Value::from(index)
                    }
                    _ if key.is_empty() => {
                        return Err(invalid("Empty attribute in format string"));
                    }
                    _ => Value::from(key),
                };
                value = item(&value, &key)?;
                rest = after;
            } else {
                return Err(invalid("Missing ']' in format string"));
            }
        }
        Ok(value)
    }
}

/// Where a field ends: fields may stand in its spec.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.char_indices()
        .find(|(_, c)| {
            depth += match c {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            depth == 0
        })
        .map(|(at, _)| at)
}

/// `format(value, spec)`
fn with_spec(value: &Value, spec: &str) -> Result<String, Error> {
    if spec.is_empty() {
        return Ok(pytext::str(value).into_owned());
    }
    for digits in spec.split(|c: char| !c.is_ascii_digit()) {
        if !digits.is_empty() {
            let digits = digits.parse::<i64>().ok();
            let width = digits.ok_or_else(|| invalid("too many digits in the format"))?;
            produce(usize::try_from(width).unwrap_or(usize::MAX))?;
        }
    }
    let Some(text) = value.as_str() else {
        if number(value).is_none() {
            return Err(invalid("unsupported format string"));
        }
        let value = match number(value) {
            Some(Number::Int(int)) if value.kind() == minijinja::value::ValueKind::Bool => {
                super::numbers::integer(int)
            }
            _ => value.clone(),
        };
        let spec = number_spec(&value, spec)?;
        return format(FormatStyle::StrFormat, &format!("{{:{spec}}}"), &[value]);
    };
    // [[fill]align][0][width][.precision][s]
    produce(4 * spec.len())?;
    let chars: Vec<char> = spec.chars().collect();
    let (fill, align, mut at) = match chars.as_slice() {
        [fill, align, ..] if "<>=^".contains(*align) => (*fill, *align, 2),
        [align, ..] if "<>=^".contains(*align) => (' ', *align, 1),
        _ => (' ', '<', 0),
    };
    let digits = |at: &mut usize| {
        let start = *at;
        while chars.get(*at).is_some_and(char::is_ascii_digit) {
            *at += 1;
        }
        chars[start..*at].iter().collect::<String>()
    };
    let is_explicit = at > 0;
    let (fill, align) = if chars.get(at) == Some(&'0') && !is_explicit {
        ('0', '<')
    } else {
        (fill, align)
    };
    let width = digits(&mut at).parse().unwrap_or(0);
    let mut most = None;
    if chars.get(at) == Some(&'.') {
        at += 1;
        let digits = digits(&mut at);
        most = Some(
            digits
                .parse()
                .map_err(|_| invalid("Format specifier missing precision"))?,
        );
    }
    if chars.get(at) == Some(&'s') {
        at += 1;
    }
    if at != chars.len() || align == '=' {
        return Err(invalid("Invalid format specifier for a text"));
    }
    let text: String = match most {
        Some(most) => text.chars().take(most).collect(),
        None => text.to_owned(),
    };
    Ok(padded(text, width, align, fill))
}

/// The spec of a number in what minijinja knows: without a locale `n` is `d` or `g`, and
/// an integer written as one has no precision (`formatter_unicode.c`).
fn number_spec<'s>(value: &Value, spec: &'s str) -> Result<Cow<'s, str>, Error> {
    let (before, kind) = match spec.char_indices().next_back() {
        Some((at, kind)) if kind.is_ascii_alphabetic() || kind == '%' => (&spec[..at], kind),
        _ => (spec, if value.is_integer() { 'd' } else { 'g' }),
    };
    let mut chars = before.chars();
    let is_filled = chars.next().is_some() && chars.next().is_some_and(|c| "<>=^".contains(c));
    let after_fill = if is_filled { chars.as_str() } else { before };
    if value.is_integer() && !"eEfFgG%".contains(kind) && after_fill.contains('.') {
        return Err(invalid("Precision not allowed in integer format specifier"));
    }
    if kind != 'n' {
        return Ok(Cow::Borrowed(spec));
    }
    if after_fill.contains([',', '_']) {
        return Err(invalid("Cannot specify a separator with 'n'"));
    }
    let kind = if value.is_integer() { 'd' } else { 'g' };
    Ok(Cow::Owned(format!("{before}{kind}")))
}
