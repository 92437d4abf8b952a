//! The list of pairs that are expected to fail.

use std::fmt::Write as _;
use std::path::Path;

use rolecall::file::{read_text_if_there, write_whole};
use rolecall::problem::Problem;
use rolecall::selection::Filter;

use crate::error::ConformanceError;
use crate::judged::Judged;

/// The variable that has the list of expected failures written anew.
pub const ACCEPT: &str = "ROLECALL_ACCEPT";

/// One test: a pair, or what is to hold of the list of expected failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Its name: `TEMPLATE:FAMILY/CASE` of a pair.
    pub name: String,
    /// Whether the pair is in the list of expected failures.
    pub is_known: bool,
    /// Why it fails, with the diff; none of a test that passes.
    pub failure: Option<String>,
}

/// Filters of pairs that are expected to fail.
#[derive(Default)]
pub(crate) struct ExpectedFailures {
    rows: Vec<Row>,
}

/// A line of the list.
struct Row {
    line: usize,
    text: String,
    filter: Filter,
    is_used: bool,
}

/// Reads a list; one that is not there is empty.
pub(crate) fn read(path: &Path) -> Result<ExpectedFailures, ConformanceError> {
    let text = read_text_if_there(path).map_err(ConformanceError::File)?;
    let mut rows = Vec::new();
    for (index, line) in text.unwrap_or_default().lines().enumerate() {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let filter = text.parse().map_err(|error| ConformanceError::Filter {
            place: format!("{}:{}", path.display(), index + 1),
            error,
        })?;
        rows.push(Row {
            line: index + 1,
            text: text.to_owned(),
            filter,
            is_used: false,
        });
    }
    Ok(ExpectedFailures { rows })
}

/// Writes the list of what fails.
pub(crate) fn write(path: &Path, engine: &str, judged: &[Judged]) -> Result<(), Problem> {
    let mut text = format!(
        "# What {engine} is known to get wrong: a FILTER a line. Written with {ACCEPT}=1.\n"
    );
    for pair in judged.iter().filter(|pair| pair.wrong.is_some()) {
        let _ = writeln!(text, "{}", pair.name);
    }
    write_whole(path, text)
}

impl ExpectedFailures {
    /// The test of a pair. One that is expected to fail passes where it does.
    pub(crate) fn test(&mut self, pair: Judged) -> Test {
        let mut is_known = false;
        for row in &mut self.rows {
            if row.filter.matches_names(&pair.template, &pair.case) {
                row.is_used = true;
                is_known = true;
            }
        }
        let failure = match (pair.wrong, is_known) {
            (Some(_), true) => None,
            (None, true) => {
                let words = "agrees, and is expected to fail: take it out of the list";
                Some(words.to_owned())
            }
            (wrong, false) => wrong,
        };
        Test {
            name: pair.name,
            is_known,
            failure,
        }
    }

    /// The test that every line is of use, once all pairs have been asked about.
    pub(crate) fn own_test(self, path: &Path) -> Test {
        let place = path.display();
        let unused = self.rows.iter().filter(|row| !row.is_used);
        let words = unused.map(|row| format!("{place}:{}: no pair is `{}`", row.line, row.text));
        let words: Vec<String> = words.collect();
        Test {
            name: "every line of the list of expected failures is of use".to_owned(),
            is_known: false,
            failure: (!words.is_empty()).then(|| words.join("\n")),
        }
    }
}
