//! The command `run --roundtrip`: tests a whole server, prompt and parser, with models that write
//! given texts.

use std::io::Write;

use crate::report::format::Format;
use crate::report::progress::Progress;
use crate::report::roundtrip_servers as report;
use crate::servers::ServerProgram;
use rayon::prelude::*;
use rolecall_answers::reading::MessageReading;
use rolecall_answers::written::Writer;
use rolecall_core::{Case, Dialect, Template};
use rolecall_front::program::FrontProgram;
use rolecall_suite::selection::{Filter, select};
use rolecall_suite::suite::{Pair, Suite};

use crate::args::RunArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::inputs;
use crate::session::Session;

/// The families of cases whose messages are made to be parsed.
const PROBES: [&str; 3] = ["answer-texts", "answer-types", "answers"];

/// A template and the cases whose answers are read.
type Subject<'s> = (&'s Template, Vec<&'s Case>);

pub(crate) fn execute(arguments: &RunArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    if !matches!(arguments.format, Format::Human | Format::Jsonl) {
        return Err(Failure::Request(
            "--roundtrip has the formats human and jsonl".to_owned(),
        ));
    }
    let program = program(arguments)?;
    let inputs = inputs::open(&arguments.selection.sources.subject(&[]))?;
    let suite = &inputs.suite;
    report_problems(&suite.problems)?;
    let chosen = chosen(suite, &arguments.selection.filters)?;
    let session = Session::of(&arguments.rendering);
    let all = ask(&session, &program, &chosen)?;
    if arguments.format == Format::Jsonl {
        tell(&format!("suite: {}", inputs.origin));
        report::write_lines(out, program.identity(), &all)?;
    } else {
        report::write(out, program.identity(), &inputs.origin, &all, arguments.all)?;
    }
    let is_fine = all
        .iter()
        .flat_map(|(_, messages)| messages)
        .all(|message| !message.is_fault());
    Ok(Status::of(suite.problems.is_empty(), is_fine))
}

/// The server that `--engine` names.
fn program(arguments: &RunArguments) -> Result<ServerProgram, Failure> {
    let name = arguments.rendering.engine.as_deref().unwrap_or_default();
    let limits = arguments.rendering.limits.chosen().program;
    match ServerProgram::parse(name, &limits) {
        Some(program) => program.map_err(Failure::Request),
        None => Err(Failure::Request(format!(
            "--roundtrip starts a server for each template, and `{name}` is none that it can \
             start\n  name its program, as in --engine 'llama-server=llama-server'"
        ))),
    }
}

/// What comes back of the answers of each template.
fn ask<'s>(
    session: &Session,
    program: &ServerProgram,
    subjects: &[Subject<'s>],
) -> Result<Vec<(&'s Template, Vec<MessageReading>)>, Failure> {
    let runner = session.own_runner()?;
    let progress = Progress::new(subjects.len(), "reading back", "templates");
    let step = progress.step();
    let ask = |(template, cases): &Subject<'s>| {
        let engine = session.engines.for_dialect(template.dialect);
        let loaded = FrontProgram::load(engine, template);
        let messages = program.returned(&Writer::new(&loaded), cases);
        step();
        (*template, messages)
    };
    // Where each template has its own server, a thread only waits for the answers.
    let all = runner.on_its_threads(|| subjects.par_iter().map(ask).collect());
    progress.clear();
    Ok(all)
}

/// The Jinja templates that the filters name, each with its cases. Filters without cases mean the
/// probes, if the suite has some.
fn chosen<'s>(suite: &'s Suite, filters: &[Filter]) -> Result<Vec<Subject<'s>>, Failure> {
    let mut pairs = select(suite, filters)?;
    pairs.retain(|pair| pair.template.dialect == Dialect::Jinja);
    let is_probe = |pair: &Pair<'_>| PROBES.contains(&pair.case.id.family());
    let names_cases = filters.iter().any(Filter::names_cases);
    if !names_cases && pairs.iter().any(is_probe) {
        pairs.retain(is_probe);
    }
    let of_template = pairs.chunk_by(|a, b| std::ptr::eq(a.template, b.template));
    let chosen = of_template.filter_map(|pairs| {
        let template = pairs.first()?.template;
        Some((template, pairs.iter().map(|pair| pair.case).collect()))
    });
    let chosen: Vec<Subject<'s>> = chosen.collect();
    if chosen.is_empty() {
        return Err(Failure::Request(
            "no Jinja template is among the chosen pairs, and a llama-server has no others"
                .to_owned(),
        ));
    }
    Ok(chosen)
}
