//! Compiled templates: a template in its engine, with one front.

use std::sync::Once;

use pyo3::prelude::*;
use pyo3::types::PyString;
use rolecall_cli::library;
use rolecall_core::guard::{self, on_large_stack};
use rolecall_core::{Case, Limits, Outcome, Template};
use rolecall_front::embed::CompiledTemplate;
use rolecall_front::front::Front;

use crate::conversion::text;
use crate::errors::refused;

/// A compiled template with a front, for any number of threads.
pub(crate) struct Program {
    compiled: CompiledTemplate,
    front: Front,
}

impl Program {
    /// Compiles a template with a front. If the engine refuses it, every outcome says so.
    pub(crate) fn new(mut template: Template, front: Front, limits: &Limits) -> Program {
        static QUIET: Once = Once::new();
        // The hook is this extension's alone: Python and other extensions have their own.
        QUIET.call_once(guard::keep_quiet);
        template.front = Some(front.name().to_owned());
        let compiled = on_large_stack(|| CompiledTemplate::new(template, limits));
        Program { compiled, front }
    }

    /// The outcome of a case. The case may nest deeply: it is handled and dropped on a large stack.
    pub(crate) fn outcome(&self, case: Case) -> Outcome {
        on_large_stack(move || self.compiled.outcome(&case, self.front))
    }

    /// Why the engine refuses the template, if it does.
    pub(crate) fn refusal(&self) -> Option<Outcome> {
        self.compiled.refusal()
    }

    /// The column of the mistake for which the engine refuses the template, from 1.
    pub(crate) fn column(&self) -> Option<usize> {
        self.compiled.column_of_refusal()
    }
}

/// Limits by name, or as the text that `--limits` takes. Without them, the defaults.
pub(crate) fn limits(py: Python<'_>, given: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
    let Some(given) = given.filter(|given| !given.is_none()) else {
        return Ok(Limits::default());
    };
    let text = if let Ok(text) = given.cast::<PyString>() {
        self::text(text)?
    } else {
        let mut parts = Vec::new();
        for entry in given.call_method0("items")?.try_iter()? {
            let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry?.extract()?;
            parts.push(format!("{name}={value}"));
        }
        parts.join(",")
    };
    library::limits(&text).map_err(|error| refused(py, &error.to_string()))
}
