//! What questions are made of: templates that somebody wrote, and conversations.

use std::fs;
use std::path::Path;

use rolecall::layout::Layout;
use rolecall::problem::Problem;
use rolecall::suite::Suite;
use rolecall_model::{Case, Dialect, Template};
use serde_json::{Value, json};

/// What the questions of a dialect are made of.
pub(crate) struct Material {
    /// Whole templates: those of the suite, and those that were asked for.
    pub(crate) templates: Vec<Template>,
    /// Small templates, each of which is about one thing: the rows of the language table.
    pub(crate) rows: Vec<Template>,
    /// Conversations: the first is that of the language table, and the others the suite's.
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
    /// A language table is no table.
    #[error("{0} is not a language table: {1}")]
    Table(String, String),
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
        let Table {
            sources: rows,
            case,
        } = Table::read(dialect, layout)?;
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
            rows: rows
                .iter()
                .map(|source| Template::from_source("row", dialect, source))
                .collect(),
            cases,
        })
    }
}

/// A language table: its templates and the one conversation that they are given.
struct Table {
    sources: Vec<String>,
    case: Case,
}

impl Table {
    fn read(dialect: Dialect, layout: &Layout) -> Result<Table, MaterialError> {
        let name = match dialect {
            Dialect::Jinja => "language.json",
            Dialect::Go => "go-language.json",
        };
        let path = layout.root().join("harness/tests/data").join(name);
        let wrong = |words: String| MaterialError::Table(path.display().to_string(), words);
        let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let table: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let (rows, case) = match dialect {
            Dialect::Jinja => (
                &table,
                Case::from_messages(vec![json!({"role": "user", "content": "hey"})]),
            ),
            Dialect::Go => (&table["rows"], go_case(&table["case"])),
        };
        let sources = rows.as_array().into_iter().flatten().filter_map(|row| {
            let source = if dialect == Dialect::Go {
                &row["template"]
            } else {
                &row[0]
            };
            source.as_str().map(str::to_owned)
        });
        Ok(Table {
            sources: sources.collect(),
            case,
        })
    }
}

fn go_case(value: &Value) -> Case {
    let list = |key: &str| value[key].as_array().cloned();
    let mut case = Case::from_messages(list("messages").unwrap_or_default());
    case.tools = list("tools");
    case.variables = value["variables"].as_object().cloned().unwrap_or_default();
    // As the record of the table has it.
    if let Ok(now) = "2024-03-01T00:00:00Z".parse() {
        case.now = now;
    }
    case
}
