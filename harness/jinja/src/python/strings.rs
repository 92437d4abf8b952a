//! The methods of Python's `str`. Those that split a text are in `splitting`.

use minijinja::value::{Kwargs, Rest, Tuple, Value, from_args};
use minijinja::{Error, ErrorKind};

use crate::meter::{CHARACTER, Cost, ENTRY, ITEM, LETTER, SLOT, produce, work};
use crate::python::arguments::{Arguments, count_of, positional};
use crate::python::casing::{capitalize, casefold, is_title, swapcase, title};
use crate::python::characters::{
    begins_identifier, continues_identifier, is_decimal, is_digit, is_letter, is_numeric,
    is_printable, is_space, trim,
};
use crate::python::dictionaries::{dictionary, entry, pairs};
use crate::python::formats::{format_map, str_format};
use crate::python::items::item;
use crate::python::iteration::iterate;
use crate::python::kinds::{is_dictionary, is_list, is_range, is_tuple, sequence_like};
use crate::python::markup::escaped;
use crate::python::numbers::{Number, clamped, number};
use crate::python::padding::{Side, only_char, pad};
use crate::python::splitting::{rsplit, split, splitlines};
use crate::python::text;
use crate::refusal::invalid;

/// Calls a method of `Markup` (markupsafe 3.0). Such a method escapes the texts that it inserts.
/// None if there is no method of this name.
pub(super) fn call_markup(
    text: &str,
    method: &str,
    args: &[Value],
) -> Option<Result<Value, Error>> {
    let result = match method {
        "join" => one(args).and_then(|items| join_escaped(text, &items)),
        "format" => str_format(text, args, true).map(Value::from),
        "format_map" => one(args)
            .and_then(|map| format_map(text, &map, true))
            .map(Value::from),
        "replace" | "center" | "ljust" | "rjust" if args.len() > 1 => escaped_argument(args)
            .and_then(|args| {
                call(text, method, &args)
                    .unwrap_or_else(|| Err(Error::from(ErrorKind::UnknownMethod)))
            }),
        _ => call(text, method, args)?,
    };
    Some(result.and_then(|result| as_markup(&result)))
}

/// Escapes the second argument of a method: the value that the method inserts into a `Markup`. It
/// need not be a text.
fn escaped_argument(args: &[Value]) -> Result<Vec<Value>, Error> {
    let mut args = args.to_vec();
    if !args[1].is_safe() {
        args[1] = Value::from(escaped(&text::str(&args[1]))?);
    }
    Ok(args)
}

/// A text as a `Markup`, and so are the texts in a list or a tuple.
fn as_markup(result: &Value) -> Result<Value, Error> {
    if let Some(text) = result.as_str() {
        return Ok(Value::from_safe_string(text.to_owned()));
    }
    if is_list(result) || is_tuple(result) {
        let len = result.len().unwrap_or(0);
        work(ITEM * len)?;
        produce(SLOT * len)?;
        let parts = result.try_iter()?.map(|part| as_markup(&part));
        return Ok(sequence_like(result, parts.collect::<Result<_, _>>()?));
    }
    Ok(result.clone())
}

/// `Markup.join(items)`: every item is escaped, and need not be a text.
fn join_escaped(separator: &str, items: &Value) -> Result<Value, Error> {
    let mut out = String::new();
    for (index, item) in iterate(items.clone())?.try_iter()?.enumerate() {
        let text = text::str(&item);
        work(ITEM)?;
        produce(separator.len() + text.len())?;
        if index > 0 {
            out.push_str(separator);
        }
        if item.is_safe() {
            out.push_str(&text);
        } else {
            out.push_str(&escaped(&text)?);
        }
    }
    Ok(Value::from(out))
}

