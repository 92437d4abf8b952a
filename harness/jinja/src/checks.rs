//! Jinja2's tests (3.1.6, `tests.py`).

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, tests};

use super::comparisons::holds;
use super::context::BigInteger;
use super::helpers::is_joiner;
use super::library::is_dict_type;
use super::macros::is_macro;
use super::methods::{is_bound, is_dictionary};
use super::numbers::{Number, modulo, number};
use super::operators::Operator;
use super::pytext;
use super::sequences::hashable;
use super::vocabulary;

/// Adds the tests.
pub(super) fn add(environment: &mut Environment<'_>) {
    vocabulary::add_test(environment, "defined", |value: &Value| {
        !value.is_undefined()
    });
    vocabulary::add_test(environment, "undefined", Value::is_undefined);
    vocabulary::add_test(environment, "none", Value::is_none);
    vocabulary::add_test(environment, "boolean", |value: &Value| {
        value.kind() == ValueKind::Bool
    });
    vocabulary::add_test(environment, "true", |value: &Value| {
        value.kind() == ValueKind::Bool && value.is_true()
    });
    vocabulary::add_test(environment, "false", |value: &Value| {
        value.kind() == ValueKind::Bool && !value.is_true()
    });
    vocabulary::add_test(environment, "number", |value: &Value| {
        number(value).is_some() || is_big_integer(value)
    });
    vocabulary::add_test(environment, "integer", |value: &Value| {
        value.is_integer() || is_big_integer(value)
    });
    vocabulary::add_test(environment, "float", |value: &Value| {
        matches!(number(value), Some(Number::Float(_)))
    });
    vocabulary::add_test(environment, "string", |value: &Value| {
        value.as_str().is_some()
    });
    vocabulary::add_test(environment, "mapping", is_dictionary);
    vocabulary::add_test(environment, "iterable", is_iterable);
    vocabulary::add_test(environment, "sequence", is_sequence);
    vocabulary::add_test(environment, "callable", is_callable);
    vocabulary::add_test(environment, "escaped", Value::is_safe);
    vocabulary::add_test(environment, "sameas", |a: &Value, b: &Value| {
        a.kind() == b.kind() && tests::is_sameas(a, b)
    });
    vocabulary::add_test(environment, "odd", |value: &Value| {
        remainder_is(value, 2, 1)
    });
    vocabulary::add_test(environment, "even", |value: &Value| {
        remainder_is(value, 2, 0)
    });
    vocabulary::add_test(environment, "divisibleby", divisible_by);
    vocabulary::add_test(environment, "lower", |value: &Value| {
        let text = pytext::str(value);
        has_case(&text) && !text.chars().any(|c| c.is_uppercase() || is_title(c))
    });
    vocabulary::add_test(environment, "upper", |value: &Value| {
        let text = pytext::str(value);
        has_case(&text) && !text.chars().any(|c| c.is_lowercase() || is_title(c))
    });
    vocabulary::add_test(environment, "filter", |name: &Value| {
        hashable(name).map(|()| name.as_str().is_some_and(vocabulary::is_filter))
    });
    vocabulary::add_test(environment, "test", |name: &Value| {
        hashable(name).map(|()| name.as_str().is_some_and(vocabulary::is_test))
    });
    for (names, operator) in COMPARISONS {
        for name in *names {
            let operator = *operator;
            vocabulary::add_test(environment, name, move |a: &Value, b: &Value| {
                holds(operator, a, b)
            });
        }
    }
}

/// The tests that are operators.
const COMPARISONS: &[(&[&str], Operator)] = &[
    (&["==", "eq", "equalto"], Operator::Equal),
    (&["!=", "ne"], Operator::NotEqual),
    (&["<", "lt", "lessthan"], Operator::Less),
    (&["<=", "le"], Operator::LessOrEqual),
    (&[">", "gt", "greaterthan"], Operator::Greater),
    (&[">=", "ge"], Operator::GreaterOrEqual),
    (&["in"], Operator::In),
];

/// The operator that a test is, if it is one.
pub(super) fn comparison(test: &str) -> Option<Operator> {
    let (_, operator) = COMPARISONS
        .iter()
        .find(|(names, _)| names.contains(&test))?;
    Some(*operator)
}

fn is_big_integer(value: &Value) -> bool {
    value.downcast_object_ref::<BigInteger>().is_some()
}

/// Whether `iter(value)` would work.
fn is_iterable(value: &Value) -> bool {
    match value.kind() {
        ValueKind::None | ValueKind::Bool | ValueKind::Number | ValueKind::Plain => false,
        ValueKind::Undefined | ValueKind::String | ValueKind::Seq | ValueKind::Iterable => true,
        ValueKind::Map => is_dictionary(value) || is_loop(value),
        _ => value.try_iter().is_ok(),
    }
}

/// Whether the value has a length and can be indexed: text and dictionaries too.
fn is_sequence(value: &Value) -> bool {
    match value.kind() {
        ValueKind::Undefined | ValueKind::String | ValueKind::Seq => true,
        ValueKind::Map => is_dictionary(value),
        _ => super::views::is_range(value),
    }
}

pub(super) fn is_loop(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|object| object.type_name().contains("loop_object"))
}

/// Whether a value can be called: functions, macros, methods, and whatever is undefined.
fn is_callable(value: &Value) -> bool {
    value.is_undefined()
        || is_macro(value)
        || is_bound(value)
        || is_joiner(value)
        || is_dict_type(value)
        || is_loop(value)
        || value
            .as_object()
            .is_some_and(|object| object.type_name().contains("minijinja::functions::"))
}

fn remainder_is(value: &Value, divisor: i128, wanted: i128) -> Result<bool, Error> {
    let number = number(value).ok_or_else(|| no_number(value))?;
    let remainder = modulo(number, Number::Int(divisor))?;
    Ok(super::comparisons::equal(
        &remainder,
        &super::numbers::integer(wanted),
    ))
}

fn divisible_by(value: &Value, divisor: &Value) -> Result<bool, Error> {
    let (Some(number), Some(divisor)) = (number(value), number(divisor)) else {
        return Err(no_number(value));
    };
    let remainder = modulo(number, divisor)?;
    Ok(super::comparisons::equal(&remainder, &Value::from(0)))
}

fn no_number(value: &Value) -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!("{} is no number", value.kind()),
    )
}

fn has_case(text: &str) -> bool {
    text.chars().any(|c| c.is_lowercase() || c.is_uppercase())
}

/// Letters that are neither: `ǅ` and its kin.
fn is_title(c: char) -> bool {
    matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ')
}
