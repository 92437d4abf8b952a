//! The command `roundtrip`: reads the answers that templates write with their response templates, or
//! lets another program read them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use crate::report::roundtrip as report;
use crate::report::roundtrip_recorded as report_recorded;
use rolecall_answers::reader::{DeclaredReader, OwnReader};
use rolecall_answers::reading::MessageReading;
use rolecall_answers::recorded::RecordedAnswer;
use rolecall_core::problem::{Problem, shown_path};
use rolecall_core::{Engine, Template, TemplateName, TemplateReader};
use rolecall_io::protocol::{ProgramParsers, ProtocolEngine};
use rolecall_io::template_file::place;
use rolecall_response::{ResponseTemplate, TRANSFORMERS};
use rolecall_suite::recorded_answers::{read_families, write_family};
use rolecall_suite::reference::Identity;
use rolecall_suite::response_file::{read_file, unusable};
use rolecall_suite::roundtrip::{read_each, read_each_as_server};
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Suite;
use serde_json::Value;

use crate::args::RoundtripArguments;
use crate::engines::{self, ChosenEngine};
use crate::failure::{Failure, Status, report_problems, tell};
use crate::inputs;

pub(super) fn execute(
    arguments: &RoundtripArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    if let Some(recorded) = &arguments.recorded {
        return read_recorded(arguments, recorded, out);
    }
    let mut suite = inputs::load_templates_with_cases(&arguments.paths, &arguments.set)?;
    report_problems(&suite.problems)?;
    if let Some(path) = &arguments.with {
        let response_template = read_file(path)?;
        for template in &mut suite.templates {
            template.response_template = Some(response_template.clone());
        }
    }
    let status = if suite.problems.is_empty() {
        Status::Fine
    } else {
        Status::BadInput
    };
    let limits = arguments.limits.chosen();
    let engines = limits.engines();
    let chosen = arguments.engine.as_deref();
    let chosen = chosen.map(|name| engines::open(&engines, name, &limits));
    let chosen = chosen.transpose()?;
    let program = chosen.as_ref().map(reading_program).transpose()?;
    let runner = Runner::new(&engines, &[], arguments.jobs.map(usize::from))?;
    let engine = |template: &Template| engines.for_dialect(template.dialect);

    let by_response_template = arguments.with.is_some() || arguments.response_templates;
    let readings = match program {
        Some(program) if program.has_parsers() => {
            let readers = if by_response_template {
                Readers::declared(program, readable(&suite, arguments)?)?
            } else {
                Readers::parsers(program, suite.templates.iter().collect())
            };
            let reader = |template: &Template| readers.of(template);
            let read = || read_each_as_server(&suite, &readers.templates, &engine, &reader);
            let readings = runner.on_its_threads(read);
            for (template, readings) in &readings {
                report::write(out, &readers.title(template), readings, arguments.all)?;
            }
            return Ok(answered(status, &readings));
        }
        Some(program) => {
            let readable = of_its_dialect(program, readable(&suite, arguments)?);
            runner.on_its_threads(|| read_each(&suite, &readable, &engine, program))
        }
        None => {
            let readable = readable(&suite, arguments)?;
            let reader = OwnReader::default();
            runner.on_its_threads(|| read_each(&suite, &readable, &engine, &reader))
        }
    };
    if let Some(folder) = &arguments.write_recorded {
        write_recorded(folder, &suite, &readings, out)?;
        return Ok(answered(status, &readings));
    }
    let reader = program.map_or(format!("as transformers {TRANSFORMERS} reads"), |program| {
        format!("by {}", Identity::of(program))
    });
    for (template, readings) in &readings {
        let title = format!("{}, read {reader}", template.name);
        report::write(out, &title, readings, arguments.all)?;
    }
    Ok(answered(status, &readings))
}

/// The status, unless the program crashed or was given up: then it is no success.
fn answered(status: Status, readings: &[(&Template, Vec<MessageReading>)]) -> Status {
    let mut all = readings.iter().flat_map(|(_, readings)| readings);
    match status {
        Status::Fine if !all.all(MessageReading::is_answered) => Status::Nonconforming,
        status => status,
    }
}