/// Calls a method of `str`, or gives None if there is none of this name.
pub(crate) fn call(text: &str, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    if let Err(error) = charge(text, method, args) {
        return Some(Err(error));
    }
    Some(match method {
        "strip" => strip(args, |chars| trimmed(text, chars, true, true)),
        "lstrip" => strip(args, |chars| trimmed(text, chars, true, false)),
        "rstrip" => strip(args, |chars| trimmed(text, chars, false, true)),
        "title" => no_args(args).map(|()| Value::from(title(text))),
        "capitalize" => no_args(args).map(|()| Value::from(capitalize(text))),
        "split" => split(text, args),
        "replace" => replace(text, args),
        "rsplit" => rsplit(text, args),
        "partition" => one_text(args).and_then(|separator| partition(text, &separator, false)),
        "rpartition" => one_text(args).and_then(|separator| partition(text, &separator, true)),
        "find" => search(text, args, |part, wanted| part.find(wanted)).map(or_minus_one),
        "rfind" => search(text, args, |part, wanted| part.rfind(wanted)).map(or_minus_one),
        "index" => search(text, args, |part, wanted| part.find(wanted)).and_then(or_not_found),
        "rindex" => search(text, args, |part, wanted| part.rfind(wanted)).and_then(or_not_found),
        "count" => count(text, args),
        "startswith" => affix(text, args, |part, wanted| part.starts_with(wanted)),
        "endswith" => affix(text, args, |part, wanted| part.ends_with(wanted)),
        "zfill" => pad(text, args, Side::Zeros),
        "ljust" => pad(text, args, Side::Right),
        "rjust" => pad(text, args, Side::Left),
        "center" => pad(text, args, Side::Both),
        "upper" => no_args(args).map(|()| Value::from(text.to_uppercase())),
        "lower" => no_args(args).map(|()| Value::from(text.to_lowercase())),
        "swapcase" => no_args(args).map(|()| Value::from(swapcase(text))),
        "casefold" => no_args(args).map(|()| Value::from(casefold(text))),
        "splitlines" => splitlines(text, args),
        "format" => str_format(text, args, false).map(Value::from),
        "format_map" => one(args)
            .and_then(|map| format_map(text, &map, false))
            .map(Value::from),
        "join" => one(args).and_then(|items| join(text, &items)),
        "expandtabs" => expand_tabs(text, args),
        "translate" => one(args).and_then(|table| translate(text, &table)),
        "maketrans" => make_translation(args),
        "isdecimal" => no_args(args).map(|()| all(text, is_decimal)),
        "isdigit" => no_args(args).map(|()| all(text, is_digit)),
        "isnumeric" => no_args(args).map(|()| all(text, is_numeric)),
        "isalpha" => no_args(args).map(|()| all(text, is_letter)),
        "isalnum" => no_args(args).map(|()| all(text, |c| is_letter(c) || c.is_numeric())),
        "isascii" => no_args(args).map(|()| text.is_ascii().into()),
        "isprintable" => no_args(args).map(|()| text.chars().all(is_printable).into()),
        "isidentifier" => no_args(args).map(|()| is_identifier(text).into()),
        "isspace" => no_args(args).map(|()| all(text, is_space)),
        "istitle" => no_args(args).map(|()| is_title(text).into()),
        "islower" => no_args(args).map(|()| {
            let has_case = text.chars().any(char::is_lowercase);
            (has_case && !text.chars().any(char::is_uppercase)).into()
        }),
        "isupper" => no_args(args).map(|()| {
            let has_case = text.chars().any(char::is_uppercase);
            (has_case && !text.chars().any(char::is_lowercase)).into()
        }),
        "removeprefix" => one_text(args)
            .map(|prefix| Value::from(text.strip_prefix(prefix.as_str()).unwrap_or(text))),
        "removesuffix" => one_text(args)
            .map(|suffix| Value::from(text.strip_suffix(suffix.as_str()).unwrap_or(text))),
        _ => return None,
    })
}

