//! Python's ranges.

use std::fmt;
use std::sync::Arc;

use minijinja::Error;
use minijinja::value::{Enumerator, Object, ObjectRepr, Value};

use crate::meter::{ENTRY, produce};
use crate::python::numbers::integer;
use crate::refusal::invalid;

/// The longest range that Jinja2's sandbox gives (`sandbox.py`, `MAX_RANGE`).
const MAX_RANGE: i128 = 100_000;

/// `range(start, stop, step)`.
pub(super) struct Range {
    start: i128,
    end: i128,
    step: i128,
    len: usize,
}

pub(crate) fn range(start: i128, end: i128, step: i128) -> Result<Value, Error> {
    if step == 0 {
        return Err(invalid("the step of a range cannot be zero"));
    }
    let distance = if step > 0 {
        end.checked_sub(start)
    } else {
        start.checked_sub(end)
    };
    let steps = distance
        .map(|distance| distance.max(0))
        .and_then(|distance| distance.checked_add(step.checked_abs()? - 1))
        .and_then(|distance| distance.checked_div(step.checked_abs()?));
    match steps {
        Some(steps) if steps <= MAX_RANGE => {
            produce(ENTRY)?;
            Ok(Value::from_object(Range {
                start,
                end,
                step,
                len: usize::try_from(steps).unwrap_or(0),
            }))
        }
        _ => Err(invalid("the range is too big")),
    }
}

impl Range {
    fn at(&self, index: usize) -> Value {
        let steps = i128::try_from(index).unwrap_or(0);
        integer(self.start + self.step * steps)
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "range({}, {}", self.start, self.end)?;
        if self.step != 1 {
            write!(f, ", {}", self.step)?;
        }
        f.write_str(")")
    }
}

impl Object for Range {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str() {
            Some("start") => Some(integer(self.start)),
            Some("stop") => Some(integer(self.end)),
            Some("step") => Some(integer(self.step)),
            _ => {
                let index = key.as_usize()?;
                (index < self.len).then(|| self.at(index))
            }
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.len)
    }

    fn is_true(self: &Arc<Self>) -> bool {
        self.len > 0
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// The part of a range that a slice takes: a range too.
pub(super) fn range_part(value: &Value, start: i64, end: i64, step: i64) -> Result<Value, Error> {
    let Some(of) = value.downcast_object_ref::<Range>() else {
        return Ok(Value::UNDEFINED);
    };
    let at = |index: i64| of.start + of.step * i128::from(index);
    range(at(start), at(end), of.step.saturating_mul(i128::from(step)))
}

/// The item of a range at an index.
pub(super) fn range_item(value: &Value, index: usize) -> Option<Value> {
    let range = value.downcast_object_ref::<Range>()?;
    (index < range.len).then(|| range.at(index))
}
