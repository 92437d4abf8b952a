//! What a run demands of the report cards of a suite of one's own.

use rolecall_check::contract::Severity;
use rolecall_core::named;

named! {
    /// What a run demands of the report cards of a suite: the key `contracts` of `rolecall.toml`.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum CardRule {
        Off = "off",
        /// The card is as it was accepted.
        #[default]
        Accepted = "accepted",
        /// The card is as it was accepted, and `rolecall.toml` explains every error on it.
        Errors = "errors",
        /// The card is as it was accepted, and `rolecall.toml` explains every error and warning on it.
        Warnings = "warnings",
    }
}

impl CardRule {
    /// Whether a broken contract of a severity needs an explanation.
    pub(crate) fn forbids(self, severity: Severity) -> bool {
        match severity {
            Severity::Error => self >= CardRule::Errors,
            Severity::Warning => self >= CardRule::Warnings,
            Severity::Limitation | Severity::Note => false,
        }
    }
}
