//! The command `diff --twins`: compares templates that should give the same prompts.

use std::io::Write;

use crate::report;
use rolecall_core::problem::did_you_mean;
use rolecall_suite::run::MOST_OF_DIFFERENCE;
use rolecall_suite::suite::Suite;
use rolecall_suite::twins::{self, Explanations, Twins};

use crate::args::DiffArguments;
use crate::failure::{Failure, Status, tell};
use crate::home;
use crate::inputs::{self, Inputs};
use crate::session::{self, Session};

pub(super) fn execute(arguments: &DiffArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    if arguments.sources.templates.is_empty() {
        home::hold_meant(arguments.rendering.engine.is_some())?;
    }
    let Inputs {
        mut suite, origin, ..
    } = inputs::load(&arguments.sources)?;
    tell(&format!("suite: {origin}"));
    twins::prepare(&mut suite);
    let session = Session::of(&arguments.rendering);
    let chosen = session.named()?;
    let runner = session.runner(&chosen)?;
    let is_sound = session::report_input(&runner, &suite)?;
    let families = families(&suite, &arguments.operands)?;
    let explanations = match home::layout() {
        Ok(layout) if arguments.sources.templates.is_empty() => {
            twins::read(&layout.twins()).map_err(Failure::Problems)?
        }
        _ => Explanations::default(),
    };
    let mut rendered = Vec::new();
    runner.render_each(&twins::pairs(&suite, &families), |mut one| {
        one.shorten(MOST_OF_DIFFERENCE);
        rendered.push(one);
    });
    let compared = twins::compare(&suite, &families, &rendered);
    // Only divergences between compared twins can be stale.
    let explanations = explanations.of_families(&families);
    report::twins::write(out, &compared, &explanations, arguments.all)?;
    let are_explained = explanations.unexplained(&compared) == 0;
    Ok(Status::of(is_sound, are_explained))
}

/// The families of the suite's templates: all, or the one that the user names.
fn families<'s>(suite: &'s Suite, operands: &[String]) -> Result<Vec<Twins<'s>>, Failure> {
    let mut families = twins::families(suite);
    if let [_, other, ..] = operands {
        return Err(Failure::Request(format!(
            "--twins compares one family or all of them, so `{other}` is too much"
        )));
    }
    if let Some(family) = operands.first() {
        let names: Vec<_> = families.iter().map(|twins| twins.family.clone()).collect();
        families.retain(|twins| twins.family == *family);
        if families.is_empty() {
            let help = did_you_mean(family, &names)
                .unwrap_or_else(|| format!("there are {}", names.join(", ")));
            return Err(Failure::Request(format!(
                "no templates share the family `{family}`\n  {help}"
            )));
        }
    }
    if families.is_empty() {
        return Err(Failure::Request(
            "no two templates share a `family` in their sidecars".to_owned(),
        ));
    }
    Ok(families)
}
