//! Traces. They come as the command's JSON: the package makes objects of that.

use pyo3::prelude::*;
use rolecall_cli::commands::show::trace::document as trace_document;
use rolecall_cli::report::trace;
use rolecall_core::guard::on_large_stack;
use rolecall_core::lines::Lines;
use rolecall_core::{Case, Limits, Outcome};
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use crate::errors::{self, refused};

/// What a trace ends in: its JSON, or the outcome of a render without a prompt.
enum Traced {
    Json(String),
    Refused(Outcome),
    /// The engine with this name cannot tell.
    Unknown(String),
}

/// Traces one conversation, and returns the JSON of its trace.
pub(crate) fn trace(
    py: Python<'_>,
    template: &rolecall_core::Template,
    limits: &Limits,
    front: Front,
    case: Case,
) -> PyResult<String> {
    match py.detach(|| on_large_stack(move || traced(template, limits, front, &case))) {
        Traced::Json(json) => Ok(json),
        Traced::Refused(outcome) => errors::prompt(py, outcome, || None),
        Traced::Unknown(engine) => {
            let why = format!("{engine} cannot tell where the bytes of this prompt come from");
            Err(refused(py, &why))
        }
    }
}

fn traced(
    template: &rolecall_core::Template,
    limits: &Limits,
    front: Front,
    case: &Case,
) -> Traced {
    let engines = Engines::with_limits(limits);
    let engine = engines.for_dialect(template.dialect);
    let template = with_front(template, front);
    let program = FrontProgram::load(engine, &template);
    let model = program.model.with(case, front);
    let input = PreparedCase::new(case, front, &model);
    let (outcome, examination) = program.examined(&input);
    let Outcome::Rendered { text } = &outcome else {
        return Traced::Refused(outcome);
    };
    let Some(spans) = examination.spans else {
        return Traced::Unknown(engine.name().to_owned());
    };
    let sites = program.sites_for(&input).unwrap_or_default();
    let chosen = front.choose(&template, case).unwrap_or(&template);
    let trace = trace::Trace {
        template: chosen,
        lines: &Lines::of(&chosen.source),
        case: input.seen(),
        prompt: text,
        spans: &spans,
        decisions: examination.decisions.as_ref(),
        sites: &sites,
    };
    let mut json = Vec::new();
    // Writing to memory cannot fail, and JSON is UTF-8.
    let _ = trace_document::write(&mut json, &trace);
    Traced::Json(String::from_utf8(json).unwrap_or_default())
}

/// The template with a front.
pub(crate) fn with_front(
    template: &rolecall_core::Template,
    front: Front,
) -> rolecall_core::Template {
    let mut template = template.clone();
    template.front = Some(front.name().to_owned());
    template
}
