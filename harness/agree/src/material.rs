//! What questions are made of: templates that somebody wrote, and conversations.

use std::path::Path;

use rolecall::construct::Constructs;
use rolecall::layout::Layout;
use rolecall::problem::Problem;
use rolecall::suite::Suite;
use rolecall_model::{Case, Dialect, Template};

/// What the questions of a dialect are made of.
pub(crate) struct Material {
    /// Whole templates: those of the suite, and those that were asked for.
    pub(crate) templates: Vec<Template>,
    /// Small templates, each of which is about one thing: the rows of the table of
    /// constructs.
    pub(crate) rows: Vec<Template>,
    /// Conversations: the first is that of the table of constructs, and the others the suite's.
    pub(crate) cases: Vec<Case>,
}

/// Material that cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MaterialError {
    /// Something that was asked for, or that belongs to the suite, is broken.
    #[error("{0}")]
    Broken(Problem),
    /// A folder holds templates, but none of the dialects that are asked about.
    #[error("{0} holds no template: name a folder with .jinja or .gotmpl files, or of a model")]
    Empty(String),
}

/// What is in a suite, and in a folder if one is named.
pub(crate) struct Sources {
    suite: Suite,
    given: Vec<Template>,
}

impl Sources {
    /// Reads them. Templates of the folder that are broken are told to `complain`.
    pub(crate) fn read(
        layout: &Layout,
        folder: Option<&Path>,
        mut complain: impl FnMut(&Problem),
    ) -> Result<Sources, MaterialError> {
        let suite = Suite::load_layout(layout);
        if let Some(problem) = suite.problems.first() {
            return Err(MaterialError::Broken(problem.clone()));
        }
        let Some(folder) = folder else {
            return Ok(Sources {
                suite,
                given: Vec::new(),
            });
        };
        let found = rolecall::source::read(folder);
        if found.templates.is_empty() {
            let problem = found.problems.into_iter().next();
            return Err(problem.map_or_else(
                || MaterialError::Empty(folder.display().to_string()),
                MaterialError::Broken,
            ));
        }
        found.problems.iter().for_each(&mut complain);
        Ok(Sources {
            suite,
            given: found.templates,
        })
    }

    /// What there is of a dialect.
    pub(crate) fn of(&self, dialect: Dialect, layout: &Layout) -> Result<Material, MaterialError> {
        let all = self.given.iter().chain(&self.suite.templates);
        let Constructs { rows, case, .. } =
            Constructs::read(layout, dialect).map_err(MaterialError::Broken)?;
        let mut cases = vec![case];
        cases.extend(
            self.suite
                .cases
                .iter()
                .filter(|case| case.is_for(dialect))
                .cloned(),
        );
        Ok(Material {
            templates: all
                .filter(|template| template.dialect == dialect)
                .cloned()
                .collect(),
            rows: rows.into_iter().map(|row| row.template).collect(),
            cases,
        })
    }
}
