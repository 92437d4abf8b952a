//! A side of `diff`: the templates that a text names, with their cases, or a saved run.

use std::path::{Path, PathBuf};

use rolecall::file::is_there;
use rolecall::problem::did_you_mean;
use rolecall::saved_run::SavedRun;
use rolecall::suite::Suite;

use crate::args::{SetArguments, SourceArguments};
use crate::failure::Failure;
use crate::inputs;
use crate::revision::{Revision, RevisionFiles};
use crate::sources::NOT_THERE;

/// A side of `diff`.
pub(crate) enum DiffSide {
    /// Templates with their cases, and the files of the revision that they come from: their models'
    /// tokenizers are read later.
    Templates(Box<Suite>, Option<RevisionFiles>),
    /// A saved run.
    Run(SavedRun),
}

/// Finds the side that a text names: a file or folder, a template of the suite, or a path in a
/// revision of a Git repository.
pub(crate) fn find(text: &str, arguments: &SourceArguments) -> Result<DiffSide, Failure> {
    let path = Path::new(text);
    if SavedRun::is_one(path) {
        return Ok(DiffSide::Run(SavedRun::read(path)?));
    }
    // Settings apply to named templates. The suite's own templates have their own.
    let nothing = SetArguments::default();
    let load = |paths: &[PathBuf]| {
        let set = if paths.is_empty() {
            &nothing
        } else {
            &arguments.set
        };
        Ok::<_, Failure>(inputs::find(paths, &arguments.cases, set)?.suite)
    };
    if is_there(path) {
        return load(&[path.to_path_buf()]).map(templates);
    }
    let revision = Revision::parse(text);
    if let Some(revision) = &revision
        && revision.exists()
    {
        let extracted = revision.extract()?;
        let mut suite = load(std::slice::from_ref(&extracted.path))?;
        extracted.rename(&mut suite);
        return Ok(DiffSide::Templates(Box::new(suite), Some(extracted)));
    }
    let mut names = Vec::new();
    if !text.contains(['/', '\\', ':']) {
        let mut suite = load(&[])?;
        names.extend(
            suite
                .templates
                .iter()
                .map(|template| template.name.to_string()),
        );
        suite
            .templates
            .retain(|template| template.name.as_str() == text);
        if !suite.templates.is_empty() {
            return Ok(templates(suite));
        }
    }
    // The name of a model in a store is no path either.
    let suite = load(&[path.to_path_buf()])?;
    let leads_nowhere = |suite: &Suite| {
        let mut problems = suite.problems.iter();
        problems.any(|problem| problem.path == path && problem.message == NOT_THERE)
    };
    if !suite.templates.is_empty() || !leads_nowhere(&suite) {
        return Ok(templates(suite));
    }
    if let Some(revision) = revision {
        return Err(Failure::Request(revision.unknown()));
    }
    let help = did_you_mean(text, &names).unwrap_or_else(|| {
        "`rolecall list templates` names those of the suite; one of an earlier \
                 revision is named REVISION:PATH, such as HEAD~1:chat_template.jinja"
            .to_owned()
    });
    Err(Failure::Request(format!(
        "no file, no folder and no template of the suite is named `{text}`\n  {help}"
    )))
}

fn templates(suite: Suite) -> DiffSide {
    DiffSide::Templates(Box::new(suite), None)
}
