//! No application: engines alone.

use super::definition::{FrontDefinition, PreparationRules};
use super::preparation::Preparation;

pub(super) static FRONT: FrontDefinition = FrontDefinition {
    name: "raw",
    description: "nothing: templates see conversations as they are written",
    dialect: None,
    others: &[],
    choose: |template, _| Ok(template),
    alternative: |_| None,
    preparation: PreparationRules::Method {
        changes: |_| false,
        prepare: |_| Preparation::unchanged(),
    },
};
