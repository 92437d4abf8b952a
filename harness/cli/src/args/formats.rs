//! The formats that each command has.

use crate::report::format::Format;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

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
pub(super) fn format(known: &[Format]) -> impl TypedValueParser<Value = Format> {
    let values = known.iter().filter_map(ValueEnum::to_possible_value);
    let names = PossibleValuesParser::new(values.collect::<Vec<_>>());
    names.try_map(|name| Format::from_str(&name, false))
}
