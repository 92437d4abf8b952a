//! A row of the differences that are known.

/// Differences for one reason. Each pattern that is there has to match.
pub(super) struct Row {
    pub(super) reason: &'static str,
    /// Matches the smallest template.
    pub(super) template: &'static str,
    /// Matches what the reference says.
    pub(super) expected: &'static str,
    /// Matches what the engine says.
    pub(super) found: &'static str,
}

/// A row that looks at the template only.
pub(super) const fn template(template: &'static str, reason: &'static str) -> Row {
    Row {
        reason,
        template,
        expected: "",
        found: "",
    }
}

/// The reason of differences in both dialects.
pub(super) const ADDRESS: &str = "an address in memory is another one every time";
