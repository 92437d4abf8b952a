//! How bad a finding is.

use std::fmt;

/// How bad a broken contract is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A defect: what the template sets out to do it does wrong, or the model gets something else
    /// than what was said, and nothing reports it.
    Error,
    /// Something that others rely on, such as a cache, does not work.
    Warning,
    /// What the template plainly does not do, such as tools or system messages. Fails nothing.
    Limitation,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word for it in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Limitation => "limitation",
            Severity::Note => "note",
        }
    }

    /// Every severity, the worst first.
    pub const ALL: [Severity; 4] = [
        Severity::Error,
        Severity::Warning,
        Severity::Limitation,
        Severity::Note,
    ];

    /// Whether someone should fix this, or say why it is so.
    pub fn is_defect(self) -> bool {
        matches!(self, Severity::Error | Severity::Warning)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
