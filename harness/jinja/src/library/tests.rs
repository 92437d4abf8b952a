//! Jinja2's tests (3.1.6, `tests.py`).

use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Error, tests};

use crate::library::callables;
use crate::library::functions::{is_dict_type, is_template};
use crate::library::joiner::is_joiner;
use crate::library::vocabulary;
use crate::library::vocabulary::Registry;
use crate::operator::Operator;
use crate::operators::comparison::holds;
use crate::operators::macros::is_macro;
use crate::python::arguments::Arguments;
use crate::python::attributes::is_bound_method;
use crate::python::comparisons::equal;
use crate::python::dictionaries::hashable;
use crate::python::kinds::{is_dictionary, is_loop, is_range};
use crate::python::numbers::{Number, big_digits, modulo, number};
use crate::python::printf::printf;
use crate::python::text;
use crate::refusal::invalid;

/// Adds the tests to a registry.
pub(super) fn add(registry: &mut Registry) {
    registry.test("defined", |value: &Value| !value.is_undefined());
    registry.test("undefined", Value::is_undefined);
    registry.test("none", Value::is_none);
    registry.test("boolean", |value: &Value| value.kind() == ValueKind::Bool);
    registry.test("true", |value: &Value| {
        value.kind() == ValueKind::Bool && value.is_true()
    });
    registry.test("false", |value: &Value| {
        value.kind() == ValueKind::Bool && !value.is_true()
    });
    registry.test("number", |value: &Value| {
        number(value).is_some() || big_digits(value).is_some()
    });
    registry.test("integer", |value: &Value| {
        value.is_integer() || big_digits(value).is_some()
    });
    registry.test("float", |value: &Value| {
        matches!(number(value), Some(Number::Float(_)))
    });
    registry.test("string", |value: &Value| value.as_str().is_some());
    registry.test("mapping", is_dictionary);
    registry.test("iterable", is_iterable);
    registry.test("sequence", is_sequence);
    registry.test("callable", is_callable);
    registry.test("escaped", Value::is_safe);
    registry.test("sameas", |a: &Value, args: Rest<Value>, kwargs: Kwargs| {
        let args = Arguments::of(["other"], &args, &kwargs)?;
        let b = args.required(0)?;
        Ok::<_, Error>(a.kind() == b.kind() && tests::is_sameas(a, b))
    });
    registry.test("odd", |value: &Value| {
        has_remainder(value, &Value::from(2), 1)
    });
    registry.test("even", |value: &Value| {
        has_remainder(value, &Value::from(2), 0)
    });
    registry.test(
        "divisibleby",
        |value: &Value, args: Rest<Value>, kwargs: Kwargs| {
            let args = Arguments::of(["num"], &args, &kwargs)?;
            has_remainder(value, args.required(0)?, 0)
        },
    );
    registry.test("in", |value: &Value, args: Rest<Value>, kwargs: Kwargs| {
        let args = Arguments::of(["seq"], &args, &kwargs)?;
        holds(Operator::In, value, args.required(0)?)
    });
    registry.test("lower", |value: &Value| {
        let text = text::str(value);
        has_case(&text) && !text.chars().any(|c| c.is_uppercase() || is_title(c))
    });
    registry.test("upper", |value: &Value| {
        let text = text::str(value);
        has_case(&text) && !text.chars().any(|c| c.is_lowercase() || is_title(c))
    });
    registry.test("filter", |name: &Value| {
        hashable(name).map(|()| name.as_str().and_then(vocabulary::filter).is_some())
    });
    registry.test("test", |name: &Value| {
        hashable(name).map(|()| name.as_str().and_then(vocabulary::test).is_some())
    });
    for (names, operator) in COMPARISONS {
        for name in *names {
            let operator = *operator;
            registry.test(name, move |a: &Value, b: &Value| holds(operator, a, b));
        }
    }
}

const COMPARISONS: &[(&[&str], Operator)] = &[
    (&["==", "eq", "equalto"], Operator::Equal),
    (&["!=", "ne"], Operator::NotEqual),
    (&["<", "lt", "lessthan"], Operator::Less),
    (&["<=", "le"], Operator::LessOrEqual),
    (&[">", "gt", "greaterthan"], Operator::Greater),
    (&[">=", "ge"], Operator::GreaterOrEqual),
];

/// Whether `iter(value)` would work.
fn is_iterable(value: &Value) -> bool {
    match value.kind() {
        ValueKind::Plain => is_template(value) || is_loop(value),
        ValueKind::None | ValueKind::Bool | ValueKind::Number => false,
        ValueKind::Undefined
        | ValueKind::String
        | ValueKind::Seq
        | ValueKind::Iterable
        | ValueKind::Map => true,
        _ => value.try_iter().is_ok(),
    }
}

/// Whether the value has a length and can be indexed: text and dictionaries too.
fn is_sequence(value: &Value) -> bool {
    match value.kind() {
        ValueKind::Undefined | ValueKind::String | ValueKind::Seq => true,
        ValueKind::Map => is_dictionary(value),
        _ => is_range(value),
    }
}

/// Whether a value can be called: a function, a macro, a method, and any undefined value.
fn is_callable(value: &Value) -> bool {
    value.is_undefined()
        || is_macro(value)
        || is_bound_method(value)
        || is_joiner(value)
        || is_dict_type(value)
        || is_loop(value)
        || callables::is_callable(value)
}

/// Whether a number leaves a certain remainder when it is divided.
fn has_remainder(value: &Value, divisor: &Value, wanted: i64) -> Result<bool, Error> {
    if let Some(text) = value.as_str() {
        // For a text `%` formats the text, and the result is not a number.
        return printf(text, divisor, value.is_safe()).map(|_| false);
    }
    let (Some(number), Some(divisor)) = (number(value), number(divisor)) else {
        return Err(invalid(format!("{} is no number", value.kind())));
    };
    Ok(equal(&modulo(number, divisor)?, &Value::from(wanted)))
}

/// Whether a text has letters in upper or lower case.
fn has_case(text: &str) -> bool {
    text.chars().any(|c| c.is_lowercase() || c.is_uppercase())
}

/// Whether a letter is neither an upper case nor a lower case one: `ǅ` and three others.
fn is_title(c: char) -> bool {
    matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ')
}
