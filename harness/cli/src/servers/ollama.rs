//! Ollama.
//!
//! Source: server/routes.go (`ChatHandler`, `ShowHandler`), api/types.go (`DebugInfo`) and
//! openai/openai.go of 0.33. With `_debug_render_only` either endpoint for chats answers with the
//! prompt, after it has loaded the model, and generates nothing.

use rolecall_model::Dialect;
use serde_json::{Value, json};

use super::application::{Application, Asked, Said, Served};
use super::http::{Answer, Client, HttpError};

/// A server of Ollama, with one of its models.
pub(super) struct Ollama {
    client: Client,
    model: String,
    version: String,
    served: Served,
}

const OPENAI: &str = "ollama-openai";

impl Ollama {
    /// Finds out which template a model has.
    pub(super) fn open(client: Client, model: Option<&str>) -> Result<Ollama, HttpError> {
        let version = client.get("/api/version")?.json("/api/version")?;
        let version = version.get("version").and_then(Value::as_str);
        let model = match model {
            Some(model) => model.to_owned(),
            None => only_model(&client)?,
        };
        let show = json!({"model": model});
        let served = match client.ask_first("/api/show", &show)? {
            Answer::Json(told) => match told.get("template").and_then(Value::as_str) {
                Some(source) => Served::Source(source.to_owned()),
                None => Served::Unknown,
            },
            Answer::Refused(words) => return Err(HttpError::unexpected("/api/show", words)),
        };
        Ok(Ollama {
            version: version.unwrap_or_default().to_owned(),
            model,
            served,
            client,
        })
    }
}

/// The model of a server that has one alone.
fn only_model(client: &Client) -> Result<String, HttpError> {
    const TAGS: &str = "/api/tags";
    let told = client.get(TAGS)?.json(TAGS)?;
    let models = told.get("models").and_then(Value::as_array);
    let names = models.into_iter().flatten();
    let names: Vec<&str> = names
        .filter_map(|model| model.get("name")?.as_str())
        .collect();
    match names.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(HttpError::unexpected(TAGS, "it has no model")),
        many => Err(HttpError::unexpected(
            TAGS,
            format!(
                "it has {} models; name one as `ollama:{}={}`",
                many.len(),
                many[0],
                client.address()
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

    fn fronts(&self) -> &'static [&'static str] {
        &["ollama", OPENAI]
    }

    fn served(&self) -> &Served {
        &self.served
    }

    fn prompt(&self, asked: &Asked<'_>) -> Result<Said, HttpError> {
        let path = match asked.front {
            Some(OPENAI) => "/v1/chat/completions",
            _ => "/api/chat",
        };
        let mut body = json!({
            "model": self.model,
            "messages": asked.part("messages"),
            "stream": false,
            "_debug_render_only": true,
        });
        if asked.front != Some(OPENAI) {
            // A long conversation is not to be shortened.
            body["truncate"] = false.into();
        }
        if let Some(tools) = asked.part("tools") {
            body["tools"] = tools;
        }
        // What clients say about thinking: the front has put it under the endpoint's name.
        for (name, value) in asked.variables() {
            if ["think", "reasoning_effort"].contains(&name.as_str()) {
                body[name] = value;
            }
        }
        match self.client.ask(path, &body)? {
            Answer::Refused(words) => Ok(Said::Refused(words)),
            Answer::Json(answer) => {
                let prompt = answer.pointer("/_debug_info/rendered_template");
                match prompt.and_then(Value::as_str) {
                    Some(prompt) => Ok(Said::Prompt(prompt.to_owned())),
                    // Without messages the model is loaded, and nothing is rendered.
                    None if answer.get("done_reason") == Some(&"load".into()) => Ok(Said::Refused(
                        "without messages nothing is rendered".to_owned(),
                    )),
                    None => Err(HttpError::unexpected(path, "it has no `_debug_info`")),
                }
            }
        }
    }
}
