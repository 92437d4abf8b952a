//! What a run demands of the report cards of a suite of one's own.

use rolecall_check::contract::Severity;

/// What a run demands of the report cards of a suite: the key `contracts` of `rolecall.toml`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CardRule {
    Off,
    /// The card is as it was accepted.
    #[default]
    Accepted,
    /// The card is as it was accepted, and `rolecall.toml` explains every error on it.
    Errors,
    /// The card is as it was accepted, and `rolecall.toml` explains every error and warning on it.
    Warnings,
}

impl CardRule {
    /// All rules, from the mildest to the strictest.
    pub const ALL: [CardRule; 4] = [
        CardRule::Off,
        CardRule::Accepted,
        CardRule::Errors,
        CardRule::Warnings,
    ];

    /// The word for it in `rolecall.toml`.
    pub fn name(self) -> &'static str {
        match self {
            CardRule::Off => "off",
            CardRule::Accepted => "accepted",
            CardRule::Errors => "errors",
            CardRule::Warnings => "warnings",
        }
    }

    pub fn named(name: &str) -> Option<CardRule> {
        CardRule::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Whether a broken contract of a severity needs an explanation.
    pub(crate) fn forbids(self, severity: Severity) -> bool {
        match severity {
            Severity::Error => self >= CardRule::Errors,
            Severity::Warning => self >= CardRule::Warnings,
            Severity::Limitation | Severity::Note => false,
        }
    }
}
