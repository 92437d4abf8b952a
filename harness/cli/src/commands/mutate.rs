//! The command `mutate`: shows which small changes of templates no case notices.

use std::io::Write;

use crate::report::format::Format;
use crate::report::mutation as report;
use rolecall_core::problem::Problem;
use rolecall_explore::generation::Effort;
use rolecall_explore::mutation::TemplateMutants;
use rolecall_io::template_file::place;
use rolecall_suite::run::Runner;

use crate::args::MutateArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::inputs;

pub(super) fn execute(arguments: &MutateArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let (suite, mut is_wrong) = inputs::load_subject(&arguments.subject)?;
    let engines = arguments.subject.limits.chosen().engines();
    let runner = Runner::new(&engines, &[], arguments.subject.jobs.map(usize::from))?;
    let effort = Effort {
        seed: arguments.seed,
        tries: arguments.tries,
    };
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for template in &suite.templates {
        let Some(engine) = engines.for_dialect(template.dialect) else {
            continue;
        };
        let pairs: Vec<_> = suite.pairs_among(template, &suite.cases).collect();
        match runner.on_its_threads(|| TemplateMutants::of(engine, template, pairs, effort)) {
            Ok(mutants) => all.push(mutants),
            Err(why) => {
                problems.push(Problem::new(place(template, why.line()), why.to_string()));
            }
        }
    }
    report_problems(&problems)?;
    is_wrong |= !problems.is_empty();
    match arguments.format {
        Format::Json => report::write_json(out, &all)?,
        _ => {
            for (index, mutants) in all.iter().enumerate() {
                if index > 0 {
                    writeln!(out)?;
                }
                report::write(out, mutants, arguments.all)?;
            }
        }
    }
    let under = all.iter().filter(|mutants| {
        let least = arguments.fail_under.map(usize::from);
        least.is_some_and(|least| !mutants.is_at_least(least))
    });
    let under: Vec<&str> = under
        .map(|mutants| mutants.template.name.as_str())
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
