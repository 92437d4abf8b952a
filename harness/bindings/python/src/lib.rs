//! The extension of the Python package `rolecall`. The files next to it in the package, in
//! `harness/bindings/python/rolecall`, give it its names, its types and its errors.
//!
//! Each module uses only modules above it in the list.

mod errors;

mod conversion;

mod request;

mod program;

mod threads;

mod command;

mod response;

mod trace;

mod mask;

mod template;

mod coverage;

mod report;

mod engine;

/// Renders and checks chat templates. Import `rolecall`, not this.
#[pyo3::pymodule(gil_used = false)]
mod _rolecall {
    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)] // as Python names it
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::command::run;
    #[pymodule_export]
    use crate::coverage::cover;
    #[pymodule_export]
    use crate::engine::{engine_names, engine_tests};
    #[pymodule_export]
    use crate::report::{check, diff, load, read_conversations};
    #[pymodule_export]
    use crate::response::ResponseParser;
    #[pymodule_export]
    use crate::template::{Template, restore};
}
