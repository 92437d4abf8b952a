//! The command `infer`: proves a response template against chat templates.

use std::io::Write;

use rayon::prelude::*;
use rolecall::proof::Proof;
use rolecall::report::format::Format;
use rolecall::report::proof as report;
use rolecall::run::Runner;
use rolecall_model::{Dialect, Template};

use crate::args::InferArguments;
use crate::failure::{Failure, Status, report_problems};
use crate::inputs;
use crate::readings::response_template;

pub(super) fn execute(arguments: &InferArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let response_template = response_template(&arguments.prove)?;
    let mut suite = inputs::load_templates_with_cases(&arguments.paths, &arguments.set)?;
    report_problems(&suite.problems)?;
    for template in &mut suite.templates {
        template.response_template = Some(response_template.clone());
    }
    let others = suite.templates.iter();
    let others = others.filter(|template| template.dialect != Dialect::Jinja);
    let others: Vec<&str> = others.map(|template| template.name.as_str()).collect();
    if !others.is_empty() {
        return Err(Failure::Request(format!(
            "response templates are for Jinja templates, and this one is for Ollama: {}",
            others.join(", ")
        )));
    }
    if suite.templates.is_empty() {
        return Err(Failure::Request(
            "there is no template to prove it against".to_owned(),
        ));
    }
    let engines = arguments.limits.chosen().engines();
    let runner = Runner::new(&engines, &[], None)?;
    let prove = |template: &Template| {
        let engine = engines.for_dialect(template.dialect)?;
        Proof::of(engine, template, &suite.cases)
    };
    let proofs: Vec<Proof> =
        runner.on_its_threads(|| suite.templates.par_iter().filter_map(prove).collect());
    match arguments.format {
        Format::Json => report::write_json(out, &proofs)?,
        _ => {
            let file = arguments.prove.display().to_string();
            for (index, proof) in proofs.iter().enumerate() {
                if index > 0 {
                    writeln!(out)?;
                }
                report::write(out, proof, &file)?;
            }
        }
    }
    Ok(if !suite.problems.is_empty() {
        Status::BadInput
    } else if proofs.iter().all(Proof::holds) {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}
