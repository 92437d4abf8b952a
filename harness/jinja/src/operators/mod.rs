//! The operators, literals and macros of a template, with Python's semantics.

pub(crate) mod comparison;
mod concatenation;
pub(crate) mod literals;
pub(crate) mod macros;

mod arithmetic;

use minijinja::Error;
use minijinja::value::Value;

use crate::operator::Operator;
use crate::watch;

/// `a + b`, or another operator of two values that compares nothing.
pub(crate) fn calculated(operator: Operator, operands: &[Value; 2]) -> Result<Value, Error> {
    watch::call(operator.label(), operands, |operands| {
        arithmetic::calculated(operator, &operands[0], &operands[1])
    })
}

/// `-a`
pub(crate) fn negated(value: &Value) -> Result<Value, Error> {
    watch::call("-", std::slice::from_ref(value), |value| {
        arithmetic::negate(&value[0])
    })
}

/// `a + b + …` or `a ~ b ~ …`
pub(crate) fn joined(operator: Operator, operands: &[Value]) -> Result<Value, Error> {
    watch::call(operator.label(), operands, |operands| match operator {
        Operator::Add => arithmetic::sum(operands),
        _ => concatenation::concat(operands),
    })
}
