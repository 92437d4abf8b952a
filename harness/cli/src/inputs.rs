//! Finds what a command works on.

use std::path::{Path, PathBuf};

use rolecall::baseline::Baseline;
use rolecall::file::is_there;
use rolecall::layout::Layout;
use rolecall::problem::Problem;
use rolecall::report::problems;
use rolecall::suite::{Pair, Suite, templates_of};

use crate::args::{SetArguments, SourceArguments};
use crate::failure::{Failure, tell};
use crate::sources::{NOT_THERE, Sources};
use crate::{home, remote};

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

/// Loads the templates that are named, or the suite's own without one, and no cases.
pub(crate) fn load_templates(named: &[PathBuf], set: &SetArguments) -> Result<Suite, Failure> {
    let layout = home::layout()?;
    let sources = Sources::find(named, set)?;
    let mut suite = if named.is_empty() || !sources.paths().is_empty() {
        Suite::templates_around(&fetched_unless(&layout, named), sources.paths())
    } else {
        Suite::default()
    };
    sources.settle(&mut suite);
    problems::write_notes(&mut anstream::stderr(), &suite.notes)?;
    Ok(suite)
}

/// Loads the templates that are named, or the suite's own without one, and the suite's cases.
pub(crate) fn load_templates_with_cases(
    named: &[PathBuf],
    set: &SetArguments,
) -> Result<Suite, Failure> {
    let suite = find(named, &[], set)?.suite;
    problems::write_notes(&mut anstream::stderr(), &suite.notes)?;
    Ok(suite)
}

/// Loads what the arguments name, and the suite's own for the rest. What there is to know
/// about the sources is told on standard error.
pub(crate) fn load(arguments: &SourceArguments) -> Result<Inputs, Failure> {
    let inputs = find(&arguments.templates, &arguments.cases, &arguments.set)?;
    problems::write_notes(&mut anstream::stderr(), &inputs.suite.notes)?;
    Ok(inputs)
}

/// Loads all of a suite, and tells what there is to know about its sources.
pub(crate) fn load_own(layout: &Layout) -> Result<Suite, Failure> {
    let suite = Suite::load_layout(&fetched(layout));
    problems::write_notes(&mut anstream::stderr(), &suite.notes)?;
    Ok(suite)
}

/// Loads what is named as [`load`] does, and tells nothing.
pub(crate) fn find(
    templates: &[PathBuf],
    cases: &[PathBuf],
    set: &SetArguments,
) -> Result<Inputs, Failure> {
    let layout = home::layout()?;
    if templates.is_empty() && cases.is_empty() {
        // Nothing can be set on them: that would be asked for in vain.
        Sources::find(templates, set)?;
        return Ok(Inputs {
            suite: Suite::load_layout(&fetched(&layout)),
            layout: Some(layout),
        });
    }
    let sources = Sources::find(templates, set)?;
    let layout = fetched_unless(&layout, templates);
    let mut suite = if templates.is_empty() || !sources.paths().is_empty() {
        Suite::load_around(&layout, sources.paths(), cases)
    } else {
        // None of those that were named could be found.
        Suite::default()
    };
    sources.settle(&mut suite);
    Ok(Inputs {
        suite,
        layout: None,
    })
}

/// The layout as [`fetched`] gives it, unless its templates are not asked for.
fn fetched_unless(layout: &Layout, named: &[PathBuf]) -> Layout {
    if named.is_empty() {
        fetched(layout)
    } else {
        layout.clone()
    }
}

/// The layout with the models that a suite of one's own names, after fetching what is not on
/// this machine.
fn fetched(layout: &Layout) -> Layout {
    layout.with_sources(|configured| {
        let source = Path::new(&configured.source);
        if let Some(found) = remote::find(source) {
            return Some(found.map(|found| {
                if let Some(fetched) = &found.fetched {
                    tell(fetched);
                }
                found.path
            }));
        }
        // A name that was meant for one of a model.
        let is_there = configured.local.as_ref().is_ok_and(|local| is_there(local));
        let meant = remote::meant(source).filter(|_| !is_there)?;
        Some(Err(Problem::new(source, NOT_THERE).help(meant)))
    })
}
