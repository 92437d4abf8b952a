//! The command `lint`: the suite itself.

use std::io::Write;

use rolecall::lint;
use rolecall::report::{counted, problems, screen, thousands, wrapped};

use crate::args::LintArguments;
use crate::failure::{Failure, Status, report_problems};
use crate::{home, inputs};

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
    let suite = inputs::load_own(&layout)?;
    let findings = lint::lint(&layout, &suite);
    report_problems(&suite.problems)?;
    problems::write_shared(out, &findings)?;
    if !findings.is_empty() {
        let count = counted(findings.len(), "finding", "findings");
        writeln!(out, "{count}: see above what helps")?;
    }
    if !suite.problems.is_empty() {
        return Ok(Status::BadInput);
    }
    if !findings.is_empty() {
        return Ok(Status::Nonconforming);
    }
    let good = format!(
        "{}, {} cases in {} families, {} snapshots: nothing to mend",
        counted(suite.templates.len(), "template", "templates"),
        suite.written_cases().count(),
        suite.families.len(),
        thousands(suite.pairs().count()),
    );
    writeln!(out, "{}", wrapped(&good, screen::width(), 2))?;
    Ok(Status::Fine)
}