/// Counts the cost of a method before it runs.
fn charge(text: &str, method: &str, args: &[Value]) -> Result<(), Error> {
    let cost = match method {
        "lower" | "upper" => {
            may_grow(text)?;
            Cost::SPELLS
        }
        // These look up every character several times.
        "capitalize" | "casefold" | "swapcase" | "title" => {
            may_grow(text)?;
            Cost {
                byte: 3 * LETTER,
                text: 2,
            }
        }
        // These search Unicode's tables.
        "isalnum" | "isalpha" | "isdecimal" | "isdigit" => Cost {
            byte: 3 * LETTER,
            text: 0,
        },
        "isidentifier" | "islower" | "isnumeric" | "isprintable" | "istitle" | "isupper" => Cost {
            byte: 2 * LETTER,
            text: 0,
        },
        "isascii" | "find" | "rfind" | "index" | "rindex" | "replace" => Cost::SEARCHES,
        "count" | "isspace" => Cost::READS,
        "expandtabs" | "splitlines" | "translate" => Cost::REWRITES,
        "maketrans" => {
            // It makes a dictionary with an entry for each character.
            for text in args.iter().filter_map(Value::as_str) {
                work(ITEM.saturating_mul(text.len()))?;
                produce((ENTRY + SLOT).saturating_mul(text.len()))?;
            }
            Cost::NOTHING
        }
        "split" | "rsplit" | "partition" | "rpartition" => Cost {
            text: 1,
            ..Cost::SEARCHES
        },
        // These look at no more of the text than their arguments have, or count by themselves.
        "startswith" | "endswith" | "strip" | "lstrip" | "rstrip" | "format" | "format_map"
        | "join" => Cost::NOTHING,
        _ => Cost::COPIES,
    };
    cost.charge_text(text)?;
    cost.charge(args)
}

/// Counts how much a text may grow when its case changes: `ΐ` becomes three letters.
pub(crate) fn may_grow(text: &str) -> Result<(), Error> {
    if text.is_ascii() {
        return Ok(());
    }
    produce(text.len().saturating_mul(2))
}

fn no_args(args: &[Value]) -> Result<(), Error> {
    from_args(args)
}

fn one(args: &[Value]) -> Result<Value, Error> {
    let (value,): (Value,) = from_args(args)?;
    Ok(value)
}

fn one_text(args: &[Value]) -> Result<String, Error> {
    as_text(&one(args)?).map(str::to_owned)
}

/// The text that a value is. Values of other types are not converted.
fn as_text(value: &Value) -> Result<&str, Error> {
    value
        .as_str()
        .ok_or_else(|| invalid(format!("must be a text, not {}", value.kind())))
}

/// `separator.join(texts)`
fn join(separator: &str, items: &Value) -> Result<Value, Error> {
    let mut out = String::new();
    for (index, item) in iterate(items.clone())?.try_iter()?.enumerate() {
        let item = as_text(&item)?;
        work(ITEM)?;
        produce(item.len() + separator.len())?;
        if index > 0 {
            out.push_str(separator);
        }
        out.push_str(item);
    }
    Ok(Value::from(out))
}

/// `str.expandtabs(tabsize=8)`
fn expand_tabs(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (positional, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
    let size = Arguments::of(["tabsize"], &positional, &kwargs)?.int(0, 8)?;
    // It is a C int.
    let size = i32::try_from(size).map_err(|_| invalid("the number is too large"))?;
    let size = usize::try_from(size).unwrap_or(0);
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' if size > 0 => {
                let missing = size - column % size;
                produce(missing)?;
                work(missing)?;
                out.extend(std::iter::repeat_n(' ', missing));
                column += missing;
            }
            '\t' => {}
            '\n' | '\r' => {
                out.push(c);
                column = 0;
            }
            c => {
                out.push(c);
                column += 1;
            }
        }
    }
    Ok(Value::from(out))
}

/// `str.isidentifier()`
fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(begins_identifier) && chars.all(continues_identifier)
}

/// Whether there are characters, and all of them are of a kind.
fn all(text: &str, is_kind: impl Fn(char) -> bool) -> Value {
    Value::from(!text.is_empty() && text.chars().all(is_kind))
}

/// `str.translate(table)`, where the table is anything with items by code point: mostly a
/// dictionary.
fn translate(text: &str, table: &Value) -> Result<Value, Error> {
    if text.is_empty() {
        return Ok(Value::from(""));
    }
    let has_items = is_dictionary(table) || is_list(table) || is_tuple(table) || is_range(table);
    if !has_items && table.as_str().is_none() {
        return Err(invalid(format!("{} has no items", table.kind())));
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        work(ITEM)?;
        let code = Value::from(u32::from(c));
        let found = if is_dictionary(table) {
            entry(table, &code)
        } else {
            Some(item(table, &code)?).filter(|found| !found.is_undefined())
        };
        match found {
            None => out.push(c),
            Some(value) if value.is_none() => {}
            Some(value) => match value.as_str() {
                Some(text) => {
                    produce(text.len())?;
                    out.push_str(text);
                }
                None => out.push(
                    value
                        .as_i64()
                        .and_then(|code| u32::try_from(code).ok())
                        .and_then(char::from_u32)
                        .ok_or_else(|| Error::from(ErrorKind::InvalidOperation))?,
                ),
            },
        }
    }
    Ok(Value::from(out))
}

