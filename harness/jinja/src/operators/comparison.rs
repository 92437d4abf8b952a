//! The operators that compare: `==`, `<`, `in` and the others.

use minijinja::Error;
use minijinja::value::Value;

use crate::operator::Operator;
use crate::python::comparisons::{compare, equal_or_failed, is_in};

pub(crate) fn holds(operator: Operator, a: &Value, b: &Value) -> Result<bool, Error> {
    match operator {
        Operator::Equal => equal_or_failed(a, b),
        Operator::NotEqual => equal_or_failed(a, b).map(|is_equal| !is_equal),
        Operator::In => is_in(a, b),
        Operator::NotIn => is_in(a, b).map(|is_in| !is_in),
        ordering => {
            let order = compare(ordering.label(), a, b)?;
            Ok(order.is_some_and(|order| match ordering {
                Operator::Less => order.is_lt(),
                Operator::LessOrEqual => order.is_le(),
                Operator::Greater => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
    }
}
