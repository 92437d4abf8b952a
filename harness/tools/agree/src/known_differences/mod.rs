//! Known differences that stay, each with its reason.

mod known_difference;

mod go;
mod jinja;

use regex::Regex;
use rolecall_core::{Dialect, Outcome};

use crate::examination::OutcomeDifference;
use crate::known_differences::known_difference::KnownDifference;
use crate::tokens::{TokenKind, tokens_of};

/// The known differences of a dialect.
pub struct KnownDifferences {
    rows: Vec<(&'static KnownDifference, [Regex; 3])>,
}

impl KnownDifferences {
    pub fn of(dialect: Dialect) -> Result<KnownDifferences, regex::Error> {
        let rows = match dialect {
            Dialect::Jinja => jinja::ROWS,
            Dialect::Go => go::ROWS,
        };
        let compiled = rows.iter().map(|row| {
            Ok((
                row,
                [
                    Regex::new(row.template)?,
                    Regex::new(row.expected)?,
                    Regex::new(row.found)?,
                ],
            ))
        });
        Ok(KnownDifferences {
            rows: compiled.collect::<Result<_, regex::Error>>()?,
        })
    }

    /// The reason for a difference in a small template, if it is known.
    pub fn reason(&self, source: &str, difference: &OutcomeDifference) -> Option<&'static str> {
        let texts = [
            source.to_owned(),
            line(&difference.expected),
            line(&difference.found),
        ];
        let mut rows = self.rows.iter();
        let (row, _) = rows.find(|(row, patterns)| {
            patterns
                .iter()
                .zip(&texts)
                .all(|(pattern, text)| pattern.is_match(text))
                && (row.template != jinja::SET_AFTER || is_set_after_use(source))
        })?;
        Some(row.reason)
    }

    pub fn reasons(&self) -> Vec<&'static str> {
        let mut reasons: Vec<_> = self.rows.iter().map(|(row, _)| row.reason).collect();
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }
}

/// Whether a template uses a name within a block and sets it afterwards, or sets it by a block
/// that uses it.
fn is_set_after_use(source: &str) -> bool {
    let tokens: Vec<String> = tokens_of(source, Dialect::Jinja)
        .into_iter()
        .filter(|token| token.kind != TokenKind::Space)
        .map(|token| token.text)
        .collect();
    let opens = |word: &str| {
        matches!(
            word,
            "for" | "macro" | "call" | "with" | "filter" | "set" | "block" | "generation"
        )
    };
    let Some(first) = tokens.iter().position(|word| opens(word)) else {
        return false;
    };
    // The names between `set` and the end of its target.
    let mut targets = tokens.iter().enumerate().filter(|(at, word)| {
        let is_set = tokens[..*at].iter().rev().take(4).any(|word| word == "set");
        let is_name = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        is_set && is_name && *word != "set"
    });
    targets.any(|(at, name)| {
        let is_block = tokens
            .get(at + 1)
            .is_some_and(|word| word != "=" && word != ",");
        let after = tokens[at + 1..].iter().take_while(|word| *word != "endset");
        tokens[first..at].contains(name) || is_block && after.into_iter().any(|word| word == name)
    })
}

/// An outcome's kind and words.
fn line(outcome: &Outcome) -> String {
    format!("{}: {}", outcome.kind(), outcome.text())
}
