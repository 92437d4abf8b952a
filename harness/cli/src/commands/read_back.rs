//! The command `read-back`: reads the answers that templates write with their response templates.

use std::io::Write;
use std::path::Path;

use rolecall::file::read_text;
use rolecall::json::syntax_problem;
use rolecall::problem::{Problem, shown_path};
use rolecall::readback::reader::OwnReader;
use rolecall::readings::{read_each, unusable};
use rolecall::recorded_answers::read_families;
use rolecall::report::readings as report;
use rolecall::report::recorded as report_recorded;
use rolecall::run::Runner;
use rolecall::template_file::place;
use rolecall_model::Template;
use rolecall_response::ResponseTemplate;
use serde_json::Value;

use crate::args::ReadBackArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::inputs;

pub(super) fn execute(
    arguments: &ReadBackArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    if let Some(recorded) = &arguments.recorded {
        return read_recorded(arguments, recorded, out);
    }
    let mut suite = inputs::load_templates_with_cases(&arguments.paths, &arguments.set)?;
    report_problems(&suite.problems)?;
    if let Some(path) = &arguments.with {
        let response_template = read(path)?;
        for template in &mut suite.templates {
            template.response_template = Some(response_template.clone());
        }
    }
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
    let unusable = readable.iter().filter_map(|template| unusable(template));
    let unusable: Vec<Problem> = unusable.collect();
    if !unusable.is_empty() {
        return Err(Failure::Problems(unusable));
    }
    let engines = arguments.limits.chosen().engines();
    let runner = Runner::new(&engines, &[], arguments.jobs.map(usize::from))?;
    let engine = |template: &Template| engines.for_dialect(template.dialect);
    let reader = OwnReader::default();
    let readings = runner.on_its_threads(|| read_each(&suite, &readable, &engine, &reader));
    for (template, readings) in &readings {
        report::write(out, template.name.as_str(), readings, arguments.all)?;
    }
    Ok(if suite.problems.is_empty() {
        Status::Fine
    } else {
        Status::BadInput
    })
}

/// Reads the answers that somebody else recorded.
fn read_recorded(
    arguments: &ReadBackArguments,
    recorded: &Path,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let mut readers: Vec<(String, Value)> = Vec::new();
    if let Some(path) = &arguments.with {
        readers.push((shown_path(path), read(path)?));
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

/// Reads a file with a response template.
fn read(path: &Path) -> Result<Value, Failure> {
    let text = read_text(path)?;
    let value = serde_json::from_str(&text);
    let value: Value = value.map_err(|error| syntax_problem(path, &text, &error))?;
    // A `tokenizer_config.json` has it under a key.
    let inner = value.get("response_template").cloned();
    let value = inner.unwrap_or(value);
    if let Err(error) = ResponseTemplate::from_json(&value) {
        let problem = Problem::new(path, format!("not a response template: {error}"));
        return Err(problem.into());
    }
    Ok(value)
}
