//! Text Generation Inference, of Hugging Face.
//!
//! Source: router/src/server.rs (`get_chat_tokenize`, `get_model_info`) and router/src/lib.rs
//! (`ChatRequest`) of 3.3.6. `/chat_tokenize` takes what `/v1/chat/completions` takes, and gives
//! the prompt beside its tokens. Its requests have neither variables of the template nor
//! documents, and every prompt opens the assistant's turn. Which template it has it does not say.

use serde_json::{Value, json};

use super::application::{Application, Asked, Said, Served};
use super::http::{Answer, Client, HttpError};

/// A server of TGI.
pub(super) struct Tgi {
    client: Client,
    model: String,
    version: String,
}

const CHAT_TOKENIZE: &str = "/chat_tokenize";

impl Tgi {
    /// Finds out which version a server has.
    pub(super) fn open(client: Client, model: Option<&str>) -> Result<Tgi, HttpError> {
        let info = client.get("/info")?.json("/info")?;
        let Some(version) = info.get("version").and_then(Value::as_str) else {
            return Err(HttpError::unexpected("/info", "it has no `version`"));
        };
        Ok(Tgi {
            version: version.to_owned(),
            model: model.unwrap_or("tgi").to_owned(),
            client,
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

    fn prompt(&self, asked: &Asked<'_>) -> Result<Said, HttpError> {
        if !asked.opens_turn() {
            return Ok(Said::Impossible("TGI always opens the assistant's turn"));
        }
        if !asked.variables().is_empty() || asked.part("documents").is_some() {
            return Ok(Said::Impossible(
                "TGI hands neither variables nor documents to templates",
            ));
        }
        let mut body = json!({"model": self.model, "messages": asked.part("messages")});
        if let Some(tools) = asked.part("tools") {
            body["tools"] = tools;
        }
        match self.client.ask(CHAT_TOKENIZE, &body)? {
            Answer::Refused(words) => Ok(Said::Refused(words)),
            Answer::Json(answer) => match answer.get("templated_text").and_then(Value::as_str) {
                Some(prompt) => Ok(Said::Prompt(prompt.to_owned())),
                None => Err(HttpError::unexpected(
                    CHAT_TOKENIZE,
                    "it has no `templated_text`",
                )),
            },
        }
    }
}
