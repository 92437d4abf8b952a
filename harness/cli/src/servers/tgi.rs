//! Text Generation Inference, of Hugging Face.
//!
//! Source: router/src/server.rs (`get_chat_tokenize`, `get_model_info`) and router/src/lib.rs
//! (`ChatRequest`) of 3.3.6. `/chat_tokenize` takes what `/v1/chat/completions` takes, and gives
//! the prompt besides its tokens. Its requests carry neither variables nor documents, and every
//! prompt opens the assistant's turn. It does not say which template it has.

use serde_json::{Value, json};

use super::api::{Api, ApiAnswer, ApiError};
use super::application::{Application, PromptAnswer, PromptRequest, Served};

pub(super) struct Tgi {
    api: Api,
    model: String,
    version: String,
}

const CHAT_TOKENIZE: &str = "/chat_tokenize";

impl Tgi {
    /// Asks a server for its version.
    pub(super) fn open(api: Api, model: Option<&str>) -> Result<Tgi, ApiError> {
        let info = api.get("/info")?.json("/info")?;
        let Some(version) = info.get("version").and_then(Value::as_str) else {
            return Err(ApiError::unexpected("/info", "it has no `version`"));
        };
        Ok(Tgi {
            version: version.to_owned(),
            model: model.unwrap_or("tgi").to_owned(),
            api,
        })
    }
}

impl Application for Tgi {
    fn name(&self) -> &'static str {
        "tgi"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn served(&self) -> &Served {
        &Served::Unknown
    }

    fn prompt(&self, asked: &PromptRequest<'_>) -> Result<PromptAnswer, ApiError> {
        if !asked.opens_turn() {
            return Ok(PromptAnswer::Impossible(
                "TGI always opens the assistant's turn",
            ));
        }
        if !asked.variables().is_empty() || asked.part("documents").is_some() {
            return Ok(PromptAnswer::Impossible(
                "TGI passes neither variables nor documents to templates",
            ));
        }
        let mut body = json!({"model": self.model, "messages": asked.part("messages")});
        if let Some(tools) = asked.part("tools") {
            body["tools"] = tools;
        }
        match self.api.ask(CHAT_TOKENIZE, &body)? {
            ApiAnswer::Refused(words) => Ok(PromptAnswer::Refused(words)),
            ApiAnswer::Json(answer) => match answer.get("templated_text").and_then(Value::as_str) {
                Some(prompt) => Ok(PromptAnswer::Prompt(prompt.to_owned())),
                None => Err(ApiError::unexpected(
                    CHAT_TOKENIZE,
                    "it has no `templated_text`",
                )),
            },
        }
    }
}
