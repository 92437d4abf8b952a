//! The command `infer`: proves a response template against chat templates, or writes a first draft.

use std::io::Write;

use crate::report::assumed;
use crate::report::format::Format;
use crate::report::inspections;
use crate::report::json;
use crate::report::proof as report;
use rayon::prelude::*;
use rolecall_answers::draft::Draft;
use rolecall_check::card;
use rolecall_core::{Dialect, Template};
use rolecall_front::engines::Engines;
use rolecall_suite::proof::Proof;
use rolecall_suite::response_file::{inspect_file, read_file};
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Suite;

use crate::args::InferArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::inputs;

pub(super) fn execute(arguments: &InferArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let proven = arguments.prove.as_deref();
    let proven = proven.map(read_file).transpose()?;
    let mut suite = inputs::load_templates_with_cases(&arguments.paths, &arguments.set)?;
    report_problems(&suite.problems)?;
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
            "there is no chat template to take answers from".to_owned(),
        ));
    }
    let engines = arguments.limits.chosen().engines();
    let Some(response_template) = proven else {
        return draft(&mut suite, &engines, out);
    };
    for template in &mut suite.templates {
        template.response_template = Some(response_template.clone());
    }
    let runner = Runner::new(&engines, &[], None)?;
    let prove = |template: &Template| {
        let engine = engines.for_dialect(template.dialect)?;
        Proof::of(engine, template, &suite.cases)
    };
    let proofs: Vec<Proof> =
        runner.on_its_threads(|| suite.templates.par_iter().filter_map(prove).collect());
    if arguments.format == Format::Json {
        report::write_json(out, &proofs)?;
    } else {
        // What is wrong with it whatever a chat template writes comes first.
        if let Some(path) = &arguments.prove {
            inspections::write_warnings(out, &inspect_file(path)?)?;
        }
        let file = arguments.prove.as_ref();
        let file = file.map_or_else(String::new, |file| file.display().to_string());
        for (index, proof) in proofs.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            report::write(out, proof, &file)?;
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

/// Writes a first draft of a response template, and reports what it lacks and how it does.
fn draft(suite: &mut Suite, engines: &Engines, out: &mut dyn Write) -> Result<Status, Failure> {
    let [template] = suite.templates.as_mut_slice() else {
        return Err(Failure::Request(format!(
            "a draft is for one template, and there are {}",
            suite.templates.len()
        )));
    };
    let Some(engine) = engines.for_dialect(template.dialect) else {
        return Err(Failure::Request(
            "no engine renders this template".to_owned(),
        ));
    };
    if let Some(sentence) = assumed::in_words("drafted", &card::assumed(template)) {
        tell(&sentence);
    }
    *template = card::with_assumed_tokens(template).into_owned();
    let draft = Draft::of(engine, template);
    let draft = draft.map_err(|why| Failure::Request(format!("{}: {why}", template.name)))?;
    json::write(out, &draft.response_template)?;
    for sentence in &draft.unknown {
        tell(sentence);
    }
    template.response_template = Some(draft.response_template);
    let proof = Proof::of(engine, template, &suite.cases);
    if let Some(proof) = proof {
        tell(&report::sentence(&proof));
    }
    tell("This is a first draft. Write it to a file, and prove it with --prove FILE.");
    Ok(Status::Fine)
}
