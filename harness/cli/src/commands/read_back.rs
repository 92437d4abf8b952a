//! The command `read-back`: reads the answers that templates write with their response templates.

use std::io::Write;

use rolecall::problem::Problem;
use rolecall::readback::reader::OwnReader;
use rolecall::readings::{read_each, unusable};
use rolecall::report::readings as report;
use rolecall::run::Runner;
use rolecall::template_file::place;
use rolecall_model::Template;

use crate::args::ReadBackArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::inputs;
use crate::readings::response_template;

pub(super) fn execute(
    arguments: &ReadBackArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let mut suite = inputs::load_templates_with_cases(&arguments.paths, &arguments.set)?;
    report_problems(&suite.problems)?;
    if let Some(path) = &arguments.with {
        let response_template = response_template(path)?;
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
