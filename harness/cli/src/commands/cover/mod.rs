//! The command `cover`: shows which places of templates no case reaches.

pub mod html;

use std::io::Write;

use crate::args::CoverArguments;
use crate::coverage::covered;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::report::coverage as report;
use crate::session::{Session, are_above};
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
