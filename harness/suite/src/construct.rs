//! Constructs: small templates, each about one thing that its language can do.
//!
//! A whole template shows that two engines differ, and hides where. `cases/constructs` has a
//! table for each dialect: templates of a line, one conversation for all of them, and the
//! reference's outcomes. They are recorded by `scripts/record-language.py` and
//! `scripts/record-go-language.py`, and never written by hand.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use rolecall_core::{Case, Dialect, Moment, Outcome, Stage, Template};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::layout::Layout;
use rolecall_core::file::read_text;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::json;
use rolecall_core::problem::Problem;

#[derive(Debug, Clone)]
pub struct ConstructTable {
    /// The dialect of all its templates.
    pub dialect: Dialect,
    /// The conversation for all templates. No front changes it.
    pub case: Case,
    /// The rows, in the order of the file.
    pub rows: Vec<Construct>,
}

/// A small template, and what the reference gives for it.
#[derive(Debug, Clone)]
pub struct Construct {
    /// The template. Its name is the construct's: see [`name`].
    pub template: Template,
    /// The features of its language that it uses, such as `filter trim` and `for`.
    pub uses: BTreeSet<String>,
    /// The reference's outcome. A failure keeps the reference's message, except Go's.
    pub expected: Outcome,
}

/// How many digits of a fingerprint are in a name.
const DIGITS: usize = 12;

/// A table as it is in its file. The tests read the other keys of the file.
#[derive(Deserialize)]
struct TableFile {
    case: TableCase,
    rows: Vec<TableRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableCase {
    now: String,
    messages: Vec<Value>,
    #[serde(default)]
    tools: Option<Vec<Value>>,
    #[serde(default)]
    variables: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableRow {
    template: String,
    outcome: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    stage: Option<String>,
    #[serde(default)]
    line: Option<usize>,
}

impl ConstructTable {
    /// The table of a dialect, from the folder of the built-in inputs.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no such table.
    pub fn read(layout: &Layout, dialect: Dialect) -> Result<ConstructTable, Problem> {
        let path = ConstructTable::file(layout, dialect);
        ConstructTable::parse(&path, &read_text(&path)?, dialect)
    }

    pub fn file(layout: &Layout, dialect: Dialect) -> PathBuf {
        let name = format!("{}.json", dialect.name());
        layout.cases().join("constructs").join(name)
    }

    fn parse(path: &Path, text: &str, dialect: Dialect) -> Result<ConstructTable, Problem> {
        let TableFile { case, rows } = json::read(path, text, "a table of constructs")?;
        let rows = rows
            .into_iter()
            .map(|row| Construct::of(dialect, row))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|words| Problem::new(path, words))?;
        let mut constructs = ConstructTable {
            dialect,
            case: case.case().map_err(|words| Problem::new(path, words))?,
            rows,
        };
        // After all rows are read: only then it is known what some template renders with.
        constructs.keep_known_names();
        constructs
            .check_names()
            .map_err(|words| Problem::new(path, words))?;
        Ok(constructs)
    }

    /// A filter, test, method or function that only failing templates use does not exist:
    /// all of these share one name.
    fn keep_known_names(&mut self) {
        let renders = |row: &&Construct| matches!(row.expected, Outcome::Rendered { .. });
        let rows = self.rows.iter().filter(renders);
        let known: HashSet<String> = rows.flat_map(|row| row.uses.iter().cloned()).collect();
        for row in &mut self.rows {
            let uses = std::mem::take(&mut row.uses).into_iter();
            row.uses = uses
                .map(|name| match name.split_once(' ') {
                    Some((kind @ ("filter" | "test" | "method" | "function"), _))
                        if !known.contains(&name) =>
                    {
                        format!("unknown {kind}")
                    }
                    _ => name,
                })
                .collect();
        }
    }

    fn check_names(&self) -> Result<(), String> {
        let mut seen = HashSet::new();
        let twice = self
            .rows
            .iter()
            .find(|row| !seen.insert(row.template.name.clone()));
        twice.map_or(Ok(()), |row| {
            Err(format!(
                "two rows have the template {:?}",
                row.template.source
            ))
        })
    }
}

impl Construct {
    fn of(dialect: Dialect, row: TableRow) -> Result<Construct, String> {
        let stage = row.stage.as_deref().unwrap_or("render");
        let stage = Stage::named(stage).ok_or_else(|| format!("no stage is named `{stage}`"))?;
        let expected = match row.outcome.as_str() {
            "rendered" => Outcome::Rendered { text: row.text },
            "raised" => Outcome::Raised {
                message: row.message,
            },
            "failed" => Outcome::Failed {
                stage,
                message: row.message,
                line: row.line,
            },
            other => return Err(format!("a construct cannot have the outcome `{other}`")),
        };
        let id = name(dialect, &row.template);
        Ok(Construct {
            uses: match dialect {
                Dialect::Jinja => rolecall_jinja::Constructs::of(&row.template).names,
                Dialect::Go => rolecall_go::constructs(&row.template),
            },
            template: Template::from_source(&id, dialect, &row.template),
            expected,
        })
    }

