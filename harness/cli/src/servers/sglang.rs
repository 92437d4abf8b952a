//! SGLang.
//!
//! Source: `http_server.py` and `openai/serving_tokenize.py` in sglang/srt/entrypoints of 0.5.23. `/v1/tokenize`
//! makes the prompt of messages as `/v1/chat/completions` does, and gives its tokens; `/v1/detokenize` gives
//! their text. The server does not report its template.

use rolecall_front::front::Front;
use serde_json::{Value, json};

use super::api::{Api, ApiAnswer, ApiError};
use super::application::{Application, ONLY_CONTENT, PromptAnswer, PromptRequest, Served};

pub(super) struct SgLang {
    api: Api,
    model: String,
    version: String,
}

pub(super) const TOKENIZE: &str = "/v1/tokenize";
const DETOKENIZE: &str = "/v1/detokenize";

impl SgLang {
    /// Asks a server which model it has.
    pub(super) fn open(api: Api, model: Option<&str>) -> Result<SgLang, ApiError> {
        let info = api.get("/model_info")?.json("/model_info")?;
        let own = info.get("served_model_name").and_then(Value::as_str);
        let Some(model) = model.or(own) else {
            return Err(ApiError::unexpected("/model_info", "it has no model"));
        };
        let version = api.get_if_there("/server_info");
        let version = version
            .as_ref()
            .and_then(|reported| reported.get("version")?.as_str());
        Ok(SgLang {
            model: model.to_owned(),
            version: version.unwrap_or_default().to_owned(),
            api,
        })
    }
}

impl Application for SgLang {
    fn name(&self) -> &'static str {
        "sglang"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn fronts(&self) -> &'static [Front] {
        &[
            Front::SgLang,
            Front::Transformers,
            Front::TransformersProcessor,
        ]
    }

    fn served(&self) -> &Served {
        &Served::Unknown
    }

    fn prompt(&self, asked: &PromptRequest<'_>) -> Result<PromptAnswer, ApiError> {
        let Some(continues) = asked.continues() else {
            return Ok(PromptAnswer::Impossible(ONLY_CONTENT));
        };
        let mut body = asked.body(&self.model, asked.variables());
        body["continue_final_message"] = continues;
        let tokens = match self.api.ask(TOKENIZE, &body)? {
            ApiAnswer::Refused(words) => return Ok(PromptAnswer::Refused(words)),
            ApiAnswer::Json(answer) => answer,
        };
        let Some(tokens @ Value::Array(_)) = tokens.get("tokens") else {
            return Err(ApiError::unexpected(TOKENIZE, "it has no `tokens`"));
        };
        // Control tokens are part of the prompt.
        let body = json!({"model": self.model, "tokens": tokens, "skip_special_tokens": false});
        let text = self.api.ask(DETOKENIZE, &body)?.json(DETOKENIZE)?;
        match text.get("text").and_then(Value::as_str) {
            Some(prompt) => Ok(PromptAnswer::Prompt(prompt.to_owned())),
            None => Err(ApiError::unexpected(DETOKENIZE, "it has no `text`")),
        }
    }
}
