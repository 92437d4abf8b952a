//! Measurements of what comes back of answers: who reads back which template's answers.
//!
//! `snapshots/engines/roundtrip/<reader>@<version>.json` belongs to one version of a reader: a
//! parser, or a whole server. It says for each template how many messages come back in which way, and
//! for each cause the message with the shortest conversation.

mod results;

use crate::layout::Layout;
use crate::reference::Reference;
use rolecall_core::problem::Problem;

use crate::measurement::kept;

pub use results::{Counted, RoundtripMeasurement, Subject};

/// The families of cases whose messages are made to be parsed.
pub const PROBES: [&str; 3] = ["answer-texts", "answer-types", "answers"];

/// All of these measurements over a suite, those of references first, then by name, and the problems
/// with the files that cannot be read.
pub fn read_all(layout: &Layout) -> (Vec<RoundtripMeasurement>, Vec<Problem>) {
    let (mut measurements, problems) = kept::all(layout);
    // The others are next to the references. Sorting keeps their order.
    let is_other = |one: &RoundtripMeasurement| Reference::by_name(&one.reader.engine).is_none();
    measurements.sort_by_key(is_other);
    (measurements, problems)
}

/// The problems with the files of a suite's measurements of this kind.
pub fn problems(layout: &Layout) -> Vec<Problem> {
    kept::problems::<RoundtripMeasurement>(layout)
}
