//! Ollama 0.33: what its chat endpoints do before they execute a template, with requests as
//! their clients write them. The endpoints themselves are in [`rolecall_go::endpoint`].

use rolecall_go::endpoint::{self, Endpoint};
use rolecall_model::{Case, Variable};

use super::clients;
use super::model::Model;
use super::prepared::Prepared;

/// What a template sees of a case.
pub(super) fn prepare(case: &Case, endpoint: Endpoint, model: &Model<'_>) -> Prepared {
    let written = written(case, endpoint, model);
    let seen = seen(&written, endpoint, model);
    Prepared {
        case: seen.map(|seen| Some(Box::new(seen))),
        written: Some(Box::new(written)),
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

fn seen(written: &Case, endpoint: Endpoint, model: &Model<'_>) -> Result<Case, String> {
    endpoint::answer(written, endpoint, model.traits, model.setup())
}

/// Whether a template is given other things of a case by one endpoint than by another, or by
/// none.
pub(super) fn differs(case: &Case, endpoints: [Option<Endpoint>; 2], model: &Model<'_>) -> bool {
    let [one, other] = endpoints.map(|endpoint| match endpoint {
        Some(endpoint) => seen(&written(case, endpoint, model), endpoint, model),
        None => endpoint::alone(case),
    });
    match (&one, &other) {
        (Ok(one), Ok(other)) => {
            one.messages != other.messages
                || one.tools != other.tools
                || one.variables != other.variables
        }
        (Err(_), Err(_)) => false,
        _ => true,
    }
}
