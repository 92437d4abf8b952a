//! What a contract is.

use std::fmt;

use rolecall_model::Dialect;

use super::judgement::Judgement;
use crate::capability::Capabilities;
use crate::probe::Prober;

/// A property that a sound template has.
pub struct Contract {
    /// Its name, in files and reports: lower-case words with dashes.
    pub id: &'static str,
    /// What it demands, in a line.
    pub meaning: &'static str,
    /// What goes wrong where it is broken, in a line.
    pub guards_against: &'static str,
    /// How bad that is.
    pub severity: Severity,
    /// The dialects that it is about.
    pub dialects: &'static [Dialect],
    /// Finds out.
    pub(super) judge: fn(&Prober<'_>, &Capabilities) -> Judgement,
}

/// How bad a broken contract is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The model gets something else than what was said, and nobody is told.
    Error,
    /// Something that others rely on, such as a cache, does not work.
    Warning,
    /// Worth knowing.
    Note,
}

impl PartialEq for Contract {
    fn eq(&self, other: &Contract) -> bool {
        self.id == other.id
    }
}

impl Eq for Contract {}

impl fmt::Debug for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl Severity {
    /// The word for it in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
