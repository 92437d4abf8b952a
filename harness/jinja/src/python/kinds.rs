//! The kinds of values that Python tells apart, and minijinja does not.

use minijinja::value::{Tuple, Value, ValueKind};

use crate::python::groups::ItemGroup;
use crate::python::loops::Loop;
use crate::python::ranges::Range;

/// Whether a value is a `list`.
#[inline]
pub(crate) fn is_list(value: &Value) -> bool {
    value.kind() == ValueKind::Seq && !value.is_tuple() && !is_group(value)
}

/// Whether a value is a `tuple`. A group of `groupby` is one too.
#[inline]
pub(crate) fn is_tuple(value: &Value) -> bool {
    value.is_tuple() || is_group(value)
}

#[inline]
fn is_group(value: &Value) -> bool {
    value.downcast_object_ref::<ItemGroup>().is_some()
}

/// Whether a value is a `range`.
#[inline]
pub(crate) fn is_range(value: &Value) -> bool {
    value.downcast_object_ref::<Range>().is_some()
}

/// Whether a value is a `dict`.
#[inline]
pub(crate) fn is_dictionary(value: &Value) -> bool {
    value.kind() == ValueKind::Map
}

/// Whether a value is the variable `loop` of a loop.
#[inline]
pub(crate) fn is_loop(value: &Value) -> bool {
    Loop::of(value).is_some()
}

/// The items as a tuple or a list, whichever the original is.
pub(crate) fn sequence_like(original: &Value, items: Vec<Value>) -> Value {
    if is_tuple(original) {
        Value::from(Tuple::from(items))
    } else {
        Value::from(items)
    }
}
