//! The command `lint`: checks the suite itself, or response templates.

use std::io::Write;
use std::path::Path;

use crate::lint;
use crate::report;
use crate::report::clean;
use crate::report::format::Format;
use crate::report::inspections;
use crate::report::problems;
use crate::report::proof;
use rayon::prelude::*;
use rolecall_core::Template;
use rolecall_core::problem::Problem;
use rolecall_front::engines::Engines;
use rolecall_response::Level;
use rolecall_suite::proof::Proof;
use rolecall_suite::response_file::{Inspected, inspect_file, inspect_template, read_file};
use rolecall_suite::run::Runner;

use super::cover;
use crate::args::{LintArguments, SetArguments};
use crate::failure::{Failure, Status, report_problems};
use crate::{cards, home, inputs};

/// The cases of a checkout take every way that is not explained.
const WHOLE: u8 = 100;

pub(super) fn execute(arguments: &LintArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    if !arguments.templates.is_empty() {
        return prove(arguments, out);
    }
    if !arguments.paths.is_empty() {
        return response_templates(arguments, out);
    }
    home::hold_meant(false)?;
    let layout = if arguments.fix {
        home::writable_layout()?
    } else {
        home::layout()?
    };
    if arguments.fix && layout.is_checkout() {
        report::lint::write_fixed(out, &lint::fix(&layout)?)?;
    }
    let mut suite = inputs::load_own(&layout)?;
    let mut findings = lint::lint(&layout, &suite);
    let cards = cards::wrong(&layout, &suite, &Engines::default())?;
    findings.extend(cards.unused);
    suite.problems.extend(cards.problems);
    let own = layout.configuration().and_then(|own| own.least_coverage);
    let least = match own {
        Some(least) => Some((least, "rolecall.toml")),
        None => layout
            .is_checkout()
            .then_some((WHOLE, "the suite of Rolecall")),
    };
    if let Some((least, by)) = least {
        let (below, notes) = cover::demanded(&suite, least, by)?;
        findings.extend(below);
        problems::write_notes(&mut clean::messages(), &notes)?;
    }
    report_problems(&suite.problems)?;
    report::lint::write(out, &layout, &suite, &findings)?;
    Ok(match (suite.problems.as_slice(), findings.as_slice()) {
        ([], []) => Status::Fine,
        ([], _) => Status::Nonconforming,
        _ => Status::BadInput,
    })
}

/// Looks at the named response templates only.
fn response_templates(arguments: &LintArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let mut inspected = Vec::new();
    let mut problems = Vec::new();
    for path in &arguments.paths {
        match inspect(path, &arguments.set) {
            Ok(found) => inspected.extend(found),
            Err(Failure::Problem(found)) => problems.push(found),
            Err(Failure::Problems(found)) => problems.extend(found),
            Err(other) => return Err(other),
        }
    }
    report_problems(&problems)?;
    match arguments.format {
        Format::Human if inspected.is_empty() => {}
        Format::Human => inspections::write(out, &inspected)?,
        _ => inspections::write_json(out, &inspected)?,
    }
    if !problems.is_empty() {
        return Ok(Status::BadInput);
    }
    let mut findings = inspected.iter().flat_map(|one| &one.findings);
    let is_broken = findings.any(|(_, finding)| finding.rule.level() == Level::Warning);
    Ok(if is_broken {
        Status::Nonconforming
    } else {
        Status::Fine
    })
}

/// Tries a response template on all that some chat templates write.
fn prove(arguments: &LintArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let [path] = arguments.paths.as_slice() else {
        return Err(Failure::Request(format!(
            "--templates is for one response template, and there are {}",
            arguments.paths.len()
        )));
    };
    let response_template = read_file(path)?;
    let mut suite = inputs::load_jinja_with_cases(&arguments.templates, &arguments.set)?;
    for template in &mut suite.templates {
        template.response_template = Some(response_template.clone());
    }
    let engines = arguments.limits.chosen().engines();
    let runner = Runner::new(&engines, &[], None)?;
    let prove = |template: &Template| {
        let engine = engines.for_dialect(template.dialect)?;
        Proof::of(engine, template, &suite.cases)
    };
    let proofs: Vec<Proof> =
        runner.on_its_threads(|| suite.templates.par_iter().filter_map(prove).collect());
    if arguments.format == Format::Json {
        proof::write_json(out, &proofs)?;
    } else {
        // What is wrong with it whatever a chat template writes comes first.
        inspections::write_warnings(out, &inspect_file(path)?)?;
        for (index, one) in proofs.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            proof::write(out, one, &path.display().to_string())?;
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

/// What an argument names: a file with a response template, a folder with one, or templates.
fn inspect(path: &Path, set: &SetArguments) -> Result<Vec<Inspected>, Failure> {
    let is_file = path.is_file()
        && path
            .extension()
            .is_some_and(|extension| extension == "json");
    if is_file || path.join("tokenizer_config.json").is_file() {
        return Ok(vec![inspect_file(path)?]);
    }
    let suite = inputs::load_templates(&[path.to_path_buf()], set)?;
    if !suite.problems.is_empty() {
        return Err(Failure::Problems(suite.problems));
    }
    let found = suite.templates.iter().filter_map(inspect_template);
    let mut found = found.collect::<Result<Vec<_>, Problem>>()?;
    // Templates of one model share it.
    found.dedup_by(|one, other| one.path == other.path);
    if found.is_empty() {
        let problem = Problem::new(path, "there is no response template").help(
            "it is `response_template` in tokenizer_config.json or in the template's sidecar",
        );
        return Err(problem.into());
    }
    Ok(found)
}
