//! The methods of Python's `str` that minijinja-contrib lacks or does differently.

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::{Kwargs, Rest, Tuple, Value, from_args};
use minijinja::{Error, ErrorKind};

use super::meter::produce;
use super::pytext::{is_space, lines};

/// Calls a method of `str`, if it is one of those here.
pub(super) fn call(text: &str, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    Some(match method {
        "strip" => strip(args, |chars| trim(text, chars, true, true)),
        "lstrip" => strip(args, |chars| trim(text, chars, true, false)),
        "rstrip" => strip(args, |chars| trim(text, chars, false, true)),
        "title" => no_args(args).map(|()| Value::from(title(text))),
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
        "swapcase" => no_args(args).map(|()| Value::from(swapcase(text))),
        "casefold" => no_args(args).map(|()| Value::from(text.to_lowercase().replace('ß', "ss"))),
        "splitlines" => splitlines(text, args),
        "format" => formatted(FormatStyle::StrFormat, text, args),
        "removeprefix" => one_text(args)
            .map(|prefix| Value::from(text.strip_prefix(prefix.as_str()).unwrap_or(text))),
        "removesuffix" => one_text(args)
            .map(|suffix| Value::from(text.strip_suffix(suffix.as_str()).unwrap_or(text))),
        _ => return None,
    })
}

fn no_args(args: &[Value]) -> Result<(), Error> {
    from_args(args)
}

fn one_text(args: &[Value]) -> Result<String, Error> {
    let (text,): (String,) = from_args(args)?;
    Ok(text)
}

fn strip<'t>(
    args: &[Value],
    trimmed: impl FnOnce(Option<&str>) -> &'t str,
) -> Result<Value, Error> {
    let (chars,): (Option<Value>,) = from_args(args)?;
    match chars {
        None => Ok(Value::from(trimmed(None))),
        Some(chars) if chars.is_none() => Ok(Value::from(trimmed(None))),
        Some(chars) => match chars.as_str() {
            Some(chars) => Ok(Value::from(trimmed(Some(chars)))),
            None => Err(Error::new(
                ErrorKind::InvalidOperation,
                "strip takes text or none",
            )),
        },
    }
}

/// `str.strip`, `str.lstrip`, `str.rstrip`: white space, or the given characters.
pub(super) fn trim<'t>(text: &'t str, chars: Option<&str>, left: bool, right: bool) -> &'t str {
    let taken = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    let text = if left {
        text.trim_start_matches(taken)
    } else {
        text
    };
    if right {
        text.trim_end_matches(taken)
    } else {
        text
    }
}

/// `str.title()`: the first letter of each run of letters in upper case, the rest in
/// lower case; an apostrophe ends a run.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_word = false;
    for c in text.chars() {
        let is_cased = c.is_lowercase() || c.is_uppercase();
        if is_cased && in_word {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        in_word = is_cased;
    }
    out
}

/// What `split` and `rsplit` are told: the separator, white space without one, and how
/// often they may split.
struct Splitting {
    separator: Option<String>,
    at_most: usize,
}

