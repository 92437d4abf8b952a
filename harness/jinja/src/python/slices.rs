//! Slices of texts, lists, tuples and ranges: `a[b:c:d]`.

use minijinja::Error;
use minijinja::value::Value;

use crate::meter::{CHARACTER, ITEM, OBJECT, SLOT, produce, work};
use crate::python::kinds::{is_list, is_range, is_tuple, sequence_like};
use crate::python::markup::like;
use crate::python::numbers::{Number, clamped, number};
use crate::python::ranges;
use crate::refusal::invalid;

/// `a[b:c:d]`
pub(crate) fn slice(
    value: &Value,
    start: &Value,
    end: &Value,
    step: &Value,
) -> Result<Value, Error> {
    let bounds = Bounds {
        start: slice_index(start)?,
        end: slice_index(end)?,
        step: slice_index(step)?.unwrap_or(1),
    };
    if bounds.step == 0 {
        return Err(invalid("slice step cannot be zero"));
    }
    if let Some(text) = value.as_str() {
        work(text.len().saturating_mul(2))?;
        produce(text.len())?;
        if let Some(part) = bounds.of_ascii(text) {
            return Ok(like(value, part));
        }
        work(text.len().saturating_mul(CHARACTER))?;
        produce(text.len().saturating_mul(3))?;
        let chars: Vec<char> = text.chars().collect();
        let part: String = bounds.indices(chars.len()).map(|at| chars[at]).collect();
        return Ok(like(value, part));
    }
    if is_range(value) {
        let (start, end) = bounds.clamped(value.len().unwrap_or(0));
        return ranges::range_part(value, start, end, bounds.step);
    }
    if !is_tuple(value) && !is_list(value) {
        return Err(invalid(format!(
            "value of type {} cannot be sliced",
            value.kind()
        )));
    }
    let len = value.len().unwrap_or(0);
    let count = bounds.indices(len).count();
    work(count.saturating_mul(ITEM))?;
    produce(count.saturating_mul(SLOT).saturating_add(OBJECT))?;
    let mut part = Vec::with_capacity(count);
    for at in bounds.indices(len) {
        part.push(value.get_item(&Value::from(at))?);
    }
    Ok(sequence_like(value, part))
}

/// The bounds of a slice, as a template writes them.
struct Bounds {
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
}

impl Bounds {
    /// The indices of a sequence that the slice takes (`slice.indices` in Python).
    fn indices(&self, len: usize) -> impl Iterator<Item = usize> + use<> {
        let step = self.step;
        let (start, end) = self.clamped(len);
        std::iter::successors(Some(start), move |at| at.checked_add(step))
            .take_while(move |at| if step > 0 { *at < end } else { *at > end })
            .filter_map(|at| usize::try_from(at).ok())
    }

    /// Where the slice of a sequence begins, and before which index it ends.
    fn clamped(&self, len: usize) -> (i64, i64) {
        let step = self.step;
        let len = i64::try_from(len).unwrap_or(i64::MAX);
        let (lowest, highest) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let clamp = |index: i64| {
            let index = if index < 0 {
                index.saturating_add(len)
            } else {
                index
            };
            index.clamp(lowest, highest)
        };
        let (first, last) = if step > 0 {
            (lowest, highest)
        } else {
            (highest, lowest)
        };
        (
            self.start.map_or(first, clamp),
            self.end.map_or(last, clamp),
        )
    }

    /// The slice of a text in the most frequent case, a step of one through ASCII. No list of
    /// characters is made for it.
    fn of_ascii<'t>(&self, text: &'t str) -> Option<&'t str> {
        if self.step != 1 || !text.is_ascii() {
            return None;
        }
        let (start, end) = self.clamped(text.len());
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
        Some(text.get(start..end).unwrap_or_default())
    }
}

/// A bound of a slice, if it is not `None`.
fn slice_index(value: &Value) -> Result<Option<i64>, Error> {
    match number(value) {
        _ if value.is_none() => Ok(None),
        Some(Number::Int(index)) => Ok(Some(clamped(index))),
        _ => Err(invalid(format!(
            "slice indices must be integers, not {}",
            value.kind()
        ))),
    }
}

/// `a[b:c:d]` of constants. Jinja2 evaluates it when it compiles, by the rules for items:
/// where `a` cannot be sliced, it has no such item (`nodes.py`, `Getitem.as_const`).
pub(crate) fn slice_constant(
    value: &Value,
    start: &Value,
    end: &Value,
    step: &Value,
) -> Result<Value, Error> {
    let is_step_zero = matches!(number(step), Some(Number::Int(0)));
    let can_be_sliced =
        value.as_str().is_some() || is_tuple(value) || is_list(value) || is_range(value);
    match slice(value, start, end, step) {
        Err(error) if can_be_sliced && is_step_zero || value.is_undefined() => Err(error),
        sliced => Ok(sliced.unwrap_or_default()),
    }
}

/// The part of a text that `text[b:c:d]` takes, in bytes, if it is one part.
pub(crate) fn part_of_text(
    text: &str,
    start: &Value,
    end: &Value,
    step: &Value,
) -> Option<std::ops::Range<usize>> {
    let bounds = Bounds {
        start: slice_index(start).ok()?,
        end: slice_index(end).ok()?,
        step: slice_index(step).ok()?.unwrap_or(1),
    };
    if bounds.step != 1 {
        return None;
    }
    let (start, end) = bounds.clamped(text.chars().count());
    let byte = |at: i64| {
        let at = usize::try_from(at).ok()?;
        let mut places = text
            .char_indices()
            .map(|(place, _)| place)
            .chain([text.len()]);
        places.nth(at)
    };
    let (start, end) = (byte(start)?, byte(end)?);
    Some(start..end.max(start))
}
