//! One known difference.

/// Differences for one reason. Every pattern that is not empty has to match.
pub(super) struct KnownDifference {
    pub(super) reason: &'static str,
    /// Matches the smallest template.
    pub(super) template: &'static str,
    /// Matches what the reference says.
    pub(super) expected: &'static str,
    /// Matches what the engine says.
    pub(super) found: &'static str,
}

/// A known difference with a pattern for the template only.
pub(super) const fn template(template: &'static str, reason: &'static str) -> KnownDifference {
    KnownDifference {
        reason,
        template,
        expected: "",
        found: "",
    }
}

/// The reason of differences in both dialects.
pub(super) const ADDRESS: &str = "an address in memory is another one every time";
