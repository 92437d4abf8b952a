//! Differences that are known and stay, each with its reason.

use regex::Regex;
use rolecall_model::{Dialect, Outcome};

use crate::examination::Difference;

/// Differences for one reason. Each pattern that is there has to match.
struct Row {
    dialect: Dialect,
    reason: &'static str,
    /// Matches the smallest template.
    template: &'static str,
    /// Matches what the reference says.
    expected: &'static str,
    /// Matches what the engine says.
    found: &'static str,
}

const ROWS: &[Row] = &[Row {
    dialect: Dialect::Jinja,
    reason: "there are no bytes",
    template: r"\.(encode|to_bytes|from_bytes)\b",
    expected: "",
    found: "",
}];

/// What is known of the differences of a dialect.
pub(crate) struct Known {
    rows: Vec<(usize, [Regex; 3])>,
}

impl Known {
    /// The rows of a dialect.
    pub(crate) fn of(dialect: Dialect) -> Result<Known, regex::Error> {
        let rows = ROWS
            .iter()
            .enumerate()
            .filter(|(_, row)| row.dialect == dialect);
        let compiled = rows.map(|(number, row)| {
            Ok((
                number,
                [
                    Regex::new(row.template)?,
                    Regex::new(row.expected)?,
                    Regex::new(row.found)?,
                ],
            ))
        });
        Ok(Known {
            rows: compiled.collect::<Result<_, regex::Error>>()?,
        })
    }

    /// The reason for a difference in a small template, if it is known.
    pub(crate) fn reason(&self, source: &str, difference: &Difference) -> Option<&'static str> {
        let texts = [
            source.to_owned(),
            line(&difference.expected),
            line(&difference.found),
        ];
        let mut rows = self.rows.iter();
        let (number, _) = rows.find(|(_, patterns)| {
            patterns
                .iter()
                .zip(&texts)
                .all(|(pattern, text)| pattern.is_match(text))
        })?;
        Some(ROWS[*number].reason)
    }

    /// All reasons.
    pub(crate) fn reasons(&self) -> Vec<&'static str> {
        let mut reasons: Vec<_> = self
            .rows
            .iter()
            .map(|(number, _)| ROWS[*number].reason)
            .collect();
        reasons.dedup();
        reasons
    }
}

/// An outcome's kind and words.
fn line(outcome: &Outcome) -> String {
    format!("{}: {}", outcome.kind(), outcome.text())
}
