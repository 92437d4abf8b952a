//! Texts that are filled up to a width.

use minijinja::value::Value;
use minijinja::{Error, ErrorKind};

use crate::meter::produce;
use crate::python::arguments::{count_of, positional};
use crate::refusal::invalid;

/// A text that is filled up to a width: after it (`<`), on both sides (`^`) or before it.
pub(super) fn padded(text: String, width: usize, align: char, fill: char) -> String {
    let missing = width.saturating_sub(text.chars().count());
    if missing == 0 {
        return text;
    }
    let filling = |count| filling(fill, count);
    match align {
        '<' => text + &filling(missing),
        '^' => filling(missing / 2) + &text + &filling(missing - missing / 2),
        _ => filling(missing) + &text,
    }
}

fn filling(fill: char, count: usize) -> String {
    std::iter::repeat_n(fill, count).collect()
}

/// The character of a text that has only one.
pub(super) fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// Where a text is filled up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
    Both,
    /// On the left with zeros, after a sign.
    Zeros,
}

/// `str.ljust(width, fillchar)`, `str.rjust`, `str.center` and `str.zfill(width)`.
pub(super) fn pad(text: &str, args: &[Value], side: Side) -> Result<Value, Error> {
    let [Some(width), fill] = positional(args, 1)? else {
        return Err(Error::from(ErrorKind::MissingArgument));
    };
    let width = count_of(width)?;
    let fill = match (side, fill) {
        (Side::Zeros, None) => '0',
        (_, None) => ' ',
        // A value of another type is not converted to text, because the text could be long.
        (_, Some(fill)) => match (side, fill.as_str().and_then(only_char)) {
            (Side::Left | Side::Right | Side::Both, Some(fill)) => fill,
            _ => return Err(invalid("the fill character must be exactly one character")),
        },
    };
    let width = usize::try_from(width).unwrap_or(0);
    let missing = width.saturating_sub(text.chars().count());
    produce(
        missing
            .saturating_mul(fill.len_utf8())
            .saturating_add(text.len()),
    )?;
    let filling = |count| filling(fill, count);
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
