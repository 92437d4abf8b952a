//! What is wrong, as the test runner prints it.

use std::fmt;

/// What is wrong. The test runner prints errors by their `Debug`, which is the plain text
/// here: its lines are what a person reads.
pub(crate) struct Report(pub(crate) String);

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Report {}
