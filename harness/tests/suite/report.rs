//! The reasons for a failure, for the test runner.

use std::fmt;

/// The reasons for a failure. The test runner prints errors by their `Debug`, which is plain text
/// here, so that people can read it.
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
