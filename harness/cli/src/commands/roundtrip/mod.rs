//! The command `roundtrip`: reads the answers that templates write with their response templates, or
//! lets another program read them.

pub mod report;

use std::io::Write;

use crate::report::counted;
use rayon::prelude::*;
use rolecall_answers::reader::{DeclaredReader, OwnReader};
use rolecall_answers::reading::{MessageReading, read_all_with};
use rolecall_core::problem::Problem;
use rolecall_core::{AnswerReader, Dialect, Engine, Template, TemplateReader};
use rolecall_io::protocol::{ProgramParsers, ProtocolEngine};
use rolecall_io::template_file::place;
use rolecall_response::TRANSFORMERS;
use rolecall_suite::reference::Identity;
use rolecall_suite::response_file::unusable;
use rolecall_suite::suite::Suite;

use crate::args::RoundtripArguments;
use crate::engines::ChosenEngine;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::session::Session;
use crate::{conversations, inputs};

pub(crate) fn execute(
    arguments: &RoundtripArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let (paths, logs) = conversations::among(&arguments.paths);
    let cases = [arguments.cases.clone(), logs].concat();
    let mut suite = inputs::open(&inputs::named(&paths, &cases, &arguments.set))?.suite;
    report_problems(&suite.problems)?;
    if let Some(path) = &arguments.with {
        inputs::use_response_template(&mut suite, path)?;
    }
    let session = Session::new(&arguments.limits, arguments.jobs);
    let chosen = arguments.engine.as_deref();
    let chosen = chosen.map(|name| session.open(name)).transpose()?;
    let own = OwnReader::default();
    let server = chosen.as_ref().and_then(ChosenEngine::reading_server);
    let readers = if let Some((server, name)) = server {
        vec![read_by_server(server, &name, &suite, arguments)?]
    } else {
        let program = chosen.as_ref().map(reading_program).transpose()?;
        readers(program, &own, &suite, arguments)?
    };
    let read = |one: &Read<'_>| {
        let engine = session.engines.for_dialect(one.template.dialect);
        read_all_with(engine, one.template, one.reader(), &suite.cases)
    };
    let readings: Vec<Vec<MessageReading>> = session.own_runner()?.on_its_threads(|| {
        let readings = readers.par_iter().map(read);
        readings.collect()
    });
    for (one, readings) in readers.iter().zip(&readings) {
        report::write(out, &one.title(), readings, arguments.all)?;
    }
    // A program that crashed or was given up is no success.
    let is_answered = readings.iter().flatten().all(MessageReading::is_answered);
    Ok(Status::of(suite.problems.is_empty(), is_answered))
}

/// A template, and who reads its answers.
struct Read<'t> {
    template: &'t Template,
    reader: Reader<'t>,
}

enum Reader<'t> {
    /// It uses the template's response template. In words it is this.
    Declared(DeclaredReader<'t>, String),
    Parsers(Box<ProgramParsers>),
    /// The parsers of a server. In words it is this.
    Server(&'t dyn TemplateReader, String),
}

impl Read<'_> {
    fn reader(&self) -> &dyn TemplateReader {
        match &self.reader {
            Reader::Declared(reader, _) => reader,
            Reader::Parsers(parsers) => parsers.as_ref(),
            Reader::Server(server, _) => *server,
        }
    }

    /// Both in words. The parsers have names when they have read an answer.
    fn title(&self) -> String {
        let name = &self.template.name;
        match &self.reader {
            Reader::Declared(_, words) | Reader::Server(_, words) => format!("{name}{words}"),
            Reader::Parsers(parsers) => match parsers.names() {
                [] => name.to_string(),
                names => format!("{name}, read with {}", names.join(", ")),
            },
        }
    }
}

/// The server parses the answers of the only template: it has parsers for one model.
fn read_by_server<'t>(
    server: &'t dyn TemplateReader,
    name: &str,
    suite: &'t Suite,
    arguments: &RoundtripArguments,
) -> Result<Read<'t>, Failure> {
    if arguments.with.is_some() || arguments.response_templates {
        return Err(Failure::Request(format!(
            "{name} has parsers of its own, and reads no answers with response templates"
        )));
    }
    match suite.templates.as_slice() {
        [template] if template.dialect == Dialect::Jinja => Ok(Read {
            template,
            reader: Reader::Server(server, format!(", read by {name}")),
        }),
        all => Err(Failure::Request(format!(
            "{name} has the parsers of one model, and there are {}\n  name the Jinja template of \
             its model",
            counted(all.len(), "template", "templates")
        ))),
    }
}