/// `str.maketrans(x, y, z)`: a dictionary from code points. A single argument is a dictionary
/// already, from characters or code points.
fn make_translation(args: &[Value]) -> Result<Value, Error> {
    let code = |c: char| Value::from(u32::from(c));
    if let [table] = args {
        if !is_dictionary(table) {
            return Err(invalid(
                "if you give only one argument to maketrans it must be a dict",
            ));
        }
        let mut entries = Vec::new();
        for (key, value) in pairs(table)? {
            produce(ENTRY)?;
            let key = match (key.as_str(), number(&key)) {
                (Some(text), _) => code(only_char(text).ok_or_else(|| {
                    invalid("string keys in translate table must be of length 1")
                })?),
                (None, Some(Number::Int(_))) => key,
                _ => {
                    return Err(invalid(
                        "keys in translate table must be strings or integers",
                    ));
                }
            };
            entries.push((key, value));
        }
        return Ok(dictionary(entries));
    }
    let (from, to, without): (Value, Value, Option<Value>) = from_args(args)?;
    let (from, to) = (as_text(&from)?, as_text(&to)?);
    if from.chars().count() != to.chars().count() {
        return Err(invalid("the two texts must be of the same length"));
    }
    let mut pairs: Vec<(Value, Value)> = from.chars().map(code).zip(to.chars().map(code)).collect();
    if let Some(without) = &without {
        pairs.extend(
            as_text(without)?
                .chars()
                .map(|c| (code(c), Value::from(()))),
        );
    }
    Ok(Value::from_pairs(pairs))
}

fn strip<'t>(
    args: &[Value],
    trimmed: impl FnOnce(Option<&str>) -> Result<&'t str, Error>,
) -> Result<Value, Error> {
    match args {
        [] => trimmed(None).map(Value::from),
        [chars] if chars.is_none() => trimmed(None).map(Value::from),
        [chars] => match chars.as_str() {
            Some(chars) => trimmed(Some(chars)).map(Value::from),
            None => Err(invalid("strip takes text or none")),
        },
        _ => Err(Error::from(ErrorKind::TooManyArguments)),
    }
}

/// [`trim`], with its work and its result counted.
pub(crate) fn trimmed<'t>(
    text: &'t str,
    chars: Option<&str>,
    left: bool,
    right: bool,
) -> Result<&'t str, Error> {
    const FEW: usize = 16;
    produce(text.len())?;
    match chars {
        // Every character may have to be compared with all of them.
        Some(chars) if chars.len() > FEW => work(text.len().saturating_mul(chars.len()))?,
        _ => work(text.len().saturating_mul(2))?,
    }
    Ok(trim(text, chars, left, right))
}

/// `str.partition(sep)` and `str.rpartition(sep)`.
fn partition(text: &str, separator: &str, from_right: bool) -> Result<Value, Error> {
    if separator.is_empty() {
        return Err(invalid("empty separator"));
    }
    let parted = if from_right {
        text.rsplit_once(separator)
    } else {
        text.split_once(separator)
    };
    let parts = match parted {
        Some((before, after)) => [before, separator, after],
        None if from_right => ["", "", text],
        None => [text, "", ""],
    };
    Ok(Value::from(Tuple::from(parts.map(Value::from).to_vec())))
}

/// The part of a text that the optional bounds of a search leave, and the number of
/// characters before it; `None` where they leave nothing, not even an empty part.
fn bounded<'t>(
    text: &'t str,
    start: Option<&Value>,
    end: Option<&Value>,
) -> Result<Option<(&'t str, usize)>, Error> {
    if start.is_none() && end.is_none() {
        return Ok(Some((text, 0)));
    }
    work(text.len().saturating_mul(4))?;
    let len = text.chars().count();
    let index = |value: Option<&Value>, otherwise: usize| -> Result<usize, Error> {
        let Some(value) = value.filter(|value| !value.is_none()) else {
            return Ok(otherwise);
        };
        let Some(Number::Int(index)) = number(value) else {
            return Err(invalid("a bound must be an integer or none"));
        };
        let index = clamped(index);
        Ok(match usize::try_from(index) {
            Ok(index) => index,
            Err(_) => len.saturating_sub(usize::try_from(index.unsigned_abs()).unwrap_or(len)),
        })
    };
    let (start, end) = (index(start, 0)?, index(end, len)?.min(len));
    if start > end {
        return Ok(None);
    }
    let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
    Ok(Some((&text[byte(start)..byte(end)], start)))
}

