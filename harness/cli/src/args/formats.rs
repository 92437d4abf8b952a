//! The formats that each command has.

use crate::report::format::Format;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

pub(super) const OUTCOMES: [Format; 2] = [Format::Human, Format::Jsonl];

pub(super) const RUNS: [Format; 6] = [
    Format::Human,
    Format::Jsonl,
    Format::Junit,
    Format::Github,
    Format::Sarif,
    Format::Markdown,
];

pub(super) const CARDS: [Format; 6] = [
    Format::Human,
    Format::Json,
    Format::Junit,
    Format::Github,
    Format::Sarif,
    Format::Markdown,
];

pub(super) const COMPARISONS: [Format; 3] = [Format::Human, Format::Json, Format::Markdown];

pub(super) const COVERAGE: [Format; 3] = [Format::Human, Format::Json, Format::Lcov];

/// Text for people, or the document itself.
pub(super) const DOCUMENTS: [Format; 2] = [Format::Human, Format::Json];

/// Reads the name of a format that a command has.
pub(super) fn format(known: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let values = known
        .iter()
        .map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(values).try_map(|name| {
        let mut known = known.iter().copied();
        known
            .find(|format| format.name() == name)
            .ok_or("no such format")
    })
}
