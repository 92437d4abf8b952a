//! Reads the material for questions from the suite and from a folder.

use std::path::Path;

use rolecall_agree::question::Material;
use rolecall_core::problem::Problem;
use rolecall_core::{Dialect, Template};
use rolecall_suite::construct::ConstructTable;
use rolecall_suite::layout::Layout;
use rolecall_suite::suite::Suite;

/// Why there is no material.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MaterialError {
    /// The suite, or something that the user named, is broken.
    #[error("{0}")]
    Broken(Problem),
    /// A folder holds no template of the wanted dialects.
    #[error("{0} holds no template: name a folder with .jinja or .gotmpl files, or of a model")]
    Empty(String),
}

/// The contents of a suite, and of a folder if the user names one.
pub(crate) struct MaterialSources {
    suite: Suite,
    given: Vec<Template>,
}

impl MaterialSources {
    /// Reads them. It reports broken templates of the folder to `complain`.
    pub(crate) fn read(
        layout: &Layout,
        folder: Option<&Path>,
        mut complain: impl FnMut(&Problem),
    ) -> Result<MaterialSources, MaterialError> {
        let suite = Suite::load_layout(layout);
        if let Some(problem) = suite.problems.first() {
            return Err(MaterialError::Broken(problem.clone()));
        }
        let Some(folder) = folder else {
            return Ok(MaterialSources {
                suite,
                given: Vec::new(),
            });
        };
        let found = rolecall_io::source::read(folder);
        if found.templates.is_empty() {
            let problem = found.problems.into_iter().next();
            return Err(problem.map_or_else(
                || MaterialError::Empty(folder.display().to_string()),
                MaterialError::Broken,
            ));
        }
        found.problems.iter().for_each(&mut complain);
        Ok(MaterialSources {
            suite,
            given: found.templates,
        })
    }

    pub(crate) fn of(&self, dialect: Dialect, layout: &Layout) -> Result<Material, MaterialError> {
        let all = self.given.iter().chain(&self.suite.templates);
        let ConstructTable { rows, case, .. } =
            ConstructTable::read(layout, dialect).map_err(MaterialError::Broken)?;
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
