//! Words of the programming language that end up in prompts.

use std::ops::Range;

use memchr::memmem;
use rolecall_core::Cut;

use crate::probe::{ProbeOutcome, common};

/// What languages print where there is nothing.
pub(crate) const NOTHING: [&str; 7] = [
    "None",
    "none",
    "null",
    "undefined",
    "Undefined",
    "<no value>",
    "<nil>",
];

/// How often a word is in a text as a word of its own.
pub(crate) fn occurrences(text: &str, word: &str) -> usize {
    places(text, word).count()
}

/// Where a word is in a text, and is no part of another.
fn places(text: &str, word: &str) -> impl Iterator<Item = Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let places = memmem::find_iter(text.as_bytes(), word);
    let places = places.map(|at| at..at + word.len());
    places.filter(move |place| {
        !text.cut(..place.start).ends_with(is_part) && !text.cut(place.end..).starts_with(is_part)
    })
}

/// The first place of a word that occurs more often than in another text. It cannot be before the
/// place where the texts begin to differ.
pub(in crate::contract) fn added(text: &str, word: &str, other: &str) -> Option<Range<usize>> {
    let parts_at = common(text, other);
    places(text, word).find(|place| place.end > parts_at)
}

/// Quotation marks as HTML writes them.
pub(in crate::contract) const QUOTATION_MARKS: [&str; 2] = ["&#34;", "&quot;"];

/// Whether quotation marks are in a prompt as HTML writes them.
pub(in crate::contract) fn is_html(seen: &ProbeOutcome) -> bool {
    QUOTATION_MARKS.iter().any(|mark| seen.has(mark))
}
