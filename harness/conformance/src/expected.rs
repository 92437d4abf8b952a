//! The list of pairs that are expected to fail.

use std::fmt::Write as _;
use std::path::Path;

use rolecall_core::file::{read_text_if_there, write_whole};
use rolecall_core::problem::Problem;
use rolecall_suite::selection::Filter;

use crate::error::ConformanceError;
use crate::judged::JudgedPair;

/// The variable that makes a run write the list of expected failures again.
pub const ACCEPT: &str = "ROLECALL_ACCEPT";

/// One test: a pair, or the check of the list of expected failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// The name: `TEMPLATE:FAMILY/CASE` for a pair.
    pub name: String,
    /// Whether the pair is in the list of expected failures.
    pub is_expected_to_fail: bool,
    /// The reason for the failure, with the diff. None if the test passes.
    pub failure: Option<String>,
}

/// A line of the list of pairs that are expected to fail.
pub(crate) struct ExpectedFailure {
    line: usize,
    filter: Filter,
    is_used: bool,
}

/// Reads a list. A missing file is an empty list.
pub(crate) fn read(path: &Path) -> Result<Vec<ExpectedFailure>, ConformanceError> {
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
        rows.push(ExpectedFailure {
            line: index + 1,
            filter,
            is_used: false,
        });
    }
    Ok(rows)
}

/// Writes the list of the pairs that fail.
pub(crate) fn write(path: &Path, engine: &str, judged: &[JudgedPair]) -> Result<(), Problem> {
    let mut text = format!(
        "# What {engine} is known to get wrong: a FILTER a line. Written with {ACCEPT}=1.\n"
    );
    for pair in judged.iter().filter(|pair| pair.wrong.is_some()) {
        let _ = writeln!(text, "{}", pair.name);
    }
    write_whole(path, text)
}

/// The test of a pair. If the pair is expected to fail, the test passes when it fails.
pub(crate) fn test(rows: &mut [ExpectedFailure], pair: JudgedPair) -> Test {
    let mut is_expected_to_fail = false;
    for row in rows {
        if row.filter.matches_names(&pair.template, &pair.case) {
            row.is_used = true;
            is_expected_to_fail = true;
        }
    }
    let failure = match (pair.wrong, is_expected_to_fail) {
        (Some(_), true) => None,
        (None, true) => {
            let words = "agrees, but is expected to fail: remove it from the list";
            Some(words.to_owned())
        }
        (wrong, false) => wrong,
    };
    Test {
        name: pair.name,
        is_expected_to_fail,
        failure,
    }
}

/// The test that every line of the list matches some pair, after all pairs have had their tests.
pub(crate) fn own_test(rows: &[ExpectedFailure], path: &Path) -> Test {
    let place = path.display();
    let unused = rows.iter().filter(|row| !row.is_used);
    let words = unused.map(|row| format!("{place}:{}: no pair is `{}`", row.line, row.filter));
    let words: Vec<String> = words.collect();
    Test {
        name: "every line of the list of expected failures is of use".to_owned(),
        is_expected_to_fail: false,
        failure: (!words.is_empty()).then(|| words.join("\n")),
    }
}
