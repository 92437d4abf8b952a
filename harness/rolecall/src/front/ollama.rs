//! Ollama 0.33: what its chat endpoints do before they execute a template, with requests as
//! their clients write them. The endpoints themselves are in [`rolecall_go::endpoint`].

use std::sync::Arc;

use rolecall_go::endpoint::{self, Endpoint, Handed};
use rolecall_model::{Case, Variable};

use super::clients;
use super::model::Model;
use super::prepared::Prepared;

/// What a template sees of a case.
pub(super) fn prepare(case: &Case, endpoint: Endpoint, model: &Model<'_>) -> Prepared {
    let written = written(case, endpoint, model);
    let handed = endpoint::answer(&written, endpoint, model.traits, model.setup());
    Prepared {
        case: handed.map(|handed| Some(Arc::new(handed.to_case(&written)))),
        written: Some(Arc::new(written)),
        condition: None,
        continuation: None,
    }
}

/// A case as clients of an endpoint write it. What a template's own variables say about
/// thinking is said by clients.
fn written(case: &Case, endpoint: Endpoint, model: &Model<'_>) -> Case {
    let mut case = case.clone();
    for (name, variable) in model.variables() {
        if let Variable::Value(value) = variable {
            case.variables
                .entry(name.as_str())
                .or_insert_with(|| value.clone());
        }
    }
    clients::write(case, endpoint)
}

/// What a template is given of a case by an endpoint, or alone; nothing where it is refused.
pub(super) fn handed(case: &Case, endpoint: Option<Endpoint>, model: &Model<'_>) -> Option<Handed> {
    let handed = match endpoint {
        Some(endpoint) => {
            let written = written(case, endpoint, model);
            endpoint::answer(&written, endpoint, model.traits, model.setup())
        }
        None => endpoint::alone(case),
    };
    handed.ok()
}