/// The text that a search looks for, and its optional bounds.
fn wanted_within(args: &[Value]) -> Result<(&Value, Option<&Value>, Option<&Value>), Error> {
    match positional(args, 1)? {
        [Some(wanted), start, end] => Ok((wanted, start, end)),
        _ => Err(Error::from(ErrorKind::MissingArgument)),
    }
}

/// The position of a text in another, in characters: `str.find(sub, start, end)` and similar
/// methods.
fn search(
    text: &str,
    args: &[Value],
    find: impl FnOnce(&str, &str) -> Option<usize>,
) -> Result<Option<usize>, Error> {
    let (wanted, start, end) = wanted_within(args)?;
    let wanted = as_text(wanted)?;
    let found = bounded(text, start, end)?.and_then(|(part, before)| {
        find(part, wanted).map(|at| before + part[..at].chars().count())
    });
    Ok(found)
}

fn or_minus_one(found: Option<usize>) -> Value {
    found.map_or(Value::from(-1), Value::from)
}

/// An index, or the `ValueError` of `index`.
pub(super) fn or_not_found(found: Option<usize>) -> Result<Value, Error> {
    found
        .map(Value::from)
        .ok_or_else(|| invalid("it is not there"))
}

/// `str.count(sub, start, end)`.
fn count(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (wanted, start, end) = wanted_within(args)?;
    let wanted = as_text(wanted)?;
    let part = bounded(text, start, end)?;
    Ok(Value::from(
        part.map_or(0, |(part, _)| part.matches(wanted).count()),
    ))
}

/// `str.startswith(prefix or prefixes, start, end)` and `str.endswith`.
fn affix(text: &str, args: &[Value], has: impl Fn(&str, &str) -> bool) -> Result<Value, Error> {
    let (wanted, start, end) = wanted_within(args)?;
    let part = bounded(text, start, end)?;
    let is_there = |wanted: &Value| match wanted.as_str() {
        Some(wanted) => {
            work(ITEM + wanted.len())?;
            Ok(part.is_some_and(|(part, _)| has(part, wanted)))
        }
        None => Err(invalid(
            "startswith and endswith take text or a tuple of texts",
        )),
    };
    if !wanted.is_tuple() {
        return is_there(wanted).map(Value::from);
    }
    for wanted in wanted.try_iter()? {
        if is_there(&wanted)? {
            return Ok(Value::from(true));
        }
    }
    Ok(Value::from(false))
}

/// `str.replace(old, new, count=-1)`.
fn replace(text: &str, args: &[Value]) -> Result<Value, Error> {
    let [Some(old), Some(new), count] = positional(args, 2)? else {
        return Err(Error::from(ErrorKind::MissingArgument));
    };
    let count = count.map(count_of).transpose()?;
    replaced(text, as_text(old)?, as_text(new)?, count)
}

/// A text with another replaced in it, counted before it is made.
pub(crate) fn replaced(
    text: &str,
    old: &str,
    new: &str,
    count: Option<i64>,
) -> Result<Value, Error> {
    let at_most = count
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(usize::MAX);
    work(
        text.len()
            .saturating_mul(if old.len() < 2 { CHARACTER } else { 2 }),
    )?;
    let found = text.matches(old).take(at_most).count();
    work(found.saturating_mul(ITEM / 4))?;
    produce(text.len().saturating_add(new.len().saturating_mul(found)))?;
    Ok(Value::from(text.replacen(old, new, found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected values are what CPython 3.11 gives.
    #[test]
    fn titles() {
        assert_eq!(title("they're here"), "They'Re Here");
        assert_eq!(title("hELLO wORLD-2nd"), "Hello World-2Nd");
    }
}
