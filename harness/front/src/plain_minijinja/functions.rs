//! The functions that transformers adds to Jinja2, and the functions that a prepared template
//! calls.

#![allow(clippy::needless_pass_by_value)] // the shape of functions of minijinja

use std::cell::Cell;

use minijinja::value::{Kwargs, Rest, Value};
use minijinja::{Environment, Error, ErrorKind, State};
use rolecall_core::Moment;

/// The name of the function that a `{% generation %}` block calls.
pub(crate) const GENERATION: &str = "__rolecall_generation";

/// The name of a variable with the value one. minijinja does not treat it as a constant.
pub(crate) const ONE: &str = "__rolecall_one";

thread_local! {
    /// The moment at which the render on this thread happens.
    static NOW: Cell<Option<Moment>> = const { Cell::new(None) };
}

/// The error after `raise_exception(message)`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct RaisedException(pub(crate) String);

/// Adds the functions to an environment.
pub(crate) fn add(environment: &mut Environment<'_>) {
    environment.add_global(ONE, 1);
    environment.add_function(GENERATION, generation);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", strftime_now);
}

pub(crate) fn at<T>(now: Moment, render: impl FnOnce() -> T) -> T {
    NOW.set(Some(now));
    render()
}

/// The function that a `{% generation %}` block calls.
fn generation(state: &mut State<'_, '_>, kwargs: Kwargs) -> Result<Value, Error> {
    kwargs.get::<Value>("caller")?.call(state, &[])
}

/// `strftime_now(format)`
fn strftime_now(args: Rest<Value>, kwargs: Kwargs) -> Result<String, Error> {
    let format = only_argument(&args, &kwargs, "format")?;
    let format = format
        .as_str()
        .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "format has the wrong type"))?;
    Ok(NOW.get().unwrap_or_default().strftime(format))
}

/// `raise_exception(message)`
fn raise_exception(args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let message = only_argument(&args, &kwargs, "message")?.to_string();
    let error = Error::new(ErrorKind::InvalidOperation, message.clone());
    Err(error.with_source(RaisedException(message)))
}

/// The argument of a call that has one, by position or by name.
fn only_argument(args: &[Value], kwargs: &Kwargs, name: &str) -> Result<Value, Error> {
    let value = match args {
        [] => kwargs.get(name)?,
        [value] => value.clone(),
        _ => return Err(Error::from(ErrorKind::TooManyArguments)),
    };
    kwargs.assert_all_used()?;
    Ok(value)
}
