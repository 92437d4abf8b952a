//! A side of `diff`: the templates that a text names, with their cases, or a saved run.

use std::path::Path;

use rolecall_core::file::is_there;
use rolecall_core::invocation;
use rolecall_core::problem::did_you_mean;
use rolecall_suite::saved_run::SavedRun;
use rolecall_suite::suite::Suite;

use crate::args::SourceArguments;
use crate::failure::Failure;
use crate::revision::{Revision, RevisionFiles};
use crate::sources::{NOT_THERE, near};
use crate::{home, inputs};

pub(crate) enum DiffSide {
    /// Templates with their cases, and the files of the revision that they come from: their models'
    /// tokenizers are read later.
    Templates(Box<Suite>, Option<RevisionFiles>),
    Run(SavedRun),
}

/// Finds the side that a text names: a template of the suite, a file or folder, or a path in a
/// revision of a Git repository.
pub(crate) fn find(text: &str, arguments: &SourceArguments) -> Result<DiffSide, Failure> {
    let path = Path::new(text);
    if SavedRun::is_one(path) {
        return Ok(DiffSide::Run(SavedRun::read(path)?));
    }
    let load = |path: &Path| {
        let path = [path.to_path_buf()];
        Ok::<_, Failure>(inputs::find(&path, &arguments.cases, &arguments.set, &[])?.suite)
    };
    let layout = home::layout()?;
    if let Some(own) = inputs::named_template(&layout, text) {
        let inputs = inputs::find_own(&layout, &own, &arguments.cases, &arguments.set, &[])?;
        return Ok(templates(inputs.suite));
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
        let own = now.and_then(|now| inputs::own_template(&layout, &now.to_string_lossy()));
        let mut suite = match own {
            Some(own) => {
                let layout = layout.with_sources(|_| Some(Ok(extracted.path.clone())));
                let own = own.in_any_file();
                inputs::find_own(&layout, &own, &arguments.cases, &arguments.set, &[])?.suite
            }
            None => load(&extracted.path)?,
        };
        extracted.rename(&mut suite);
        return Ok(DiffSide::Templates(Box::new(suite), Some(extracted)));
    }
    let is_word = !text.contains(['/', '\\', ':']);
    let names = if is_word {
        inputs::template_names(&layout)
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

fn templates(suite: Suite) -> DiffSide {
    DiffSide::Templates(Box::new(suite), None)
}
