//! What looks at the calls of filters, tests, operators and methods, in renders that know more.

use minijinja::value::Value;
use minijinja::{Error, State};

use crate::decisions;
use crate::explanation;
use crate::provenance;
use crate::python::methods;
use crate::python::undefined;

/// Whether calls are looked at in the render on this thread.
pub(crate) fn is_on() -> bool {
    provenance::is_traced() || undefined::is_named()
}

/// Calls a filter, a test or an operator, by its name for people.
#[inline]
pub(crate) fn call(
    name: &'static str,
    args: &[Value],
    function: impl FnOnce(&[Value]) -> Result<Value, Error>,
) -> Result<Value, Error> {
    if provenance::is_traced() {
        let repeatable = explanation::repeatable(name, args)?;
        let args = repeatable.as_deref().unwrap_or(args);
        return Ok(decisions::watched(name, args, function(args)?));
    }
    undefined::nameless(args, function)
}

/// Calls a method that its object does not have itself.
pub(crate) fn method(
    _: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let result = undefined::nameless(args, |args| methods::call(value, method, args))?;
    if !provenance::is_traced() {
        return Ok(result);
    }
    let args: Vec<_> = [value].into_iter().chain(args).cloned().collect();
    Ok(decisions::watched_method(method, &args, result))
}
