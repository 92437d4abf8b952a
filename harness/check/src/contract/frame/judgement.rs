//! How a template relates to a contract.

use super::evidence::Evidence;

/// How a template relates to a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// No render breaks it, and at least one could have.
    Holds,
    /// Renders show that it does not hold.
    Broken(Vec<Evidence>),
    /// It says nothing about this template.
    DoesNotApply(String),
}

impl Judgement {
    /// The word for it in files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Judgement::Holds => "holds",
            Judgement::Broken(_) => "broken",
            Judgement::DoesNotApply(_) => "does-not-apply",
        }
    }
}
