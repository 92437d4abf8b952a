//! Coverage of templates. It comes as the command's JSON: the package makes objects of that.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use rolecall_cli::report::coverage;
use rolecall_cli::report::format::Format;
use rolecall_core::{Case, CaseId, Limits};
use rolecall_explore::coverage::TemplateCoverage;
use rolecall_front::engines::Engines;
use rolecall_suite::suite::Pair;

use crate::errors::refused;
use crate::request::Options;
use crate::template::Template;
use crate::threads::interruptible;
use crate::trace::with_front;

/// Renders cases, and returns the JSON of which places of a template they reach. A case is a
/// conversation, or a mapping with the arguments of `render`.
#[pyfunction]
pub(crate) fn cover(
    py: Python<'_>,
    template: &Bound<'_, Template>,
    cases: &Bound<'_, PyAny>,
    front: Option<&str>,
) -> PyResult<String> {
    let template = template.get();
    let front = template.front_of(py, front)?;
    let mut all = Vec::new();
    for (index, given) in cases.try_iter()?.enumerate() {
        let mut case = case(template, &given?)?;
        case.id = CaseId::new("cases", &(index + 1).to_string());
        all.push(case);
    }
    let limits = template.limits().clone();
    let template = with_front(template.template(), front);
    let covered = interruptible(py, move || covered(&template, &limits, all))?;
    covered.map_err(|why| refused(py, &why))
}

fn covered(
    template: &rolecall_core::Template,
    limits: &Limits,
    cases: Vec<Case>,
) -> Result<String, String> {
    let engines = Engines::with_limits(limits);
    let engine = engines.for_dialect(template.dialect);
    let pairs = cases.iter().map(|case| Pair { template, case });
    let coverage = TemplateCoverage::measure(engine, template, pairs, |_, _| {});
    let coverage = coverage.map_err(|why| why.to_string())?;
    let mut json = Vec::new();
    coverage::write(&mut json, &[coverage], Format::Json, false)
        .map_err(|error| error.to_string())?;
    drop(cases);
    String::from_utf8(json).map_err(|error| error.to_string())
}

/// The case of a conversation, or of the arguments of `render` by name.
fn case(template: &Template, given: &Bound<'_, PyAny>) -> PyResult<Case> {
    let py = given.py();
    let variables = PyDict::new(py);
    let Ok(given) = given.cast::<PyMapping>() else {
        return template.case(py, given, &Options::none(&variables));
    };
    let [
        mut messages,
        mut tools,
        mut documents,
        mut asks,
        mut continues,
        mut now,
    ] = [const { None }; 6];
    for entry in given.call_method0("items")?.try_iter()? {
        let (name, value): (Bound<'_, PyString>, Bound<'_, PyAny>) = entry?.extract()?;
        let place = match name.to_cow()?.as_ref() {
            "messages" => &mut messages,
            "tools" => &mut tools,
            "documents" => &mut documents,
            "add_generation_prompt" => &mut asks,
            "continue_final_message" => &mut continues,
            "now" => &mut now,
            _ => {
                variables.set_item(name, value)?;
                continue;
            }
        };
        *place = Some(value).filter(|value| !value.is_none());
    }
    let Some(messages) = messages else {
        return Err(refused(py, "a case has no `messages`"));
    };
    let options = Options {
        tools: tools.as_ref(),
        documents: documents.as_ref(),
        add_generation_prompt: asks.as_ref(),
        continue_final_message: continues.as_ref(),
        now: now.as_ref(),
        variables: Some(&variables),
    };
    template.case(py, &messages, &options)
}
