//! vLLM.
//!
//! Source: vllm/entrypoints/serve/render and serve/tokenize, as of 0.24 and later.
//! `/v1/chat/completions/render` takes what `/v1/chat/completions` takes, and gives the tokens of
//! the prompt; `/detokenize` gives their text. A template in the request is used where the server
//! was started with `--trust-request-chat-template`. `/tokenizer_info`, which has the template, is
//! there with `--enable-tokenizer-info-endpoint` alone.

use serde_json::{Value, json};

use super::application::{Application, Asked, ONLY_CONTENT, Said, Served};
use super::http::{Answer, Client, HttpError};

/// A server of vLLM.
pub(super) struct Vllm {
    client: Client,
    model: String,
    version: String,
    served: Served,
}

const RENDER: &str = "/v1/chat/completions/render";
const DETOKENIZE: &str = "/detokenize";

impl Vllm {
    /// Finds out which model and which template a server has.
    pub(super) fn open(client: Client, model: Option<&str>) -> Result<Vllm, HttpError> {
        let models = client.get("/v1/models")?.json("/v1/models")?;
        let first = models.pointer("/data/0/id").and_then(Value::as_str);
        let Some(model) = model.or(first) else {
            return Err(HttpError::unexpected("/v1/models", "it has no model"));
        };
        let version = client.get_if_there("/version");
        let version = version
            .as_ref()
            .and_then(|told| told.get("version")?.as_str());
        let mut server = Vllm {
            model: model.to_owned(),
            version: version.unwrap_or_default().to_owned(),
            served: Served::Unknown,
            client,
        };
        server.served = server.find_template()?;
        Ok(server)
    }

    /// The template that the server takes, or that it says to have.
    fn find_template(&self) -> Result<Served, HttpError> {
        let body = json!({
            "model": self.model,
            "messages": [{"role": "user", "content": "x"}],
            "chat_template": "x",
        });
        if let Answer::Json(_) = self.client.ask_first(RENDER, &body)? {
            return Ok(Served::Any);
        }
        let told = self.client.get_if_there("/tokenizer_info");
        let source = told
            .as_ref()
            .and_then(|told| told.get("chat_template")?.as_str());
        Ok(source.map_or(Served::Unknown, |source| Served::Source(source.to_owned())))
    }

    /// The text of tokens.
    fn text(&self, tokens: &Value) -> Result<Said, HttpError> {
        let body = json!({"model": self.model, "tokens": tokens});
        match self.client.ask(DETOKENIZE, &body)? {
            Answer::Json(answer) => match answer.get("prompt").and_then(Value::as_str) {
                Some(prompt) => Ok(Said::Prompt(prompt.to_owned())),
                None => Err(HttpError::unexpected(DETOKENIZE, "it has no `prompt`")),
            },
            Answer::Refused(words) => Err(HttpError::unexpected(DETOKENIZE, words)),
        }
    }
}

impl Application for Vllm {
    fn name(&self) -> &'static str {
        "vllm"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn served(&self) -> &Served {
        &self.served
    }

    fn prompt(&self, asked: &Asked<'_>) -> Result<Said, HttpError> {
        let Some(continues) = asked.continues() else {
            return Ok(Said::Impossible(ONLY_CONTENT));
        };
        let mut body = json!({
            "model": self.model,
            "messages": asked.part("messages"),
            "add_generation_prompt": asked.opens_turn(),
            "continue_final_message": continues,
        });
        for name in ["tools", "documents"] {
            if let Some(part) = asked.part(name) {
                body[name] = part;
            }
        }
        let mut variables = asked.variables();
        if self.served == Served::Any {
            body["chat_template"] = asked.template.source.as_str().into();
            // The server has those of its own model.
            for (name, token) in &asked.template.special_tokens {
                variables.entry(name).or_insert_with(|| token.clone());
            }
        }
        if !variables.is_empty() {
            body["chat_template_kwargs"] = variables.into();
        }
        match self.client.ask(RENDER, &body)? {
            Answer::Refused(words) => Ok(Said::Refused(words)),
            Answer::Json(answer) => match answer.get("token_ids") {
                Some(tokens @ Value::Array(_)) => self.text(tokens),
                _ => Err(HttpError::unexpected(RENDER, "it has no `token_ids`")),
            },
        }
    }
}
