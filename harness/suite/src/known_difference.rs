//! Differences of a template from its base that are meant.

use rolecall_core::wildcard::{InvalidWildcard, Wildcard};

/// A difference from the base that is meant.
#[derive(Debug, Clone)]
pub struct KnownDifference {
    /// The contract or the pattern, as it is written.
    pub text: String,
    pub why: String,
    pattern: Wildcard,
}

impl KnownDifference {
    /// A contract, or a pattern over the names of cases and probes, with the reason.
    ///
    /// # Errors
    ///
    /// The text is not a pattern.
    pub fn new(text: &str, why: String) -> Result<KnownDifference, InvalidWildcard> {
        Ok(KnownDifference {
            text: text.to_owned(),
            why,
            pattern: Wildcard::new(text)?,
        })
    }

    /// Whether it is a pattern that covers a case or a probe.
    pub fn covers(&self, case: &str) -> bool {
        self.pattern.is_match(case)
    }
}
