//! The command `list`: what there is.

use std::io::Write;

use rolecall::divergence::Divergences;
use rolecall::engines::Engines;
use rolecall::report::listing::Listing;
use rolecall::suite::Suite;

use crate::args::{ListArguments, ListFormat, Listed};
use crate::failure::{Failure, Status, report_problems};
use crate::home;
use crate::inputs::{self, Inputs};

pub(super) fn execute(arguments: &ListArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let mut status = Status::Fine;
    let mut suite = || -> Result<Suite, Failure> {
        let Inputs { suite, .. } = inputs::load(&arguments.sources)?;
        report_problems(&suite.problems)?;
        if !suite.problems.is_empty() {
            status = Status::BadInput;
        }
        Ok(suite)
    };
    let listing = match arguments.what {
        Listed::Engines => Listing::engines(&Engines::default()),
        Listed::Fronts => Listing::fronts(),
        Listed::Contracts => Listing::contracts(),
        Listed::Templates => Listing::templates(&suite()?),
        Listed::Cases => Listing::cases(&suite()?),
        Listed::Divergences => {
            let path = home::layout()?.divergences();
            Listing::divergences(&Divergences::read(&path).map_err(Failure::Problems)?)
        }
    };
    match arguments.format {
        ListFormat::Human => listing.write(out)?,
        ListFormat::Json => listing.write_json(out)?,
    }
    Ok(status)
}
