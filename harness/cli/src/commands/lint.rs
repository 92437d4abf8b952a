//! The command `lint`: the suite itself.

use std::io::Write;
use std::path::Path;

use rolecall::file::{read_text, write_below};
use rolecall::invocation::{self, Place};
use rolecall::lint;
use rolecall::problem::Problem;
use rolecall::report::{counted, problems, schemas, screen, thousands, wrapped};

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
    let mut findings = lint::lint(&layout, &suite);
    // What programs read has its schemas in the repository only.
    let root = std::path::absolute(Path::new(".").join(layout.root()))?;
    if layout.is_checkout() && Place::of(&root) == Place::Checkout {
        for file in schemas::files() {
            let path = layout.root().join("harness").join(&file.path);
            let is_current = read_text(&path).ok().as_deref() == Some(&file.text);
            if !is_current && arguments.fix {
                write_below(layout.root(), &path, &file.text)?;
                writeln!(out, "wrote {}", path.display())?;
            } else if !is_current {
                let help = format!("run `{}`", invocation::command("lint --fix"));
                let message = "not the schema of what is written";
                findings.push(Problem::new(path, message).help(help));
            }
        }
    }
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
