//! The templates, cases, snapshots and records that a command works on.

use std::path::{Path, PathBuf};

use rolecall::expectations::Expectations;
use rolecall::file::is_there;
use rolecall::layout::Layout;
use rolecall::problem::Problem;
use rolecall::report::{clean, problems};
use rolecall::suite::{Pair, Suite, templates_of};

use crate::args::{SetArguments, SourceArguments};
use crate::cache::cache_folder;
use crate::failure::{Failure, tell};
use crate::home;
use crate::sources::{NOT_THERE, Sources};

/// The inputs of a command.
pub(crate) struct Inputs {
    pub(crate) suite: Suite,
    /// The suite's layout, if every input comes from the suite: templates and cases from elsewhere
    /// have neither snapshots nor records.
    pub(crate) layout: Option<Layout>,
}

impl Inputs {
    /// The snapshots and records of some pairs. Empty for templates or cases from elsewhere.
    pub(crate) fn expectations(&self, pairs: &[Pair<'_>]) -> Result<Option<Expectations>, Failure> {
        let Some(layout) = &self.layout else {
            return Ok(None);
        };
        let expectations =
            Expectations::read(layout, templates_of(pairs)).map_err(Failure::Problems)?;
        Ok(Some(expectations))
    }
}

/// Loads the named templates, or the suite's own if none is named, and no cases.
pub(crate) fn load_templates(named: &[PathBuf], set: &SetArguments) -> Result<Suite, Failure> {
    let layout = home::layout()?;
    let sources = Sources::find(named, set)?;
    let mut suite = if named.is_empty() || !sources.paths().is_empty() {
        Suite::templates_around(&fetched_unless(&layout, named), sources.paths())
    } else {
        Suite::default()
    };
    sources.settle(&mut suite);
    problems::write_notes(&mut clean::messages(), &suite.notes)?;
    Ok(suite)
}

/// Loads the named templates, or the suite's own if none is named, and the suite's cases.
pub(crate) fn load_templates_with_cases(
    named: &[PathBuf],
    set: &SetArguments,
) -> Result<Suite, Failure> {
    let suite = find(named, &[], set)?.suite;
    problems::write_notes(&mut clean::messages(), &suite.notes)?;
    Ok(suite)
}

/// Loads the inputs that the arguments name, and takes the others from the suite. Reports notes on
/// the sources on standard error.
pub(crate) fn load(arguments: &SourceArguments) -> Result<Inputs, Failure> {
    let inputs = find(&arguments.templates, &arguments.cases, &arguments.set)?;
    problems::write_notes(&mut clean::messages(), &inputs.suite.notes)?;
    Ok(inputs)
}

/// Loads a whole suite, and reports notes on its sources.
pub(crate) fn load_own(layout: &Layout) -> Result<Suite, Failure> {
    let suite = Suite::load_layout(&fetched(layout));
    problems::write_notes(&mut clean::messages(), &suite.notes)?;
    Ok(suite)
}

/// Loads as [`load`] does, and reports nothing.
pub(crate) fn find(
    templates: &[PathBuf],
    cases: &[PathBuf],
    set: &SetArguments,
) -> Result<Inputs, Failure> {
    let layout = home::layout()?;
    if templates.is_empty() && cases.is_empty() {
        // Settings apply only to named templates, so here they would have no effect.
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
        // No named template was found.
        Suite::default()
    };
    sources.settle(&mut suite);
    Ok(Inputs {
        suite,
        layout: None,
    })
}

/// The layout as [`fetched`] returns it. Fetches nothing if the command does not use its templates.
fn fetched_unless(layout: &Layout, named: &[PathBuf]) -> Layout {
    if named.is_empty() {
        fetched(layout)
    } else {
        layout.clone()
    }
}

/// The layout with the models that the user's own suite names. Fetches models that are not on this
/// machine.
fn fetched(layout: &Layout) -> Layout {
    layout.with_sources(|configured| {
        let source = Path::new(&configured.source);
        if let Some(found) = rolecall_remote::find(source, cache_folder().as_deref()) {
            return Some(found.map(|found| {
                if let Some(fetched) = &found.fetched {
                    tell(fetched);
                }
                found.path
            }));
        }
        // The user may have meant the name of a model.
        let is_there = configured.local.as_ref().is_ok_and(|local| is_there(local));
        let meant = rolecall_remote::meant(source).filter(|_| !is_there)?;
        Some(Err(Problem::new(source, NOT_THERE).help(meant)))
    })
}