/// Writes the answers that come back as files that other parsers can be tested with.
fn write_recorded(
    folder: &Path,
    suite: &Suite,
    readings: &[(&Template, Vec<MessageReading>)],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let failed = |problem| Failure::Problems(vec![problem]);
    let cases: BTreeMap<_, _> = suite.cases.iter().map(|case| (&case.id, case)).collect();
    for (template, readings) in readings {
        let compiled = template.response_template.as_ref();
        let Some(compiled) = compiled.and_then(|json| ResponseTemplate::from_json(json).ok())
        else {
            continue;
        };
        let answers = readings.iter().filter_map(|reading| {
            RecordedAnswer::of(reading, cases.get(&reading.id.case)?, &compiled)
        });
        let answers: Vec<RecordedAnswer> = answers.collect();
        let path = write_family(folder, template.name.as_str(), &answers).map_err(failed)?;
        report_recorded::write_written(out, &path, answers.len(), readings.len())?;
    }
    Ok(())
}

/// How a server's program reads the answers of each template.
struct Readers<'t> {
    templates: Vec<&'t Template>,
    parsers: BTreeMap<&'t TemplateName, ProgramParsers>,
    declared: BTreeMap<&'t TemplateName, DeclaredReader<'t>>,
}

impl<'t> Readers<'t> {
    fn parsers(program: &ProtocolEngine, templates: Vec<&'t Template>) -> Readers<'t> {
        let templates = of_its_dialect(program, templates);
        let parsers = templates.iter().map(|it| (&it.name, program.parsers(it)));
        Readers {
            parsers: parsers.collect(),
            declared: BTreeMap::new(),
            templates,
        }
    }

    /// With the templates' response templates.
    fn declared(
        program: &'t ProtocolEngine,
        templates: Vec<&'t Template>,
    ) -> Result<Readers<'t>, Failure> {
        if !program.reads_answers() {
            return Err(Failure::Request(format!(
                "`{}` reads no answers with response templates",
                program.name()
            )));
        }
        let templates = of_its_dialect(program, templates);
        let declared = templates.iter().filter_map(|template| {
            let reader = DeclaredReader {
                reader: program,
                response_template: template.response_template.as_ref()?,
            };
            Some((&template.name, reader))
        });
        Ok(Readers {
            declared: declared.collect(),
            parsers: BTreeMap::new(),
            templates,
        })
    }

    fn of(&self, template: &Template) -> Option<&dyn TemplateReader> {
        let parsers = self.parsers.get(&template.name);
        let parsers = parsers.map(|parsers| parsers as &dyn TemplateReader);
        let declared = self.declared.get(&template.name);
        parsers.or_else(|| declared.map(|declared| declared as &dyn TemplateReader))
    }

    /// The template's name, and those of its parsers.
    fn title(&self, template: &Template) -> String {
        let parsers = self.parsers.get(&template.name);
        match parsers.map_or(&[][..], ProgramParsers::names) {
            [] => template.name.to_string(),
            names => format!("{}, read with {}", template.name, names.join(", ")),
        }
    }
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

/// Reads the answers that somebody else recorded.
fn read_recorded(
    arguments: &RoundtripArguments,
    recorded: &Path,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let mut readers: Vec<(String, Value)> = Vec::new();
    if let Some(path) = &arguments.with {
        readers.push((shown_path(path), read_file(path)?));
    } else if !arguments.paths.is_empty() {
        let suite = inputs::load_templates(&arguments.paths, &arguments.set)?;
        if !suite.problems.is_empty() {
            return Err(Failure::Problems(suite.problems));
        }
        let templates = suite.templates.into_iter();
        let with_one = templates.filter_map(|template| {
            let response_template = template.response_template?;
            Some((template.name.to_string(), response_template))
        });
        readers.extend(with_one);
    }
    if readers.is_empty() {
        return Err(Failure::Request(
            "no response template to read with: --with FILE names one, or a template that has one"
                .to_owned(),
        ));
    }
    let families = read_families(recorded).map_err(Failure::Problems)?;
    for (name, response_template) in readers {
        let template = ResponseTemplate::from_json(&response_template).map_err(|error| {
            Failure::Request(format!(
                "`response_template` of {name} cannot be used: {error}"
            ))
        })?;
        for family in &families {
            let answers = family.answers.iter();
            let readings: Vec<_> = answers.map(|answer| answer.read(&template)).collect();
            report_recorded::write(out, family, &name, &readings, arguments.all)?;
        }
    }
    Ok(Status::Fine)
}
