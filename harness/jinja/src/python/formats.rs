//! Python's formats with braces: `'{}'.format(x)`.
//!
//! This module parses a format as CPython 3.11 does (`string_format.h`).

use minijinja::value::{Kwargs, Rest, Value, from_args};
use minijinja::{Error, ErrorKind};

use crate::meter::{CHARACTER, ITEM, produce, work};
use crate::python::attributes::attribute;
use crate::python::dictionaries::entry;
use crate::python::items::{index_or_name, item};
use crate::python::markup::escaped;
use crate::python::numbers::number;
use crate::python::specs;
use crate::python::text;
use crate::refusal::invalid;

/// `text.format(*args, **kwargs)`
pub(super) fn str_format(text: &str, args: &[Value], is_markup: bool) -> Result<String, Error> {
    let (positional, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
    formatted(text, is_markup, &positional, &|name| {
        if kwargs.has(name) {
            kwargs.get::<Value>(name).map(Some)
        } else {
            Ok(None)
        }
    })
}

/// `text.format_map(mapping)`
pub(super) fn format_map(text: &str, mapping: &Value, is_markup: bool) -> Result<String, Error> {
    formatted(text, is_markup, &[], &|name| {
        Ok(entry(mapping, &name.into()))
    })
}

/// A format with its fields replaced by values, which they name by position or by name.
fn formatted(
    text: &str,
    is_markup: bool,
    positional: &[Value],
    named: &ValueByName<'_>,
) -> Result<String, Error> {
    let mut fields = FormatFields {
        positional,
        named,
        is_markup,
        next: Numbering::None,
    };
    let out = fields.replaced(text, 2)?;
    produce(text.len())?;
    Ok(out)
}

/// Gives the value of a name, if there is one.
type ValueByName<'a> = dyn Fn(&str) -> Result<Option<Value>, Error> + 'a;

/// How the fields without a name are numbered until now.
#[derive(Clone, Copy)]
enum Numbering {
    None,
    /// They are counted, and this is the next.
    Automatic(usize),
    Manual,
}

/// The values that the fields of a format may name.
struct FormatFields<'a> {
    positional: &'a [Value],
    named: &'a ValueByName<'a>,
    /// Whether the text is a `Markup`, which escapes what it is given.
    is_markup: bool,
    next: Numbering,
}

impl FormatFields<'_> {
    /// A format with its fields replaced. `depth` is how deeply fields may be nested.
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

    /// The text of a field: `name!conversion:spec`.
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
            Some('s') => Value::from(text::str(&value).into_owned()),
            Some('r') => Value::from(text::repr(&value)),
            Some('a') => Value::from(text::ascii(&value)),
            Some(_) => return Err(invalid("Unknown conversion specifier")),
        };
        if self.is_markup && value.is_safe() {
            if !spec.is_empty() {
                return Err(invalid("a Markup has no format"));
            }
            return Ok(text::str(&value).into_owned());
        }
        let formatted = with_spec(&value, &spec)?;
        if self.is_markup {
            return escaped(&formatted);
        }
        Ok(formatted)
    }

    /// The value that a field names: `0.name[key]`.
    fn value(&mut self, name: &str) -> Result<Value, Error> {
        let first_end = name.find(['.', '[']).unwrap_or(name.len());
        let (first, mut rest) = name.split_at(first_end);
        let by_index = |index: usize, fields: &FormatFields<'_>| {
            fields
                .positional
                .get(index)
                .cloned()
                .ok_or_else(|| invalid("Replacement index out of range for positional args"))
        };
        let mut value = if name.is_empty() {
            let index = match self.next {
                Numbering::None => 0,
                Numbering::Automatic(next) => next,
                Numbering::Manual => return Err(invalid("cannot switch to automatic numbering")),
            };
            self.next = Numbering::Automatic(index + 1);
            by_index(index, self)?
        } else if !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit()) {
            // Jinja2's sandbox uses `Formatter.vformat` of Python's `string` module. It only looks
            // at fields that consist of a number.
            if rest.is_empty() {
                if matches!(self.next, Numbering::Automatic(_)) {
                    return Err(invalid("cannot switch from automatic numbering"));
                }
                self.next = Numbering::Manual;
            }
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
                value = attribute_or_item(&value, &after[..end])?;
                rest = &after[end..];
            } else if let Some((key, after)) =
                rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            {
                if key.is_empty() {
                    return Err(invalid("Empty attribute in format string"));
                }
                value = item(&value, &index_or_name(key))?;
                rest = after;
            } else {
                return Err(invalid("Missing ']' in format string"));
            }
        }
        Ok(value)
    }
}

/// `value.name`, as Jinja2's sandbox looks it up: an attribute, or else an item.
fn attribute_or_item(value: &Value, name: &str) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    attribute(value, name)
}

/// Where a field ends. Its spec may have fields of its own.
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
        return Ok(text::str(value).into_owned());
    }
    work(spec.len().saturating_mul(CHARACTER))?;
    produce(4 * spec.len())?;
    match (value.as_str(), number(value)) {
        (Some(text), _) => specs::text(text, spec),
        (_, Some(number)) => specs::number(number, spec),
        _ => Err(invalid("unsupported format string")),
    }
}

/// Appends what a conversion or a field gave, and counts it.
pub(super) fn push(out: &mut String, text: &str) -> Result<(), Error> {
    work(ITEM + text.len() * CHARACTER)?;
    produce(text.len())?;
    out.push_str(text);
    Ok(())
}
