//! How prompts show the arguments of calls.

use std::ops::Range;

use crate::probe::{ProbeOutcome, words};

pub(in crate::contract) fn shows_arguments(seen: &ProbeOutcome) -> bool {
    seen.has(words::FIRST_VALUE) && seen.has(words::SECOND_VALUE)
}

/// Whether arguments that came as a JSON text are in a JSON string.
pub(in crate::contract) fn is_encoded_twice(seen: &ProbeOutcome) -> bool {
    encoded_twice(seen).is_some()
}

/// Where they do.
pub(in crate::contract) fn encoded_twice(seen: &ProbeOutcome) -> Option<Range<usize>> {
    seen.find(&format!("\\\"{}", words::FIRST_KEY))
}
