//! The command `list`.

pub mod report;

use std::io::Write;

use report as listing;
use report::ListDocument;
use rolecall_front::engines::Engines;
use rolecall_suite::divergence;
use rolecall_suite::workspace::Workspace;

use crate::args::{ListArguments, ListTopic};
use crate::failure::{Failure, Status, report_problems, tell};
use crate::{home, inputs};

pub(crate) fn execute(arguments: &ListArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let mut write = |list, suite| listing::write(out, &list, arguments.format, suite);
    match arguments.what {
        ListTopic::Engines => write(ListDocument::engines(&Engines::default()), None)?,
        ListTopic::Fronts => write(ListDocument::fronts(), None)?,
        ListTopic::Contracts => write(ListDocument::contracts(), None)?,
        ListTopic::Divergences => {
            let layout = home::layout()?;
            home::tell_suite(&layout);
            let listed = divergence::read(&layout.divergences()).map_err(Failure::Problems)?;
            write(ListDocument::divergences(&listed), None)?;
        }
        ListTopic::Templates | ListTopic::Cases => {
            let Workspace { suite, origin, .. } = inputs::open(&arguments.sources.subject(&[]))?;
            tell(&format!("suite: {origin}"));
            report_problems(&suite.problems)?;
            let list = match arguments.what {
                ListTopic::Templates => ListDocument::templates(&suite),
                _ => ListDocument::cases(&suite),
            };
            write(list, Some(&suite))?;
            return Ok(Status::of(suite.problems.is_empty(), true));
        }
    }
    Ok(Status::Fine)
}
