//! The chat endpoints of Ollama 0.33, with requests as their clients write them. The endpoints'
//! work before a template is in [`rolecall_go::endpoint`].

use std::sync::Arc;

use rolecall_core::{Case, Dialect, Variable};
use rolecall_go::endpoint::{self, Endpoint, TemplateConversation};

use super::clients;
use super::definition::{Front, FrontDefinition, PreparationRules};
use super::model::ModelProfile;
use super::preparation::Preparation;

/// The front of Ollama's own endpoint.
pub(super) static NATIVE: FrontDefinition = FrontDefinition {
    name: "ollama",
    description: "/api/chat of Ollama 0.33",
    dialect: Some(Dialect::Go),
    others: &[Front::Raw, Front::OllamaOpenAi],
    choose: |template, _| Ok(template),
    alternative: |_| None,
    preparation: PreparationRules::Endpoint(Endpoint::Native),
};

/// The front of its endpoint for clients of OpenAI.
pub(super) static OPENAI: FrontDefinition = FrontDefinition {
    name: "ollama-openai",
    description: "/v1/chat/completions of Ollama 0.33",
    dialect: Some(Dialect::Go),
    others: &[Front::Raw, Front::Ollama],
    choose: |template, _| Ok(template),
    alternative: |_| None,
    preparation: PreparationRules::Endpoint(Endpoint::OpenAi),
};

/// Prepares a case for the template.
pub(super) fn prepare(case: &Case, endpoint: Endpoint, model: &ModelProfile<'_>) -> Preparation {
    let written = written(case, endpoint, model);
    let handed = endpoint::answer(&written, endpoint, model.traits, model.setup());
    Preparation {
        case: handed.map(|handed| Some(Arc::new(handed.to_case(&written)))),
        written: Some(Arc::new(written)),
        ..Preparation::unchanged()
    }
}

/// A case as clients of an endpoint write it. If a template's own variables set thinking, the
/// clients send that too.
fn written(case: &Case, endpoint: Endpoint, model: &ModelProfile<'_>) -> Case {
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

/// A case as an endpoint, or no endpoint, hands it to a template. None if the case is refused.
pub(super) fn handed(
    case: &Case,
    endpoint: Option<Endpoint>,
    model: &ModelProfile<'_>,
) -> Option<TemplateConversation> {
    let handed = match endpoint {
        Some(endpoint) => {
            let written = written(case, endpoint, model);
            endpoint::answer(&written, endpoint, model.traits, model.setup())
        }
        None => endpoint::without_endpoint(case),
    };
    handed.ok()
}
