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
use minijinja::{Error, ErrorKind, State};

use crate::coverage::steps_of_probes;
use crate::meter::looked_up;
use crate::operator::Operator;
use crate::python::arguments::AllArguments;
use crate::python::attributes::attribute;
use crate::python::items::item;
use crate::python::namespaces;
use crate::python::slices::{slice, slice_constant};
use crate::python::undefined::{self, found_at};
use crate::refusal::invalid;
use crate::registry::Registry;

/// Adds all operators to a registry.
pub(crate) fn add(registry: &mut Registry<'_>) {
    arithmetic::add(registry);
    comparison::add(registry);
    concatenation::add(registry);
    loops::add(registry);
    macros::add(registry);
    output::add(registry);
    registry.add_operator(Operator::Slice, slice);
    registry.add_operator(Operator::SliceConstant, slice_constant);
    registry.add_operator(Operator::Item, |of: &Value, key: &Value| {
        item(of, key).map(|found| found_at(found, of, key))
    });
    registry.add_operator(Operator::Attribute, |of: &Value, name: &str| {
        attribute(of, name).map(|found| found_at(found, of, &name.into()))
    });
    registry.add_operator(
        Operator::Call,
        |state: &mut State<'_, '_>, function: Value, args: AllArguments<'_>| {
            function.call(state, args.0)
        },
    );
    registry.add_operator(
        Operator::Tick,
        |state: &mut State<'_, '_>, scopes: usize, lookup: usize| {
            let steps = state.fuel_levels().map_or(0, |(consumed, _)| consumed);
            looked_up(steps.saturating_sub(steps_of_probes()), scopes, lookup)
        },
    );
    registry.add_operator(
        Operator::Unknown,
        |message: String, _: Rest<Value>, _: Kwargs| -> Result<Value, Error> {
            Err(invalid(message))
        },
    );
    add_keeping(registry);
    registry.add_operator(
        Operator::OtherTemplate,
        |_: &Value| -> Result<Value, Error> {
            Err(Error::new(
                ErrorKind::TemplateNotFound,
                "no loader for this environment specified",
            ))
        },
    );
}

/// Adds the operators that only keep values, whatever these are.
pub(crate) fn add_keeping(registry: &mut Registry<'_>) {
    literals::add(registry);
    registry.add_operator(Operator::Variable, |value: Value, name: &str| {
        undefined::variable(value, name)
    });
    registry.add_operator(
        Operator::SetAttribute,
        |namespace: &Value, name: &str, value: &Value| namespaces::set(namespace, name, value),
    );
}
