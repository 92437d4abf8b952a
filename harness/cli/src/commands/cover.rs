//! The command `cover`: shows which places of templates no case reaches.

use std::io::Write;

use crate::report::coverage as report;
use crate::report::format::Format;
use crate::report::html;
use crate::report::percent;
use crate::report::screen;
use rayon::prelude::*;
use rolecall_core::invocation;
use rolecall_core::problem::{Note, Problem};
use rolecall_explore::coverage::{TemplateCoverage, UnusedExplanation};
use rolecall_front::engines::Engines;
use rolecall_io::template_file::{place, sidecar};
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Suite;

use crate::args::CoverArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::{inputs, page};

pub(super) fn execute(arguments: &CoverArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let (suite, mut is_wrong) = inputs::load_subject(&arguments.subject)?;
    let engines = arguments.subject.limits.chosen().engines();
    let jobs = arguments.subject.jobs.map(usize::from);
    let (all, problems) = covered(&suite, &engines, jobs)?;
    report_problems(&problems)?;
    is_wrong |= !problems.is_empty();
    if let Some(path) = &arguments.html {
        page::write(path, |out| html::coverage::write(out, &all))?;
    }
    match arguments.format {
        Format::Json => report::write_json(out, &all)?,
        Format::Lcov => {
            for name in report::write_lcov(out, &all)? {
                tell(&format!(
                    "{name}: left out, because its lines are no lines of its file"
                ));
            }
        }
        _ => {
            for (index, coverage) in all.iter().enumerate() {
                if index > 0 {
                    writeln!(out)?;
                }
                report::write(out, coverage, arguments.all)?;
            }
            if screen::is_quiet() {
                report::write_whole(out, &all)?;
            }
        }
    }
    let under = all.iter().filter(|coverage| {
        let least = arguments.fail_under.map(usize::from);
        least.is_some_and(|least| !coverage.whole().is_at_least(least))
    });
    let under: Vec<&str> = under
        .map(|coverage| coverage.template.name.as_str())
        .collect();
    if let (Some(least), false) = (arguments.fail_under, under.is_empty()) {
        tell(&format!("below {least} %: {}", under.join(", ")));
    }
    Ok(if is_wrong {
        Status::BadInput
    } else if under.is_empty() {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}

/// The coverage of a suite's templates by its cases, and the templates that no engine takes.
fn covered<'s>(
    suite: &'s Suite,
    engines: &Engines,
    jobs: Option<usize>,
) -> Result<(Vec<TemplateCoverage<'s>>, Vec<Problem>), Failure> {
    let runner = Runner::new(engines, &[], jobs)?;
    let covered: Vec<_> = runner.on_its_threads(|| {
        let templates = suite.templates.par_iter().filter_map(|template| {
            let engine = engines.for_dialect(template.dialect)?;
            let pairs = suite.pairs_among(template, &suite.cases);
            let coverage = TemplateCoverage::of(engine, template, pairs, |_, _| {});
            Some(coverage.map_err(|why| Problem::new(place(template, why.line()), why.to_string())))
        });
        templates.collect()
    });
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for coverage in covered {
        match coverage {
            Ok(coverage) => all.push(coverage),
            Err(problem) => problems.push(problem),
        }
    }
    Ok((all, problems))
}

/// The templates of a suite whose cases take less than a share of their branches, in per cent; the
/// explanations that explain nothing; and the places that no case reaches.
pub(super) fn demanded(
    suite: &Suite,
    least: u8,
    by: &str,
) -> Result<(Vec<Problem>, Vec<Note>), Failure> {
    let (all, mut problems) = covered(suite, &Engines::default(), None)?;
    for coverage in &all {
        let whole = coverage.whole();
        if !whole.is_at_least(usize::from(least)) {
            let share = percent(whole.reached, whole.all);
            let message = format!(
                "the cases cover {share} of its branches, and {by} demands \
                                   {least} %"
            );
            let name = invocation::word(coverage.template.name.as_str());
            let help = invocation::command(&format!("cover {name}"));
            let problem = Problem::new(place(coverage.template, None), message);
            problems.push(problem.help(format!("`{help}` shows the places that no case reaches")));
        }
        for (place, branch, why) in coverage.unused_explanations() {
            let why = match why {
                UnusedExplanation::NoPlace => "the template has no such place",
                UnusedExplanation::Taken => {
                    "some case covers this branch, or the place has no such branch"
                }
            };
            let message = format!("`unreached` explains `{place}` {}: {why}", branch.name());
            let problem = Problem::new(sidecar(&coverage.template.path), message);
            problems.push(problem.help("delete the explanation, or correct it"));
        }
    }
    Ok((problems, all.iter().flat_map(report::notes).collect()))
}
