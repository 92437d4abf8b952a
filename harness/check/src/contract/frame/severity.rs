//! How bad a finding is.

use rolecall_core::named;
use serde::{Deserialize, Serialize};

named! {
    /// How bad a broken contract is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum Severity {
        /// A defect: what the template sets out to do it does wrong, or the model gets something else
        /// than what was said, and nothing reports it.
        Error = "error",
        /// Something that others rely on, such as a cache, does not work.
        Warning = "warning",
        /// What the template plainly does not do, such as tools or system messages. Fails nothing.
        Limitation = "limitation",
        /// Worth knowing.
        Note = "note",
    }
}

impl Severity {
    /// Whether someone should fix this, or say why it is so.
    pub fn is_defect(self) -> bool {
        matches!(self, Severity::Error | Severity::Warning)
    }
}
