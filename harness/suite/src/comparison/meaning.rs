//! What a difference from the base of a template means.

/// What a difference from the base means.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// The template breaks these contracts there, and the base does not.
    Breaks(Vec<&'static str>),
    /// No contract says which of the two is right.
    Differs,
    /// The base breaks these contracts there, and the template does not.
    Fixes(Vec<&'static str>),
}

impl Meaning {
    /// The word for it in files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Meaning::Breaks(_) => "breaks",
            Meaning::Differs => "differs",
            Meaning::Fixes(_) => "mends",
        }
    }

    /// The contracts that are broken on one side.
    pub fn contracts(&self) -> &[&'static str] {
        match self {
            Meaning::Breaks(ids) | Meaning::Fixes(ids) => ids,
            Meaning::Differs => &[],
        }
    }
}
