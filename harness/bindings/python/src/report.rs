//! Templates from places, report cards and comparisons. All are as the command has them, and come
//! as its JSON: the package makes objects of that.

use pyo3::prelude::*;
use rolecall_cli::library::{self, CheckOptions, FoundTemplates, LibraryError};

use crate::command::start_with;
use crate::errors::{new, refused};
use crate::template::Template;
use crate::threads::pool;

/// Loads the templates of a place. Returns them with what there is to say about the place.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, place: &str) -> PyResult<(Vec<Template>, Vec<String>)> {
    start_with(py)?;
    let pool = pool()?;
    let found: Result<FoundTemplates, LibraryError> =
        py.detach(|| pool.install(|| library::find(place)));
    let failed = |why: String| new(py, "LoadError", (why,));
    let found = found.map_err(|error| failed(error.to_string()))?;
    if found.templates.is_empty() {
        return Err(failed(if found.problems.is_empty() {
            format!("there is no template in {place}")
        } else {
            found.problems.join("\n")
        }));
    }
    let templates = found.templates;
    let made = py.detach(|| templates.into_iter().map(Template::of).collect());
    Ok((made, [found.problems, found.notes].concat()))
}

/// Checks a template, and returns the JSON of its report card.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    template: &Bound<'_, Template>,
    select: Vec<String>,
    ignore: Vec<String>,
    like: Option<&Bound<'_, Template>>,
    served: Option<Vec<String>>,
) -> PyResult<String> {
    start_with(py)?;
    let options = CheckOptions {
        select,
        ignore,
        like: like.map(|like| like.get().template()),
        served,
    };
    let (template, pool) = (template.get().template(), pool()?);
    py.detach(|| pool.install(|| library::check(template, &options)))
        .map_err(|error| refused(py, &error.to_string()))
}

/// Compares two templates, and returns the JSON of the comparison.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    a: &Bound<'_, Template>,
    b: &Bound<'_, Template>,
    names: [String; 2],
) -> PyResult<String> {
    start_with(py)?;
    let (a, b, pool) = (a.get().template(), b.get().template(), pool()?);
    py.detach(|| pool.install(|| library::diff(a, b, names)))
        .map_err(|error| refused(py, &error.to_string()))
}
