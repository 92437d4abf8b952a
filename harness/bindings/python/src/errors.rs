//! The exceptions of the package. They are Python classes, in `rolecall/errors.py`.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use rolecall_core::{Outcome, Stage};

/// An exception of the package, by the name of its class.
pub(crate) fn new<'py>(py: Python<'py>, class: &str, fields: impl PyCallArgs<'py>) -> PyErr {
    let made = py
        .import("rolecall.errors")
        .and_then(|module| module.getattr(class)?.call1(fields));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The same error, with the number of its conversation if it is one of several.
pub(crate) fn of_conversation(py: Python<'_>, error: PyErr, index: usize) -> PyErr {
    let value = error.value(py);
    if value.hasattr("conversation").unwrap_or_default() {
        let _ = value.setattr("conversation", index);
    }
    error
}

/// Says that something the caller handed over is refused.
pub(crate) fn refused(py: Python<'_>, why: &str) -> PyErr {
    new(py, "InputRefused", (why,))
}

/// The prompt, or the exception that says why there is none. `column` finds the column of a mistake
/// in the template's source.
pub(crate) fn prompt(
    py: Python<'_>,
    outcome: Outcome,
    column: impl FnOnce() -> Option<usize>,
) -> PyResult<String> {
    Err(match outcome {
        Outcome::Rendered { text } => return Ok(text),
        Outcome::Raised { message } => new(py, "TemplateRaised", (message,)),
        Outcome::Failed {
            stage,
            message,
            line,
        } => match stage {
            Stage::Input => refused(py, &message),
            Stage::Parse => new(py, "TemplateSyntaxError", (message, line, column())),
            Stage::Render => new(py, "TemplateFailed", (message, line)),
        },
        Outcome::Exceeded { limit } => new(py, "LimitExceeded", (limit.name(),)),
        Outcome::Crashed { message } | Outcome::NotAsked { message } => {
            new(py, "EngineCrashed", (message,))
        }
    })
}
