//! The operators, literals and macros of a template, with Python's semantics.
//!
//! Each operator is a filter under a name that no template can spell. `compile` writes
//! calls of these filters into the syntax tree, instead of minijinja's own operators.

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

pub(crate) mod comparison;
mod concatenation;
mod literals;
mod loops;
pub(crate) mod macros;
pub(crate) mod output;

mod arithmetic;

use minijinja::value::{Kwargs, Rest, Value};
use minijinja::{Environment, Error, ErrorKind, State};

use crate::coverage::steps_of_probes;
use crate::meter::looked_up;
use crate::operator::Operator;
use crate::python::attributes::attribute;
use crate::python::items::item;
use crate::python::namespaces;
use crate::python::slices::{slice, slice_constant};
use crate::refusal::invalid;

/// Adds all operators to an environment.
pub(crate) fn add(environment: &mut Environment<'_>) {
    arithmetic::add(environment);
    comparison::add(environment);
    concatenation::add(environment);
    literals::add(environment);
    loops::add(environment);
    macros::add(environment);
    output::add(environment);
    environment.add_filter(Operator::Slice.name(), slice);
    environment.add_filter(Operator::SliceConstant.name(), slice_constant);
    environment.add_filter(Operator::Item.name(), item);
    environment.add_filter(Operator::Attribute.name(), attribute);
    environment.add_filter(
        Operator::SetAttribute.name(),
        |namespace: &Value, name: &str, value: &Value| namespaces::set(namespace, name, value),
    );
    environment.add_filter(
        Operator::Tick.name(),
        |state: &mut State<'_, '_>, scopes: usize, lookup: usize| {
            let steps = state.fuel_levels().map_or(0, |(consumed, _)| consumed);
            looked_up(steps.saturating_sub(steps_of_probes()), scopes, lookup)
        },
    );
    environment.add_filter(
        Operator::Unknown.name(),
        |message: String, _: Rest<Value>, _: Kwargs| -> Result<Value, Error> {
            Err(invalid(message))
        },
    );
    environment.add_filter(
        Operator::OtherTemplate.name(),
        |_: &Value| -> Result<Value, Error> {
            Err(Error::new(
                ErrorKind::TemplateNotFound,
                "no loader for this environment specified",
            ))
        },
    );
}
