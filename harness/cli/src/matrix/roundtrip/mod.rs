//! Measurements of what comes back of answers: who reads back which template's answers.
//!
//! `snapshots/engines/roundtrip/<reader>@<version>.json` belongs to one version of a reader: a
//! parser, or a whole server. It says for each template how many messages come back in which way, and
//! for each cause the message with the shortest conversation.

mod results;

mod text;

pub use results::{Counted, RoundtripMeasurement, Subject};
pub use text::{problems, read, read_all};
