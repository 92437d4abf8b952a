//! The command `list`.

use std::io::Write;

use crate::report::format::Format;
use crate::report::listing::Listing;
use rolecall_front::engines::Engines;
use rolecall_suite::divergence;
use rolecall_suite::suite::Suite;

use crate::args::{ListArguments, ListTopic};
use crate::failure::{Failure, Status, report_problems, tell};
use crate::home;
use crate::inputs::{self, Inputs};

pub(super) fn execute(arguments: &ListArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let mut status = Status::Fine;
    let mut suite = || -> Result<Suite, Failure> {
        let Inputs { suite, origin, .. } = inputs::load(&arguments.sources)?;
        tell(&format!("suite: {origin}"));
        report_problems(&suite.problems)?;
        if !suite.problems.is_empty() {
            status = Status::BadInput;
        }
        Ok(suite)
    };
    let listing = match arguments.what {
        ListTopic::Engines => Listing::engines(&Engines::default()),
        ListTopic::Fronts => Listing::fronts(),
        ListTopic::Contracts => Listing::contracts(),
        ListTopic::Templates => Listing::templates(&suite()?),
        ListTopic::Cases => Listing::cases(&suite()?),
        ListTopic::Divergences => {
            let layout = home::layout()?;
            home::tell_suite(&layout);
            let path = layout.divergences();
            Listing::divergences(&divergence::read(&path).map_err(Failure::Problems)?)
        }
    };
    if arguments.format == Format::Json {
        listing.write_json(out)?;
    } else {
        listing.write(out)?;
    }
    Ok(status)
}