impl Splitting {
    /// Of the arguments `(sep=None, maxsplit=-1)`.
    fn of(args: &[Value]) -> Result<Splitting, Error> {
        let (positional, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
        let mut positional = positional.0.into_iter();
        let separator = match positional.next() {
            Some(separator) => Some(separator),
            None => kwargs.get::<Option<Value>>("sep")?,
        };
        let at_most: i64 = match positional.next() {
            Some(at_most) => at_most.try_into()?,
            None => kwargs.get::<Option<i64>>("maxsplit")?.unwrap_or(-1),
        };
        kwargs.assert_all_used()?;
        let invalid = |message| Error::new(ErrorKind::InvalidOperation, message);
        let separator = match separator.filter(|separator| !separator.is_none()) {
            None => None,
            Some(separator) => match separator.as_str() {
                Some("") => return Err(invalid("empty separator")),
                Some(text) => Some(text.to_owned()),
                None => return Err(invalid("split takes text or none")),
            },
        };
        Ok(Splitting {
            separator,
            at_most: usize::try_from(at_most).unwrap_or(usize::MAX - 1),
        })
    }
}

/// `str.split(sep=None, maxsplit=-1)`.
fn split(text: &str, args: &[Value]) -> Result<Value, Error> {
    let Splitting { separator, at_most } = Splitting::of(args)?;
    produce(text.len())?;
    let parts = match &separator {
        Some(separator) => text.splitn(at_most + 1, separator.as_str()).collect(),
        None => split_space(text, at_most),
    };
    Ok(parts.into_iter().map(Value::from).collect())
}

/// `str.rsplit(sep=None, maxsplit=-1)`.
fn rsplit(text: &str, args: &[Value]) -> Result<Value, Error> {
    let Splitting { separator, at_most } = Splitting::of(args)?;
    produce(text.len())?;
    let parts: Vec<&str> = match &separator {
        Some(separator) => text.rsplitn(at_most + 1, separator.as_str()).collect(),
        None => rsplit_space(text, at_most),
    };
    Ok(parts.into_iter().rev().map(Value::from).collect())
}

/// From right to left.
fn rsplit_space(text: &str, at_most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while !rest.is_empty() {
        if parts.len() == at_most {
            // What is left keeps its inner space, and the space before it.
            parts.push(rest);
            break;
        }
        let start = rest
            .char_indices()
            .rfind(|(_, c)| is_space(*c))
            .map_or(0, |(at, c)| at + c.len_utf8());
        parts.push(&rest[start..]);
        rest = rest[..start].trim_end_matches(is_space);
    }
    parts
}

/// `str.partition(sep)` and `str.rpartition(sep)`.
fn partition(text: &str, separator: &str, from_right: bool) -> Result<Value, Error> {
    if separator.is_empty() {
        return Err(Error::new(ErrorKind::InvalidOperation, "empty separator"));
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
    let len = text.chars().count();
    let index = |value: Option<&Value>, otherwise: usize| -> Result<usize, Error> {
        let Some(value) = value.filter(|value| !value.is_none()) else {
            return Ok(otherwise);
        };
        let index = i64::try_from(value.clone())?;
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

/// Where a text stands in another, in characters: `str.find(sub, start, end)` and its kin.
fn search(
    text: &str,
    args: &[Value],
    find: impl FnOnce(&str, &str) -> Option<usize>,
) -> Result<Option<usize>, Error> {
    let (wanted, start, end): (String, Option<Value>, Option<Value>) = from_args(args)?;
    let found = bounded(text, start.as_ref(), end.as_ref())?.and_then(|(part, before)| {
        find(part, &wanted).map(|at| before + part[..at].chars().count())
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
        .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "it is not there"))
}

/// `str.count(sub, start, end)`.
fn count(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (wanted, start, end): (String, Option<Value>, Option<Value>) = from_args(args)?;
    let part = bounded(text, start.as_ref(), end.as_ref())?;
    Ok(Value::from(part.map_or(0, |(part, _)| {
        part.matches(wanted.as_str()).count()
    })))
}

/// `str.startswith(prefix or prefixes, start, end)` and `str.endswith`.
fn affix(text: &str, args: &[Value], has: impl Fn(&str, &str) -> bool) -> Result<Value, Error> {
    let (wanted, start, end): (Value, Option<Value>, Option<Value>) = from_args(args)?;
    let part = bounded(text, start.as_ref(), end.as_ref())?;
    let is_there = |wanted: &Value| match wanted.as_str() {
        Some(wanted) => Ok(part.is_some_and(|(part, _)| has(part, wanted))),
        None => Err(Error::new(
            ErrorKind::InvalidOperation,
            "startswith and endswith take text or a tuple of texts",
        )),
    };
    if !wanted.is_tuple() {
        return is_there(&wanted).map(Value::from);
    }
    for wanted in wanted.try_iter()? {
        if is_there(&wanted)? {
            return Ok(Value::from(true));
        }
    }
    Ok(Value::from(false))
}

/// A format applied to values, in printf's style or `str.format`'s. The widths are counted
/// before there is a text as wide: those in the format, and numbers that may be one.
pub(super) fn formatted(style: FormatStyle, text: &str, values: &[Value]) -> Result<Value, Error> {
    for digits in text.split(|c: char| !c.is_ascii_digit()) {
        if !digits.is_empty() {
            produce(digits.parse().unwrap_or(usize::MAX))?;
        }
    }
    let takes_widths = text.contains(":{") || text.contains('*');
    for value in values.iter().filter(|_| takes_widths) {
        produce(value.as_usize().unwrap_or(0))?;
    }
    let text = format(style, text, values)?;
    produce(text.len())?;
    Ok(Value::from(text))
}

/// Where a text is filled up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Both,
    /// On the left with zeros, behind a sign.
    Zeros,
}

/// `str.ljust(width, fillchar)`, `str.rjust`, `str.center` and `str.zfill(width)`.
fn pad(text: &str, args: &[Value], side: Side) -> Result<Value, Error> {
    let (width, fill): (i64, Option<String>) = from_args(args)?;
    let fill = match (side, fill) {
        (Side::Zeros, None) => '0',
        (_, None) => ' ',
        (_, Some(fill)) => {
            let mut chars = fill.chars();
            match (side, chars.next(), chars.next()) {
                (Side::Left | Side::Right | Side::Both, Some(fill), None) => fill,
                _ => {
                    return Err(Error::new(
                        ErrorKind::InvalidOperation,
                        "the fill character must be exactly one character",
                    ));
                }
            }
        }
    };
    let width = usize::try_from(width).unwrap_or(0);
    let missing = width.saturating_sub(text.chars().count());
    produce(
        missing
            .saturating_mul(fill.len_utf8())
            .saturating_add(text.len()),
    )?;
    let filling = |count: usize| std::iter::repeat_n(fill, count).collect::<String>();
    Ok(Value::from(match side {
        Side::Left => filling(missing) + text,
        Side::Right => text.to_owned() + &filling(missing),
        Side::Both => {
            // CPython's `str.center`: the odd one goes to the left where the width is odd.
            let left = missing / 2 + (missing & width & 1);
            filling(left) + text + &filling(missing - left)
        }
        Side::Zeros => match text.strip_prefix(['+', '-']) {
            Some(digits) => text[..1].to_owned() + &filling(missing) + digits,
            None => filling(missing) + text,
        },
    }))
}

/// `str.swapcase()`.
fn swapcase(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_uppercase() {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
    }
    out
}

/// `str.splitlines(keepends=False)`.
fn splitlines(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (keep_ends, kwargs): (Option<bool>, Kwargs) = from_args(args)?;
    let keep_ends = keep_ends.or(kwargs.get("keepends")?).unwrap_or(false);
    kwargs.assert_all_used()?;
    produce(16 * text.len())?;
    Ok(lines(text, keep_ends)
        .into_iter()
        .map(Value::from)
        .collect())
}

fn split_space(text: &str, at_most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        if parts.len() == at_most {
            // What is left keeps its inner space, but not the space at its end.
            parts.push(rest.trim_end_matches(is_space));
            break;
        }
        let end = rest.find(is_space).unwrap_or(rest.len());
        parts.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(is_space);
    }
    parts
}

/// `str.replace(old, new, count=-1)`.
fn replace(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (old, new, count): (String, String, Option<i64>) = from_args(args)?;
    replaced(text, &old, &new, count)
}

/// Replaces, and counts what that produces before it is there.
pub(super) fn replaced(
    text: &str,
    old: &str,
    new: &str,
    count: Option<i64>,
) -> Result<Value, Error> {
    let at_most = count
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(usize::MAX);
    let found = text.matches(old).take(at_most).count();
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

    #[test]
    fn white_space_of_python() {
        assert_eq!(trim("\u{1C}\u{A0} a\u{85}\u{1F}", None, true, true), "a");
        assert_eq!(
            trim("\u{FEFF}a\u{200B}", None, true, true),
            "\u{FEFF}a\u{200B}"
        );
        assert_eq!(trim("xxaxx", Some("x"), true, false), "axx");
    }

    #[test]
    fn splits() {
        assert_eq!(split_space("  a  b c ", usize::MAX - 1), ["a", "b", "c"]);
        assert_eq!(split_space("  a  b  c ", 1), ["a", "b  c"]);
        assert!(split_space(" ", 5).is_empty());
    }
}
