//! What Python walks through without making a list: ranges, and a dictionary's keys,
//! values and pairs.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, Tuple, Value};
use minijinja::{Error, ErrorKind};

use super::meter::{ENTRY, OBJECT, SLOT, produce};
use super::pytext::{self, pairs};

/// The longest range that Jinja2's sandbox gives (`sandbox.py`, `MAX_RANGE`).
const MAX_RANGE: i128 = 100_000;

/// `range(start, stop, step)`.
struct Range {
    start: i128,
    end: i128,
    step: i128,
    len: usize,
}

/// A range as a value.
pub(super) fn range(start: i128, end: i128, step: i128) -> Result<Value, Error> {
    let invalid = |message: &'static str| Error::new(ErrorKind::InvalidOperation, message);
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
        super::numbers::integer(self.start + self.step * steps)
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
        let index = key.as_usize()?;
        (index < self.len).then(|| self.at(index))
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

/// Whether a value is a range.
pub(super) fn is_range(value: &Value) -> bool {
    value.downcast_object_ref::<Range>().is_some()
}

/// The part of a range that a slice takes.
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

/// A dictionary's keys, values or pairs.
struct View {
    name: &'static str,
    items: Vec<Value>,
}

/// `dict.keys()`, `dict.values()` or `dict.items()`.
pub(super) fn view(map: &Value, method: &str) -> Result<Value, Error> {
    let pairs = pairs(map)?;
    let each = match method {
        "keys" | "values" => SLOT,
        _ => SLOT + ENTRY,
    };
    produce(OBJECT + each * pairs.len())?;
    let items = pairs
        .into_iter()
        .map(|(key, value)| match method {
            "keys" => key,
            "values" => value,
            _ => Value::from(Tuple::from([key, value])),
        })
        .collect();
    let name = match method {
        "keys" => "dict_keys",
        "values" => "dict_values",
        _ => "dict_items",
    };
    Ok(Value::from_object(View { name, items }))
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} object", self.name)
    }
}

impl Object for View {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.items.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.items.len())
    }

    fn is_true(self: &Arc<Self>) -> bool {
        !self.items.is_empty()
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = Value::from_dyn_object(Arc::clone(self));
        f.write_str(&pytext::repr(&value))
    }
}

/// What a view is of, and its items as a list.
pub(super) fn view_parts(value: &Value) -> Option<(&'static str, Value)> {
    let view = value.downcast_object_ref::<View>()?;
    // The list takes as much again while it is written.
    produce(SLOT * view.items.len()).ok()?;
    Some((view.name, Value::from(view.items.clone())))
}
