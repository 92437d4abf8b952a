//! The kinds of values that Python tells apart, and minijinja does not.

use std::sync::LazyLock;

use minijinja::Environment;
use minijinja::value::{DynObject, Tuple, Value, ValueKind};

use crate::python::groups::ItemGroup;
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

/// Whether a value is a `dict`. Of the objects that a template can get hold of, only
/// minijinja's loops are maps too.
#[inline]
pub(crate) fn is_dictionary(value: &Value) -> bool {
    value.kind() == ValueKind::Map && type_name(value) != *LOOP
}

/// Whether a value is the variable `loop` of a loop.
#[inline]
pub(crate) fn is_loop(value: &Value) -> bool {
    value.kind() == ValueKind::Map && type_name(value) == *LOOP
}

/// The items as a tuple or a list, whichever the original is.
pub(crate) fn sequence_like(original: &Value, items: Vec<Value>) -> Value {
    if is_tuple(original) {
        Value::from(Tuple::from(items))
    } else {
        Value::from(items)
    }
}

/// The name of the type of minijinja's loops.
///
/// minijinja keeps this type to itself, so that no value can be downcast to it. But it tells
/// the name of any object's type. This one is learnt from a loop that is made here.
static LOOP: LazyLock<String> = LazyLock::new(|| {
    let mut environment = Environment::empty();
    environment.add_filter("type_name", type_name);
    environment
        .render_str("{% for _ in [1] %}{{ loop | type_name }}{% endfor %}", ())
        .unwrap_or_default()
});

#[inline]
fn type_name(value: &Value) -> &'static str {
    value.as_object().map_or("", DynObject::type_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_distinguished_from_dictionaries() {
        let kinds = |value: &Value| format!("{:?}", [is_dictionary(value), is_loop(value)]);
        let mut environment = Environment::new();
        environment.add_filter("kinds", kinds);
        environment.add_function("function", |_: &str| true);
        let kinds = |template: &str| environment.render_str(template, ()).unwrap();
        assert_eq!(kinds("{{ {'a': 1} | kinds }}"), "[true, false]");
        assert_eq!(
            kinds("{% for a in [1] %}{{ loop | kinds }}{% endfor %}"),
            "[false, true]"
        );
        assert_eq!(kinds("{{ function | kinds }}"), "[false, false]");
    }
}
