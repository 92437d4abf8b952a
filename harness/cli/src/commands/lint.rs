//! The command `lint`: checks the suite itself.

use std::io::Write;

use rolecall::engines::Engines;
use rolecall::lint;
use rolecall::report;

use crate::args::LintArguments;
use crate::failure::{Failure, Status, report_problems};
use crate::{cards, home, inputs};

pub(super) fn execute(arguments: &LintArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    home::hold_meant(false)?;
    let layout = if arguments.fix {
        home::writable_layout()?
    } else {
        home::layout()?
    };
    if arguments.fix && layout.is_checkout() {
        report::lint::write_mended(out, &lint::fix(&layout)?)?;
    }
    let mut suite = inputs::load_own(&layout)?;
    let mut findings = lint::lint(&layout, &suite);
    let cards = cards::wrong(&layout, &suite, &Engines::default())?;
    findings.extend(cards.idle);
    suite.problems.extend(cards.problems);
    report_problems(&suite.problems)?;
    report::lint::write(out, &layout, &suite, &findings)?;
    Ok(match (suite.problems.as_slice(), findings.as_slice()) {
        ([], []) => Status::Fine,
        ([], _) => Status::Nonconforming,
        _ => Status::BadInput,
    })
}
