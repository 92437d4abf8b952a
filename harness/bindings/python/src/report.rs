//! Templates from places, report cards and comparisons. All are as the command has them, and come
//! as its JSON: the package makes objects of that.

use std::path::PathBuf;

use pyo3::prelude::*;
use rolecall_cli::library::{self, CheckOptions, LibraryError, Report};

use crate::command::start_with;
use crate::errors::{new, refused};
use crate::program;
use crate::template::Template;
use crate::threads::interruptible;

/// Loads the templates of a place. Returns them with what there is to say about the place.
#[pyfunction]
pub(crate) fn load(
    py: Python<'_>,
    place: String,
    limits: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<Template>, Vec<String>)> {
    start_with(py)?;
    let limits = program::limits(py, limits)?;
    let (found, place) = interruptible(py, move || (library::find(&place), place))?;
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
    let templates = templates.into_iter();
    let made = py.detach(|| {
        templates
            .map(|one| Template::of(one, limits.clone()))
            .collect()
    });
    Ok((made, [found.problems, found.notes].concat()))
}

/// Reads a file with conversations. Returns them as JSON, with what there is to say about the file.
#[pyfunction]
pub(crate) fn read_conversations(
    py: Python<'_>,
    place: PathBuf,
) -> PyResult<(String, Vec<String>)> {
    start_with(py)?;
    let found = interruptible(py, move || library::read_conversations(&place))?;
    found.map_err(|error| new(py, "LoadError", (error.to_string(),)))
}

/// Checks a template, and perhaps a file with conversations. Returns its report card as JSON and as text.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    template: &Bound<'_, Template>,
    select: Vec<String>,
    ignore: Vec<String>,
    like: Option<&Bound<'_, Template>>,
    served: Option<Vec<String>>,
    conversations: Option<PathBuf>,
) -> PyResult<(String, String)> {
    start_with(py)?;
    let template = template.get().template().clone();
    let like = like.map(|like| like.get().template().clone());
    let checked = interruptible(py, move || {
        let options = CheckOptions {
            select,
            ignore,
            like: like.as_ref(),
            served,
            conversations,
        };
        library::check(&template, &options)
    });
    report(py, checked?)
}

fn report(py: Python<'_>, made: Result<Report, LibraryError>) -> PyResult<(String, String)> {
    match made {
        Ok(Report { json, text }) => Ok((json, text)),
        Err(error) => Err(refused(py, &error.to_string())),
    }
}

/// Compares two templates, and returns the comparison as JSON and as text.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    a: &Bound<'_, Template>,
    b: &Bound<'_, Template>,
    names: [String; 2],
) -> PyResult<(String, String)> {
    start_with(py)?;
    let [a, b] = [a, b].map(|side| side.get().template().clone());
    let compared = interruptible(py, move || library::diff(&a, &b, names));
    report(py, compared?)
}
