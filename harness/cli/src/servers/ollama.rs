//! Ollama.
//!
//! Source: server/routes.go (`ChatHandler`, `ShowHandler`), api/types.go (`DebugInfo`) and
//! openai/openai.go of 0.33. With `_debug_render_only`, both chat endpoints load the model and
//! answer with the prompt, and generate nothing.

use rolecall_core::Dialect;
use rolecall_front::front::Front;
use serde_json::{Value, json};

use super::api::{Api, ApiAnswer, ApiError};
use super::application::{Application, PromptAnswer, PromptRequest, Served};

/// A server of Ollama, with one of its models.
pub(super) struct Ollama {
    api: Api,
    model: String,
    version: String,
    served: Served,
}

impl Ollama {
    /// Asks a server which template a model has.
    pub(super) fn open(api: Api, model: Option<&str>) -> Result<Ollama, ApiError> {
        let version = api.get("/api/version")?.json("/api/version")?;
        let version = version.get("version").and_then(Value::as_str);
        let model = match model {
            Some(model) => model.to_owned(),
            None => only_model(&api)?,
        };
        let show = json!({"model": model});
        let served = match api.ask_first("/api/show", &show)? {
            ApiAnswer::Json(reported) => match reported.get("template").and_then(Value::as_str) {
                Some(source) => Served::Source(source.to_owned()),
                None => Served::Unknown,
            },
            ApiAnswer::Refused(words) => return Err(ApiError::unexpected("/api/show", words)),
        };
        Ok(Ollama {
            version: version.unwrap_or_default().to_owned(),
            model,
            served,
            api,
        })
    }
}

/// The only model of a server.
fn only_model(api: &Api) -> Result<String, ApiError> {
    const TAGS: &str = "/api/tags";
    let reported = api.get(TAGS)?.json(TAGS)?;
    let models = reported.get("models").and_then(Value::as_array);
    let names = models.into_iter().flatten();
    let names: Vec<&str> = names
        .filter_map(|model| model.get("name")?.as_str())
        .collect();
    match names.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(ApiError::unexpected(TAGS, "it has no model")),
        many => Err(ApiError::unexpected(
            TAGS,
            format!(
                "it has {} models; name one as `ollama:{}={}`",
                many.len(),
                many[0],
                api.address()
            ),
        )),
    }
}

impl Application for Ollama {
    fn name(&self) -> &'static str {
        "ollama"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn dialect(&self) -> Dialect {
        Dialect::Go
    }

    fn fronts(&self) -> &'static [Front] {
        &[Front::Ollama, Front::OllamaOpenAi]
    }

    fn served(&self) -> &Served {
        &self.served
    }

    fn prompt(&self, asked: &PromptRequest<'_>) -> Result<PromptAnswer, ApiError> {
        let path = match asked.front {
            Some(Front::OllamaOpenAi) => "/v1/chat/completions",
            _ => "/api/chat",
        };
        let mut body = json!({
            "model": self.model,
            "messages": asked.part("messages"),
            "stream": false,
            "_debug_render_only": true,
        });
        if asked.front != Some(Front::OllamaOpenAi) {
            // A long conversation is not to be shortened.
            body["truncate"] = false.into();
        }
        if let Some(tools) = asked.part("tools") {
            body["tools"] = tools;
        }
        // The client's settings for thinking: the front has renamed them for the endpoint.
        for (name, value) in asked.variables() {
            if ["think", "reasoning_effort"].contains(&name.as_str()) {
                body[name] = value;
            }
        }
        match self.api.ask(path, &body)? {
            ApiAnswer::Refused(words) => Ok(PromptAnswer::Refused(words)),
            ApiAnswer::Json(answer) => {
                let prompt = answer.pointer("/_debug_info/rendered_template");
                match prompt.and_then(Value::as_str) {
                    Some(prompt) => Ok(PromptAnswer::Prompt(prompt.to_owned())),
                    // Without messages the model is loaded, and nothing is rendered.
                    None if answer.get("done_reason") == Some(&"load".into()) => Ok(
                        PromptAnswer::Refused("without messages nothing is rendered".to_owned()),
                    ),
                    None => Err(ApiError::unexpected(path, "it has no `_debug_info`")),
                }
            }
        }
    }
}
