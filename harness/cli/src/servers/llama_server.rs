//! llama-server, of llama.cpp.
//!
//! Source: tools/server/README.md (`/apply-template`, `/props`, `/tokenize`, `/detokenize`), and
//! the program itself, b10434. `/apply-template` takes what `/v1/chat/completions` takes, and
//! gives the prompt. If the tokenizer puts BOS before every text, the server removes a BOS that
//! the template has put there.

use rolecall_front::front::Front;
use serde_json::{Value, json};

use super::api::{Api, ApiAnswer, ApiError};
use super::application::{Application, ONLY_CONTENT, PromptAnswer, PromptRequest, Served};

pub(super) struct LlamaServer {
    api: Api,
    model: Option<String>,
    version: String,
    served: Served,
    /// What the tokenizer puts before every prompt.
    bos: Option<String>,
}

const APPLY: &str = "/apply-template";

impl LlamaServer {
    /// Asks a server which template it has.
    pub(super) fn open(api: Api, model: Option<&str>) -> Result<LlamaServer, ApiError> {
        let props = api.get("/props")?.json("/props")?;
        let Some(source) = props.get("chat_template").and_then(Value::as_str) else {
            return Err(ApiError::unexpected("/props", "it has no `chat_template`"));
        };
        let version = props.get("build_info").and_then(Value::as_str);
        let mut server = LlamaServer {
            version: version.unwrap_or_default().to_owned(),
            served: Served::Source(source.to_owned()),
            model: model.map(str::to_owned),
            bos: None,
            api,
        };
        server.bos = server.added_at_the_beginning()?;
        Ok(server)
    }

    /// The token that the tokenizer puts before every text, if there is one.
    fn added_at_the_beginning(&self) -> Result<Option<String>, ApiError> {
        let empty = json!({"content": "", "add_special": true});
        let ApiAnswer::Json(answer) = self.api.ask_first("/tokenize", &empty)? else {
            return Ok(None);
        };
        let Some(first) = answer.pointer("/tokens/0").cloned() else {
            return Ok(None);
        };
        let tokens = json!({"tokens": [first]});
        let ApiAnswer::Json(answer) = self.api.ask_first("/detokenize", &tokens)? else {
            return Ok(None);
        };
        let text = answer.get("content").and_then(Value::as_str);
        Ok(text.filter(|text| !text.is_empty()).map(str::to_owned))
    }
}

impl Application for LlamaServer {
    fn name(&self) -> &'static str {
        "llama-server"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn fronts(&self) -> &'static [Front] {
        &[
            Front::LlamaServer,
            Front::Transformers,
            Front::TransformersProcessor,
        ]
    }

    fn served(&self) -> &Served {
        &self.served
    }

    fn before_prompts(&self) -> Option<&str> {
        self.bos.as_deref()
    }

    fn prompt(&self, asked: &PromptRequest<'_>) -> Result<PromptAnswer, ApiError> {
        let Some(continues) = asked.continues() else {
            return Ok(PromptAnswer::Impossible(ONLY_CONTENT));
        };
        let mut variables = asked.variables();
        if let Some(documents) = asked.part("documents") {
            variables.insert("documents".to_owned(), documents);
        }
        let mut body = json!({
            "messages": asked.part("messages"),
            "add_generation_prompt": asked.opens_turn(),
        });
        if let Some(model) = &self.model {
            body["model"] = model.as_str().into();
        }
        if let Some(tools) = asked.part("tools") {
            body["tools"] = tools;
        }
        if continues != Value::Bool(false) {
            body["continue_final_message"] = continues;
        }
        if !variables.is_empty() {
            body["chat_template_kwargs"] = variables.into();
        }
        match self.api.ask(APPLY, &body)? {
            ApiAnswer::Refused(words) => Ok(PromptAnswer::Refused(words)),
            ApiAnswer::Json(answer) => match answer.get("prompt").and_then(Value::as_str) {
                Some(prompt) => Ok(PromptAnswer::Prompt(prompt.to_owned())),
                None => Err(ApiError::unexpected(APPLY, "it has no `prompt`")),
            },
        }
    }
}
