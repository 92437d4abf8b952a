//! The command `mutate`: shows which small changes of templates no case notices.

pub mod report;

use std::io::Write;

use rolecall_explore::generation::Effort;
use rolecall_explore::mutation::TemplateMutants;

use crate::args::MutateArguments;
use crate::failure::{Failure, Status, report_problems};
use crate::inputs;
use crate::session::{Session, are_above};

pub(crate) fn execute(arguments: &MutateArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let (suite, is_wrong) = inputs::load_subject(&arguments.subject)?;
    let effort = Effort {
        seed: arguments.seed,
        tries: arguments.tries,
    };
    let session = Session::of_subject(&arguments.subject);
    let explored = session.explore(&suite, |engine, template, pairs| {
        TemplateMutants::test(engine, template, pairs, effort)
    })?;
    report_problems(&explored.problems)?;
    let all = &explored.all;
    report::write(out, all, arguments.format, arguments.all)?;
    let least = arguments.fail_under.map(usize::from);
    let below = all.iter();
    let below = below.filter(|one| least.is_some_and(|least| !one.is_at_least(least)));
    let below: Vec<&str> = below.map(|one| one.template.name.as_str()).collect();
    let is_above = are_above(arguments.fail_under, &below);
    Ok(Status::of(
        !is_wrong && explored.problems.is_empty(),
        is_above,
    ))
}
