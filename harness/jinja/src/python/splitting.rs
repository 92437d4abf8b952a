//! The methods of `str` that split a text.

use minijinja::value::{Kwargs, Rest, Value, from_args};
use minijinja::{Error, ErrorKind};

use crate::meter::{ITEM, OBJECT, SLOT, produce, work};
use crate::python::arguments::{Arguments, count_of};
use crate::python::characters::{is_space, lines};
use crate::refusal::invalid;

/// The arguments of `split` and `rsplit`: the separator, which is white space if it is
/// missing, and how often they may split.
struct Splitting {
    separator: Option<String>,
    at_most: usize,
}

impl Splitting {
    /// Reads the arguments `(sep=None, maxsplit=-1)`.
    fn of(args: &[Value]) -> Result<Splitting, Error> {
        let (positional, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
        if positional.len() > 2 {
            return Err(Error::from(ErrorKind::TooManyArguments));
        }
        let mut positional = positional.0.into_iter();
        let separator = match positional.next() {
            Some(separator) => Some(separator),
            None if kwargs.has("sep") => Some(kwargs.get::<Value>("sep")?),
            None => None,
        };
        let at_most: i64 = match positional.next() {
            Some(at_most) => count_of(&at_most)?,
            None if kwargs.has("maxsplit") => count_of(&kwargs.get::<Value>("maxsplit")?)?,
            None => -1,
        };
        kwargs.assert_all_used()?;
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
pub(super) fn split(text: &str, args: &[Value]) -> Result<Value, Error> {
    let Splitting { separator, at_most } = Splitting::of(args)?;
    match &separator {
        Some(separator) => parts(text.splitn(at_most + 1, separator.as_str())),
        None => parts(split_space(text, at_most)),
    }
    .map(Value::from)
}

/// `str.rsplit(sep=None, maxsplit=-1)`.
pub(super) fn rsplit(text: &str, args: &[Value]) -> Result<Value, Error> {
    let Splitting { separator, at_most } = Splitting::of(args)?;
    let mut parts = match &separator {
        Some(separator) => parts(text.rsplitn(at_most + 1, separator.as_str())),
        None => parts(rsplit_space(text, at_most)),
    }?;
    parts.reverse();
    Ok(Value::from(parts))
}

/// The parts of a text as values, counted one by one.
fn parts<'t>(parts: impl Iterator<Item = &'t str>) -> Result<Vec<Value>, Error> {
    let mut values = Vec::new();
    produce(OBJECT / 4)?;
    for part in parts {
        work(ITEM)?;
        produce(2 * SLOT)?;
        values.push(Value::from(part));
    }
    Ok(values)
}

/// The parts of a text between white space, from right to left.
fn rsplit_space(text: &str, at_most: usize) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_end_matches(is_space);
    let mut count = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if count == at_most {
            // The last part keeps the white space within and before it.
            return Some(std::mem::take(&mut rest));
        }
        count += 1;
        let start = rest
            .char_indices()
            .rfind(|(_, c)| is_space(*c))
            .map_or(0, |(at, c)| at + c.len_utf8());
        let part = &rest[start..];
        rest = rest[..start].trim_end_matches(is_space);
        Some(part)
    })
}

/// The parts of a text between white space, from left to right.
fn split_space(text: &str, at_most: usize) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start_matches(is_space);
    let mut count = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if count == at_most {
            // The last part keeps the white space within and after it.
            return Some(std::mem::take(&mut rest));
        }
        count += 1;
        let end = rest.find(is_space).unwrap_or(rest.len());
        let part = &rest[..end];
        rest = rest[end..].trim_start_matches(is_space);
        Some(part)
    })
}

/// `str.splitlines(keepends=False)`.
pub(super) fn splitlines(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (positional, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
    let keep_ends = Arguments::of(["keepends"], &positional, &kwargs)?.int(0, 0)? != 0;
    parts(lines(text, keep_ends)).map(Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected values are what CPython 3.11 gives.
    #[test]
    fn splits() {
        let split = |text, at_most| split_space(text, at_most).collect::<Vec<_>>();
        assert_eq!(split("  a  b c ", usize::MAX - 1), ["a", "b", "c"]);
        assert_eq!(split("  a  b  c ", 1), ["a", "b  c "]);
        assert!(split(" ", 5).is_empty());
    }
}
