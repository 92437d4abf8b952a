//! A TOML document with positions: every problem is reported with line and column, and an
//! unknown key with the closest known one.

use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use rolecall_core::problem::{Position, Problem, did_you_mean};

/// A document under examination: its text, and what is wrong with it so far.
pub(super) struct TomlDocument<'t> {
    path: &'t Path,
    text: &'t str,
    /// The offset at which each line begins.
    lines: Vec<usize>,
    problems: Vec<Problem>,
    /// How many problems there were.
    count: usize,
}

/// The most problems of a file that are reported one by one.
const MOST_PROBLEMS: usize = 100;

/// The last column that is counted.
const MOST_COLUMN: usize = 10_000;

pub(super) type Item<'t> = Spanned<DeValue<'t>>;

impl<'t> TomlDocument<'t> {
    /// Parses a text. Invalid TOML is one problem.
    pub(super) fn parse(path: &'t Path, text: &'t str) -> Result<(Self, DeTable<'t>), Problem> {
        let table = DeTable::parse(text).map_err(|error| {
            let message = format!("not TOML: {}", error.message().replace('\n', ", "));
            let problem = Problem::new(path, message);
            match error.span() {
                Some(span) => problem.at(Position::of(text, span.start)),
                None => problem,
            }
        })?;
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let document = TomlDocument {
            path,
            text,
            lines: std::iter::once(0).chain(ends).collect(),
            problems: Vec::new(),
            count: 0,
        };
        Ok((document, table.into_inner()))
    }

    /// The place of something.
    pub(super) fn position(&self, span: &Range<usize>) -> Position {
        let offset = self
            .text
            .floor_char_boundary(span.start.min(self.text.len()));
        let line = self.lines.partition_point(|begin| *begin <= offset);
        let column = &self.text[self.lines[line.saturating_sub(1)]..offset];
        // Somebody may write everything on one line.
        let column = &column[..column.floor_char_boundary(4 * MOST_COLUMN)];
        Position {
            line,
            column: column.chars().count().min(MOST_COLUMN) + 1,
        }
    }

    /// What is wrong with the document, in its order: the first problems, and how many more.
    pub(super) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| problem.position);
        let more = self.count - self.problems.len();
        if more > 0 {
            let message = format!("{more} more problems");
            self.problems.push(Problem::new(self.path, message));
        }
        self.problems
    }

    /// Reports a problem at a place, perhaps with what to do about it.
    pub(super) fn problem(&mut self, span: &Range<usize>, message: String, help: Option<String>) {
        self.count += 1;
        if self.problems.len() == MOST_PROBLEMS {
            return;
        }
        self.problems.push(Problem {
            path: self.path.to_path_buf(),
            position: Some(self.position(span).into()),
            message,
            help,
        });
    }

    /// Reports the keys of a table that are not known.
    pub(super) fn check_keys(&mut self, table: &DeTable<'_>, what: &str, known: &[String]) {
        for (key, _) in table {
            let name = key.get_ref().as_ref();
            if known.iter().any(|known| known == name) {
                continue;
            }
            let help = did_you_mean(name, known).unwrap_or_else(|| {
                let listed: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
                format!("known keys are {}", listed.join(", "))
            });
            let message = format!("unknown key `{name}` in {what}");
            self.problem(&key.span(), message, Some(help));
        }
    }

    pub(super) fn table<'a>(&mut self, item: &'a Item<'t>, what: &str) -> Option<&'a DeTable<'t>> {
        let table = item.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(item, what, "a table");
        }
        table
    }

    pub(super) fn string(&mut self, item: &Item<'_>, what: &str) -> Option<String> {
        let text = item.get_ref().as_str();
        if text.is_none() {
            self.wrong_type(item, what, "a string");
        }
        text.map(str::to_owned)
    }

    /// The strings of a list, each with its place.
    pub(super) fn strings(&mut self, item: &Item<'_>, what: &str) -> Vec<(String, Range<usize>)> {
        let Some(array) = item.get_ref().as_array() else {
            self.wrong_type(item, what, "a list of strings");
            return Vec::new();
        };
        let mut strings = Vec::new();
        for item in array {
            if let Some(text) = self.string(item, &format!("what is in {what}")) {
                strings.push((text, item.span()));
            }
        }
        strings
    }

    /// A value as JSON has it. Dates and times are texts there.
    pub(super) fn json(&mut self, item: &Item<'_>, what: &str) -> Option<Value> {
        Some(match item.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(time) => Value::String(time.to_string()),
            DeValue::Integer(integer) => {
                let Ok(number) = i64::from_str_radix(integer.as_str(), integer.radix()) else {
                    let message = format!("{what} does not fit into 64 bits");
                    self.problem(&item.span(), message, None);
                    return None;
                };
                Value::Number(number.into())
            }
            DeValue::Float(float) => {
                let number = float.as_str().parse().ok().and_then(Number::from_f64);
                let Some(number) = number else {
                    let message = format!("{what} is a number that JSON cannot express");
                    self.problem(&item.span(), message, None);
                    return None;
                };
                Value::Number(number)
            }
            DeValue::Array(array) => {
                let values = array.iter().map(|item| self.json(item, what));
                Value::Array(values.collect::<Option<_>>()?)
            }
            DeValue::Table(table) => {
                let mut object = Map::new();
                for (key, item) in table {
                    object.insert(key.get_ref().to_string(), self.json(item, what)?);
                }
                Value::Object(object)
            }
        })
    }

    fn wrong_type(&mut self, item: &Item<'_>, what: &str, expected: &str) {
        let found = match item.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let message = format!("{what} must be {expected}, not {found}");
        self.problem(&item.span(), message, None);
    }
}
