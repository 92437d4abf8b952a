//! Finds what a command works on.

use std::path::{Path, PathBuf};

use rolecall::baseline::Baseline;
use rolecall::report::problems;
use rolecall::suite::{Layout, Pair, Suite, templates_of};

use crate::args::SourceArguments;
use crate::failure::Failure;

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

/// The suite in whose folder the command runs, or else the one that it was built from.
pub(crate) fn layout() -> Result<Layout, Failure> {
    std::env::current_dir()
        .ok()
        .and_then(|folder| Layout::find(&folder))
        .or_else(|| Layout::find(Path::new(env!("CARGO_MANIFEST_DIR"))))
        .map(|layout| Layout::new(near(layout.root())))
        .ok_or_else(|| {
            Failure::Request(
                "no suite here: run this in a checkout of Rolecall, or name --templates and --cases"
                    .to_owned(),
            )
        })
}

/// A path relative to the current folder where it lies below it: shorter to read.
fn near(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    match path.strip_prefix(&here) {
        Ok(below) => below.to_path_buf(),
        Err(_) => path.to_path_buf(),
    }
}

/// Loads the templates of some paths, or the suite's own without one, and the suite's
/// cases where there are any.
pub(crate) fn load_templates(paths: &[PathBuf]) -> Result<Suite, Failure> {
    let suite = match (layout(), paths) {
        (Ok(layout), []) => Suite::load_layout(&layout),
        (Ok(layout), paths) => Suite::load(paths, &[layout.conversations()], &[layout.tools()]),
        (Err(failure), []) => return Err(failure),
        (Err(_), paths) => Suite::load(paths, &[], &[]),
    };
    problems::write_notes(&mut anstream::stderr(), &suite.notes)?;
    Ok(suite)
}

/// Loads what the arguments name, and the suite's own for the rest. What there is to know
/// about the sources is told on standard error.
pub(crate) fn load(arguments: &SourceArguments) -> Result<Inputs, Failure> {
    let inputs = find(arguments)?;
    problems::write_notes(&mut anstream::stderr(), &inputs.suite.notes)?;
    Ok(inputs)
}

/// Loads as [`load`] does, and tells nothing.
pub(crate) fn find(arguments: &SourceArguments) -> Result<Inputs, Failure> {
    if !arguments.templates.is_empty() && !arguments.cases.is_empty() {
        let tools = layout()
            .map(|layout| vec![layout.tools()])
            .unwrap_or_default();
        return Ok(Inputs {
            suite: Suite::load(&arguments.templates, &arguments.cases, &tools),
            layout: None,
        });
    }
    let layout = layout()?;
    if arguments.templates.is_empty() && arguments.cases.is_empty() {
        return Ok(Inputs {
            suite: Suite::load_layout(&layout),
            layout: Some(layout),
        });
    }
    let or_own = |given: &[PathBuf], own: PathBuf| match given {
        [] => vec![own],
        given => given.to_vec(),
    };
    let suite = Suite::load(
        &or_own(&arguments.templates, layout.templates()),
        &or_own(&arguments.cases, layout.conversations()),
        &[layout.tools()],
    );
    Ok(Inputs {
        suite,
        layout: None,
    })
}
