//! The command `cover`: shows which places of templates no case reaches.

pub mod report;

pub mod html;

use std::io::Write;

use crate::report::percent;
use rolecall_core::invocation;
use rolecall_core::problem::{Note, Problem};
use rolecall_explore::coverage::TemplateCoverage;
use rolecall_io::template_file::{place, sidecar};
use rolecall_suite::suite::Suite;

use crate::args::CoverArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::session::{Explored, Session, are_above};
use crate::{inputs, page};

pub(crate) fn execute(arguments: &CoverArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let (suite, is_wrong) = inputs::load_subject(&arguments.subject)?;
    let explored = covered(&suite, &Session::of_subject(&arguments.subject))?;
    report_problems(&explored.problems)?;
    let all = &explored.all;
    if let Some(path) = &arguments.html {
        page::write(path, |out| html::write(out, all))?;
    }
    for name in report::write(out, all, arguments.format, arguments.all)? {
        tell(&format!(
            "{name}: left out, because its lines are no lines of its file"
        ));
    }
    let least = arguments.fail_under.map(usize::from);
    let below = all.iter();
    let below = below.filter(|one| least.is_some_and(|least| !one.whole().is_at_least(least)));
    let below: Vec<&str> = below.map(|one| one.template.name.as_str()).collect();
    let is_above = are_above(arguments.fail_under, &below);
    Ok(Status::of(
        !is_wrong && explored.problems.is_empty(),
        is_above,
    ))
}

/// The coverage of a suite's templates by its cases, and the templates that no engine takes.
fn covered<'s>(
    suite: &'s Suite,
    session: &Session,
) -> Result<Explored<TemplateCoverage<'s>>, Failure> {
    session.explore(suite, |engine, template, pairs| {
        TemplateCoverage::of(engine, template, pairs, |_, _| {})
    })
}

/// The templates of a suite whose cases take less than a share of their branches, in per cent; the
/// explanations that explain nothing; and the places that no case reaches.
pub(crate) fn demanded(
    suite: &Suite,
    least: u8,
    by: &str,
) -> Result<(Vec<Problem>, Vec<Note>), Failure> {
    let Explored { all, mut problems } = covered(suite, &Session::default())?;
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
            let message = format!("`unreached` explains `{place}` {}: {why}", branch.name());
            let problem = Problem::new(sidecar(&coverage.template.path), message);
            problems.push(problem.help("delete the explanation, or correct it"));
        }
    }
    Ok((problems, all.iter().flat_map(report::notes).collect()))
}