/// Who reads the answers of each template: Rolecall, or a program with the templates' response
/// templates or with parsers of its own.
fn readers<'t>(
    program: Option<&'t ProtocolEngine>,
    own: &'t OwnReader,
    suite: &'t Suite,
    arguments: &RoundtripArguments,
) -> Result<Vec<Read<'t>>, Failure> {
    let Some(program) = program else {
        let name = format!(", read as transformers {TRANSFORMERS} reads");
        return Ok(declared(readable(suite, arguments)?, own, false, &name));
    };
    let is_server = program.has_parsers();
    let by_response_template = arguments.with.is_some() || arguments.response_templates;
    if is_server && !by_response_template {
        let templates = of_its_dialect(program, suite.templates.iter().collect());
        let read = templates.into_iter().map(|template| Read {
            template,
            reader: Reader::Parsers(Box::new(program.parsers(template))),
        });
        return Ok(read.collect());
    }
    let readable = readable(suite, arguments)?;
    if !program.reads_answers() {
        return Err(Failure::Request(format!(
            "`{}` reads no answers with response templates",
            program.name()
        )));
    }
    let name = if is_server {
        String::new()
    } else {
        format!(", read by {}", Identity::of(program))
    };
    let readable = of_its_dialect(program, readable);
    Ok(declared(readable, program, is_server, &name))
}

/// Templates whose answers one reads with their response templates.
fn declared<'t>(
    templates: Vec<&'t Template>,
    reader: &'t dyn AnswerReader,
    is_server: bool,
    name: &str,
) -> Vec<Read<'t>> {
    let read = templates.into_iter().filter_map(|template| {
        let reader = DeclaredReader {
            reader,
            response_template: template.response_template.as_ref()?,
            is_server,
        };
        Some(Read {
            template,
            reader: Reader::Declared(reader, name.to_owned()),
        })
    });
    read.collect()
}

/// The program of an engine, if it reads answers at all.
fn reading_program<'c>(chosen: &'c ChosenEngine<'_>) -> Result<&'c ProtocolEngine, Failure> {
    let program = chosen.program();
    let reads = |program: &&ProtocolEngine| program.reads_answers() || program.has_parsers();
    program.filter(reads).ok_or_else(|| {
        Failure::Request(format!(
            "`{}` reads no answers\n  a program that reads them says so in its first answer, with `reads`",
            chosen.engine().name()
        ))
    })
}

/// The templates whose answers a program can be asked about.
fn of_its_dialect<'t>(program: &ProtocolEngine, templates: Vec<&'t Template>) -> Vec<&'t Template> {
    let (its, others): (Vec<_>, Vec<_>) = templates
        .into_iter()
        .partition(|template| template.dialect == Engine::dialect(program));
    if its.is_empty() && !others.is_empty() {
        tell(&format!(
            "`{}` is for {} templates, and these are none",
            program.name(),
            Engine::dialect(program)
        ));
    }
    its
}

/// The templates that have a response template.
fn readable<'s>(
    suite: &'s Suite,
    arguments: &RoundtripArguments,
) -> Result<Vec<&'s Template>, Failure> {
    let (readable, others): (Vec<&Template>, Vec<&Template>) = suite
        .templates
        .iter()
        .partition(|template| template.response_template.is_some());
    if readable.is_empty() {
        return Err(Failure::Request(
            "none of these templates has a response template: `response_template` in \
             tokenizer_config.json or in the sidecar; --with FILE names one"
                .to_owned(),
        ));
    }
    // Without paths, templates without one are nothing unusual.
    for template in others.iter().filter(|_| !arguments.paths.is_empty()) {
        tell(&format!("{}: no response template", place(template, None)));
    }
    let unusable: Vec<Problem> = readable.iter().copied().filter_map(unusable).collect();
    if !unusable.is_empty() {
        return Err(Failure::Problems(unusable));
    }
    Ok(readable)
}
