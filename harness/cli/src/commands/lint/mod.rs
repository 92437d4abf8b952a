//! The command `lint`: checks the suite itself, or response templates.

pub mod report;

use std::io::Write;
use std::path::Path;

use crate::report::{clean, inspections, problems, proof};
use crate::{cards, coverage, home, inputs};
use rayon::prelude::*;
use rolecall_core::Template;
use rolecall_core::guard::contained;
use rolecall_core::problem::Problem;
use rolecall_response::Level;
use rolecall_suite::layout::Layout;
use rolecall_suite::lint;
use rolecall_suite::proof::Proof;
use rolecall_suite::response_file::{Inspected, inspect_file, inspect_template};
use rolecall_suite::untested;

use crate::args::{LintArguments, SetArguments};
use crate::failure::{Failure, Status, report_problems};
use crate::session::Session;

/// The cases of a checkout take every way that is not explained.
const WHOLE: u8 = 100;

pub(crate) fn execute(arguments: &LintArguments, out: &mut dyn Write) -> Result<Status, Failure> {
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
    // Only a checkout has copies of the schemas beside its cases, and it gets them before the suite is
    // read: otherwise the lint would report what was just mended.
    if arguments.fix && layout.is_checkout() {
        report::write_fixed(out, &lint::fix(&layout)?)?;
    }
    let mut suite = inputs::load_whole(&layout)?;
    problems::write_notes(&mut clean::messages(), &untested::below(&layout, &suite))?;
    let mut findings = lint::lint(&layout, &suite);
    let cards = cards::wrong(&layout, &suite, &Session::default())?;
    findings.extend(cards.unused);
    suite.problems.extend(cards.problems);
    if let Some((least, by)) = demanded_coverage(&layout) {
        let (below, notes) = coverage::demanded(&suite, least, by)?;
        findings.extend(below);
        problems::write_notes(&mut clean::messages(), &notes)?;
    }
    report_problems(&suite.problems)?;
    report::write(out, &layout, &suite, &findings)?;
    Ok(Status::of(suite.problems.is_empty(), findings.is_empty()))
}

/// The share of branches that a suite's cases have to cover, and who demands it.
fn demanded_coverage(layout: &Layout) -> Option<(u8, &'static str)> {
    match layout.configuration().and_then(|own| own.least_coverage) {
        Some(least) => Some((least, "rolecall.toml")),
        None => layout
            .is_checkout()
            .then_some((WHOLE, "the suite of Rolecall")),
    }
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
    inspections::write(out, &inspected, arguments.format)?;
    let mut findings = inspected.iter().flat_map(|one| &one.findings);
    let is_broken = findings.any(|(_, finding)| finding.rule.level() == Level::Warning);
    Ok(Status::of(problems.is_empty(), !is_broken))
}

/// Tries a response template on all that some chat templates write.
fn prove(arguments: &LintArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let [path] = arguments.paths.as_slice() else {
        return Err(Failure::Request(format!(
            "--templates is for one response template, and there are {}",
            arguments.paths.len()
        )));
    };
    let mut suite = inputs::load_jinja_with_cases(&arguments.templates, &arguments.set)?;
    inputs::use_response_template(&mut suite, path)?;
    let session = Session::new(&arguments.limits, None);
    let runner = session.own_runner()?;
    let prove = |template: &Template| {
        let engine = session.engines.for_dialect(template.dialect);
        let part = format!("the proof with {}", template.name);
        contained(&part, || Proof::prove(engine, template, &suite.cases))?
    };
    let proofs: Vec<Proof> =
        runner.on_its_threads(|| suite.templates.par_iter().filter_map(prove).collect());
    proof::write(out, &proofs, &inspect_file(path)?, arguments.format)?;
    let hold = proofs.iter().all(Proof::holds);
    Ok(Status::of(suite.problems.is_empty(), hold))
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
    let suite = inputs::open(&inputs::templates_only(&[path.to_path_buf()], set))?.suite;
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