    pub fn id(&self) -> &str {
        self.template.name.as_str()
    }
}

/// The name of a construct: its dialect and the first twelve digits of the SHA-256 of its
/// template, such as `jinja-0a1b2c3d4e5f`. A changed template is another construct, so a name
/// keeps its meaning.
pub fn name(dialect: Dialect, template: &str) -> String {
    let digits = Fingerprint::of(template).to_string();
    let digits = digits.get(..DIGITS).unwrap_or(&digits);
    format!("{dialect}-{digits}")
}

impl TableCase {
    fn case(self) -> Result<Case, String> {
        let now: Moment = self.now.parse().map_err(|error| format!("{error}"))?;
        Ok(Case {
            tools: self.tools,
            variables: self.variables,
            now,
            ..Case::from_messages(self.messages)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constructs(dialect: Dialect) -> ConstructTable {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        ConstructTable::read(&Layout::new(root), dialect).unwrap()
    }

    #[test]
    fn the_tables_can_be_read_and_tell_what_each_row_uses() {
        for dialect in Dialect::ALL {
            let constructs = constructs(dialect);
            assert!(constructs.rows.len() > 200, "{dialect}");
            for row in &constructs.rows {
                assert!(!row.uses.is_empty(), "{}", row.template.source);
            }
        }
    }

    #[test]
    fn the_name_of_a_construct_is_of_its_template() {
        let constructs = constructs(Dialect::Jinja);
        let row = &constructs.rows[0];
        assert_eq!(row.template.source, "{{ none is iterable }}");
        assert_eq!(row.id(), name(Dialect::Jinja, "{{ none is iterable }}"));
        assert_eq!(row.id().len(), "jinja-".len() + DIGITS);
    }

    #[test]
    fn what_is_no_table_is_reported_with_its_place() {
        let parse = |text: &str| {
            let parsed = ConstructTable::parse(Path::new("t.json"), text, Dialect::Jinja);
            parsed.unwrap_err().to_string()
        };
        let start = r#"{"case": {"now": "2026-01-02T03:04:05Z", "messages": []}, "rows": ["#;
        let with = |rows: &str| parse(&format!("{start}{rows}]}}"));
        assert!(with("1").starts_with("t.json:1:"), "{}", with("1"));
        let odd = with(r#"{"template": "x", "outcome": "odd"}"#);
        assert!(odd.contains("cannot have the outcome `odd`"), "{odd}");
        let row = r#"{"template": "x", "outcome": "rendered", "text": "x"}"#;
        let twice = with(&format!("{row}, {row}"));
        assert!(
            twice.contains("two rows have the template \"x\""),
            "{twice}"
        );
    }
}
