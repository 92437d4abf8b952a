//! The operators that compare: `==`, `<`, `in` and the others, alone and in chains.

use minijinja::value::{Rest, Value};
use minijinja::{Error, State};

use crate::operator::Operator;
use crate::python::comparisons::{compare, equal_or_failed, is_in};
use crate::registry::Registry;

/// Adds the operators to a registry.
pub(super) fn add(registry: &mut Registry<'_>) {
    for operator in [
        Operator::In,
        Operator::NotIn,
        Operator::Equal,
        Operator::NotEqual,
        Operator::Less,
        Operator::LessOrEqual,
        Operator::Greater,
        Operator::GreaterOrEqual,
    ] {
        registry.add_operator(operator, move |a: &Value, b: &Value| holds(operator, a, b));
    }
    registry.add_operator(Operator::Chain, chain);
}

pub(crate) fn holds(operator: Operator, a: &Value, b: &Value) -> Result<bool, Error> {
    match operator {
        Operator::Equal => equal_or_failed(a, b),
        Operator::NotEqual => equal_or_failed(a, b).map(|is_equal| !is_equal),
        Operator::In => is_in(a, b),
        Operator::NotIn => is_in(a, b).map(|is_in| !is_in),
        ordering => {
            let order = compare(ordering.name(), a, b)?;
            Ok(order.is_some_and(|order| match ordering {
                Operator::Less => order.is_lt(),
                Operator::LessOrEqual => order.is_le(),
                Operator::Greater => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
    }
}

/// `a < b == c`
fn chain(state: &mut State<'_, '_>, first: Value, rest: Rest<Value>) -> Result<bool, Error> {
    let mut left = first;
    for step in rest.chunks(2) {
        let [operator, right] = step else { break };
        let operator = operator.as_str().unwrap_or_default();
        let compared = state.apply_filter(operator, &[left, right.clone()])?;
        if !compared.is_true() {
            return Ok(false);
        }
        left = right.clone();
    }
    Ok(true)
}
