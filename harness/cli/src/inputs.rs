//! Finds what a command works on.

use std::path::PathBuf;

use rolecall::baseline::Baseline;
use rolecall::layout::Layout;
use rolecall::report::problems;
use rolecall::suite::{Pair, Suite, templates_of};

use crate::args::SourceArguments;
use crate::failure::Failure;
use crate::home;

/// What a command works on.
pub(crate) struct Inputs {
    pub(crate) suite: Suite,
    /// Where the suite is, if all of it is the suite's: templates or cases from elsewhere
    /// have neither snapshots nor records.
    pub(crate) layout: Option<Layout>,
}

impl Inputs {
    /// What was accepted and recorded of the templates of some pairs; nothing of templates
    /// or cases from elsewhere.
    pub(crate) fn baseline(&self, pairs: &[Pair<'_>]) -> Result<Option<Baseline>, Failure> {
        let Some(layout) = &self.layout else {
            return Ok(None);
        };
        let baseline = Baseline::read(layout, templates_of(pairs)).map_err(Failure::Problems)?;
        Ok(Some(baseline))
    }
}

/// Loads the templates of some paths, or the suite's own without one, and the suite's cases.
pub(crate) fn load_templates(paths: &[PathBuf]) -> Result<Suite, Failure> {
    let suite = find(paths, &[])?.suite;
    problems::write_notes(&mut anstream::stderr(), &suite.notes)?;
    Ok(suite)
}

/// Loads what the arguments name, and the suite's own for the rest. What there is to know
/// about the sources is told on standard error.
pub(crate) fn load(arguments: &SourceArguments) -> Result<Inputs, Failure> {
    let inputs = find(&arguments.templates, &arguments.cases)?;
    problems::write_notes(&mut anstream::stderr(), &inputs.suite.notes)?;
    Ok(inputs)
}

/// Loads all of a suite, and tells what there is to know about its sources.
pub(crate) fn load_own(layout: &Layout) -> Result<Suite, Failure> {
    let suite = Suite::load_layout(layout);
    problems::write_notes(&mut anstream::stderr(), &suite.notes)?;
    Ok(suite)
}

fn find(templates: &[PathBuf], cases: &[PathBuf]) -> Result<Inputs, Failure> {
    let layout = home::layout()?;
    Ok(if templates.is_empty() && cases.is_empty() {
        Inputs {
            suite: Suite::load_layout(&layout),
            layout: Some(layout),
        }
    } else {
        Inputs {
            suite: Suite::load_around(&layout, templates, cases),
            layout: None,
        }
    })
}
