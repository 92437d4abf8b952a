//! The command `lint`: the suite itself.

use std::io::Write;

use rolecall::lint;
use rolecall::report::{counted, problems, thousands};
use rolecall::suite::Suite;

use crate::args::LintArguments;
use crate::failure::{Failure, Status, report_problems};
use crate::home;

pub(super) fn execute(arguments: &LintArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = if arguments.fix {
        home::writable_layout()?
    } else {
        home::layout()?
    };
    if arguments.fix && layout.is_checkout() {
        for path in lint::fix(&layout)? {
            writeln!(out, "wrote {}", path.display())?;
        }
    }
    let suite = Suite::load_layout(&layout);
    let findings = lint::lint(&layout, &suite);
    report_problems(&suite.problems)?;
    problems::write_shared(out, &findings)?;
    if !suite.problems.is_empty() {
        return Ok(Status::BadInput);
    }
    if !findings.is_empty() {
        return Ok(Status::Nonconforming);
    }
    writeln!(
        out,
        "{}, {} cases in {} families, {} snapshots: nothing to mend",
        counted(suite.templates.len(), "template", "templates"),
        suite.written_cases().count(),
        suite.families.len(),
        thousands(suite.pairs().count()),
    )?;
    Ok(Status::Fine)
}
