//! A side of `diff`: the templates that a text names, with their cases, or a saved run.

use std::path::{Path, PathBuf};

use super::open::{Subject, Workspace};
use super::own_template::{named_template, own_template, template_names};
use super::places::near;
use super::suite_around::Access;
use crate::layout::Layout;
use crate::saved_run::SavedRun;
use crate::suite::Suite;
use rolecall_core::file::is_there;
use rolecall_core::invocation;
use rolecall_core::problem::did_you_mean;
use rolecall_io::settings::Settings;
use rolecall_io::source::NOT_THERE;

use super::revision::{Revision, RevisionFiles};
use crate::failure::Failure;

/// What a text names: templates, or a saved run.
pub enum DiffSide {
    /// Templates with their cases, and the files of the revision that they come from: their models'
    /// tokenizers are read later.
    Templates(Box<Suite>, Option<RevisionFiles>),
    Run(SavedRun),
}

/// Finds the side that a text names: a template of the suite, a file or folder, or a path in a
/// revision of a Git repository.
///
/// # Errors
///
/// Nothing has the name, or its files cannot be read.
pub fn find(
    access: &Access<'_>,
    text: &str,
    cases: &[PathBuf],
    settings: &Settings,
) -> Result<DiffSide, Failure> {
    let path = Path::new(text);
    if SavedRun::is_one(path) {
        return Ok(DiffSide::Run(SavedRun::read(path)?));
    }
    let layout = access.layout()?;
    let load = |path: &Path| {
        let one = [path.to_path_buf()];
        let subject = subject(&one, cases, settings);
        let workspace = Workspace::open_in(access, &layout, &subject)?;
        Ok::<_, Failure>(workspace.suite)
    };
    let load_own = |layout: &Layout, own| {
        let workspace = Workspace::open_own(access, layout, own, &subject(&[], cases, settings))?;
        Ok::<_, Failure>(workspace.suite)
    };
    if let Some(own) = named_template(access, &layout, text) {
        return Ok(templates(load_own(&layout, own)?));
    }
    if is_there(path) {
        return load(path).map(templates);
    }
    let revision = Revision::parse(text);
    if let Some(revision) = &revision
        && revision.exists()
    {
        let extracted = revision.extract()?;
        // A template of the suite has the suite's settings in every revision.
        let now = extracted.now.as_ref();
        let own = now.and_then(|now| own_template(access, &layout, &now.to_string_lossy()));
        let mut suite = match own {
            Some(own) => {
                let layout = layout.with_sources(|_| Some(Ok(extracted.path.clone())));
                load_own(&layout, own.in_any_file())?
            }
            None => load(&extracted.path)?,
        };
        extracted.rename(&mut suite);
        return Ok(DiffSide::Templates(Box::new(suite), Some(extracted)));
    }
    let is_word = !text.contains(['/', '\\', ':']);
    let names = if is_word {
        template_names(&layout)
    } else {
        Vec::new()
    };
    // The name of a model in a store is no path either.
    let suite = load(path)?;
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
    let help = did_you_mean(text, &names).or_else(|| near(path));
    let help = help.unwrap_or_else(|| {
        format!(
            "`{}` names those of the suite; one of an earlier revision is named REVISION:PATH, \
             such as HEAD~1:chat_template.jinja",
            invocation::command("list templates")
        )
    });
    Err(Failure::Request(format!(
        "no file, no folder and no template of the suite is named `{text}`\n  {help}"
    )))
}

fn subject<'a>(templates: &'a [PathBuf], cases: &'a [PathBuf], settings: &Settings) -> Subject<'a> {
    Subject {
        templates,
        cases: Some(cases),
        settings: settings.clone(),
        ..Subject::default()
    }
}

fn templates(suite: Suite) -> DiffSide {
    DiffSide::Templates(Box::new(suite), None)
}
