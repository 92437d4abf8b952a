//! The commands `show --trace` and `show --decisions`.

pub mod document;

pub mod decisions;

pub mod html;

use std::io::Write;

use crate::report::format::Format;
use crate::report::trace::{self as report, Trace};
use crate::report::transcripts;
use document as trace_document;
use rolecall_core::Outcome;
use rolecall_core::lines::Lines;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Pair;

use crate::args::ShowArguments;
use crate::failure::{Failure, Status};
use crate::page;

/// Shows where the bytes of a pair's prompt come from.
pub(crate) fn show(
    arguments: &ShowArguments,
    runner: &Runner<'_>,
    pair: &Pair<'_>,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let engine = runner.engine(pair.template.dialect);
    let program = FrontProgram::load(engine, pair.template);
    let model = program.model.with(pair.case, pair.front());
    let input = PreparedCase::new(pair.case, pair.front(), &model);
    let (outcome, examination) = program.examined(&input);
    let sites = program.sites_for(&input).unwrap_or_default();
    let template = pair.chosen().unwrap_or(pair.template);
    let lines = Lines::of(&template.source);
    let trace = |prompt, spans| Trace {
        template,
        lines: &lines,
        case: input.seen(),
        prompt,
        spans,
        decisions: examination.decisions.as_ref(),
        sites: &sites,
    };
    if arguments.decisions && arguments.format == Format::Human {
        let Some(decisions) = &examination.decisions else {
            return Err(Failure::Request(format!(
                "{} cannot tell what the conditions of this template look at",
                engine.name()
            )));
        };
        decisions::write(out, &trace(outcome.text(), &[]), decisions)?;
        return Ok(Status::Fine);
    }
    let Outcome::Rendered { text } = &outcome else {
        if arguments.format == Format::Human && arguments.html.is_none() {
            transcripts::write(out, &outcome)?;
            return Ok(Status::Fine);
        }
        return Err(Failure::Request(format!(
            "there is no prompt to trace: {}",
            outcome.text()
        )));
    };
    let Some(spans) = &examination.spans else {
        return Err(Failure::Request(format!(
            "{} cannot tell where the bytes of this prompt come from",
            engine.name()
        )));
    };
    let trace = trace(text, spans);
    if let Some(path) = &arguments.html {
        page::write(path, |out| html::write(out, &trace))?;
    }
    match arguments.format {
        Format::Json => trace_document::write(out, &trace)?,
        _ => report::write(out, &trace)?,
    }
    Ok(Status::Fine)
}
