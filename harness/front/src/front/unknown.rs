//! The front of an unknown name. Readers of files refuse such a name themselves. Here every
//! conversation fails with it, so that nothing mistakes it for another front.

use rolecall_core::{Case, Template};

use super::definition::{FrontDefinition, PreparationRules};
use super::preparation::Preparation;

pub(super) static FRONT: FrontDefinition = FrontDefinition {
    name: "unknown",
    description: "no front that there is",
    dialect: None,
    others: &[],
    choose: refuse,
    alternative: |_| None,
    preparation: PreparationRules::Method {
        changes: |_| true,
        prepare: |_| Preparation::unchanged(),
    },
};

/// A name that no front has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no front is named `{0}`")]
pub struct UnknownFront(pub String);

fn refuse<'t>(template: &'t Template, case: &Case) -> Result<&'t Template, String> {
    let name = case.front.or(template.front.as_deref()).unwrap_or_default();
    Err(UnknownFront(name.to_owned()).to_string())
}
