//! Python's formats with a percent sign: `'%s' % x`.
//!
//! This module parses a format as CPython 3.11 does (`unicodeobject.c`).

use std::borrow::Cow;

use minijinja::Error;
use minijinja::value::Value;

use crate::meter::{CHARACTER, ITEM, SLOT, produce, work};
use crate::python::dictionaries::entry;
use crate::python::formats::push;
use crate::python::kinds::{is_dictionary, is_list, is_range, is_tuple};
use crate::python::markup::escaped;
use crate::python::numbers::{Number, big_digits, number, whole};
use crate::python::padding::padded;
use crate::python::specs;
use crate::python::text;
use crate::refusal::invalid;

/// `text % values`: a tuple holds several values, anything else is one. A `Markup` escapes
/// what it is given (markupsafe's `Markup.__mod__`).
pub(crate) fn printf(text: &str, values: &Value, is_markup: bool) -> Result<String, Error> {
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
        let conversion = &rest[at + 1..];
        // Only so: with a width or a name it takes a value, and is then refused.
        if let Some(after) = conversion.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let (mut spec, after) = Conversion::parse(conversion)?;
        spec.is_markup = is_markup;
        rest = after;
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
            let found = entry(values, &name.into());
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
    // Values that are left over are an error, unless the format could have asked for them by
    // name.
    let could_be_named = is_one
        && values.as_str().is_none()
        && (is_dictionary(values) || is_list(values) || is_range(values) || values.is_undefined());
    if values_left.next().is_some() && !uses_names && !could_be_named {
        return Err(invalid(
            "not all arguments converted during string formatting",
        ));
    }
    produce(text.len())?;
    Ok(out)
}

/// A width or a precision in a format.
#[derive(Clone, Copy)]
enum Size {
    None,
    Number(usize),
    /// `*`: the next of the values.
    Star,
}

impl Size {
    /// The size, if the format has one that is a number.
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

    /// The size, which may be the next of the values.
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

/// A conversion in a format: `%(name)#0- +5.2f`.
struct Conversion<'t> {
    name: Option<&'t str>,
    flags: &'t str,
    width: Size,
    precision: Size,
    kind: char,
    /// Whether the value is escaped.
    is_markup: bool,
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
            is_markup: false,
        };
        Ok((conversion, chars.as_str()))
    }

    /// A value as the conversion writes it.
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
                    's' => text::str(value).into_owned(),
                    'r' => text::repr(value),
                    _ => text::ascii(value),
                };
                let is_escaped = self.kind == 's' && value.is_safe();
                let text = if self.is_markup && !is_escaped {
                    escaped(&text)?
                } else {
                    text
                };
                match precision {
                    Some(most) => text.chars().take(most).collect(),
                    None => text,
                }
            }
            'c' if self.is_markup => return Err(invalid("%c requires int or char")),
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

    /// A number as the conversion writes it.
    fn number(
        &self,
        value: &Value,
        is_left: bool,
        width: usize,
        precision: Option<usize>,
    ) -> Result<String, Error> {
        let has = |flag: char| self.flags.contains(flag);
        // A `Markup` has `int()` read the text that represents a number.
        let from_text = || match value.as_str().filter(|_| self.is_markup)?.trim().parse() {
            Ok(int) => Some(Number::Int(int)),
            Err(_) => None,
        };
        let Some(mut parsed) = number(value).or_else(from_text) else {
            // An integer that is too large to calculate with can still be written.
            return match big_digits(value) {
                Some(digits) if "diu".contains(self.kind) => {
                    let align = if is_left { '<' } else { '>' };
                    Ok(padded(digits.to_owned(), width, align, ' '))
                }
                _ => Err(invalid("a number is required")),
            };
        };
        if "diu".contains(self.kind)
            && let Number::Float(float) = parsed
        {
            parsed = Number::Int(
                whole(float).ok_or_else(|| invalid("cannot convert this float to an integer"))?,
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
                let alternate = if has('#') { "#" } else { "" };
                let precision = precision.map_or_else(String::new, |digits| format!(".{digits}"));
                let text = specs::number(
                    Number::Float(float.abs()),
                    &format!("{alternate}{precision}{kind}"),
                )?;
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

/// Takes digits or a star from the beginning of a text.
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
