//! vLLM.
//!
//! Source: vllm/entrypoints/serve/render and serve/tokenize, as of 0.24 and later.
//! `/v1/chat/completions/render` takes what `/v1/chat/completions` takes, and gives the tokens of
//! the prompt; `/detokenize` gives their text. The server uses a template in the request only if
//! it was started with `--trust-request-chat-template`. `/tokenizer_info` has the template, and
//! exists only with `--enable-tokenizer-info-endpoint`. `/v1/chat/completions/derender`, as of 0.33, takes the
//! tokens of an answer, and gives the message that the server's parsers make of them.

use rolecall_core::{Answer, ReadOutcome};
use rolecall_front::front::Front;
use serde_json::{Map, Value, json};

use super::api::{Api, ApiAnswer, ApiError};
use super::application::{Application, ONLY_CONTENT, PromptAnswer, PromptRequest, Served};

pub(super) struct Vllm {
    api: Api,
    model: String,
    version: String,
    served: Served,
}

pub(super) const RENDER: &str = "/v1/chat/completions/render";
const TOKENIZE: &str = "/tokenize";
const DETOKENIZE: &str = "/detokenize";
const DERENDER: &str = "/v1/chat/completions/derender";

impl Vllm {
    /// Asks a server which model and which template it has.
    pub(super) fn open(api: Api, model: Option<&str>) -> Result<Vllm, ApiError> {
        let models = api.get("/v1/models")?.json("/v1/models")?;
        let first = models.pointer("/data/0/id").and_then(Value::as_str);
        let Some(model) = model.or(first) else {
            return Err(ApiError::unexpected("/v1/models", "it has no model"));
        };
        let version = api.get_if_there("/version");
        let version = version
            .as_ref()
            .and_then(|reported| reported.get("version")?.as_str());
        let mut server = Vllm {
            model: model.to_owned(),
            version: version.unwrap_or_default().to_owned(),
            served: Served::Unknown,
            api,
        };
        server.served = server.find_template()?;
        Ok(server)
    }

    /// The template that the server accepts, or that it says it has.
    fn find_template(&self) -> Result<Served, ApiError> {
        let body = json!({
            "model": self.model,
            "messages": [{"role": "user", "content": "x"}],
            "chat_template": "x",
        });
        if let ApiAnswer::Json(_) = self.api.ask_first(RENDER, &body)? {
            return Ok(Served::Any);
        }
        let reported = self.api.get_if_there("/tokenizer_info");
        let source = reported
            .as_ref()
            .and_then(|reported| reported.get("chat_template")?.as_str());
        Ok(source.map_or(Served::Unknown, |source| Served::Source(source.to_owned())))
    }

    fn text(&self, tokens: &Value) -> Result<PromptAnswer, ApiError> {
        let body = json!({"model": self.model, "tokens": tokens});
        match self.api.ask(DETOKENIZE, &body)? {
            ApiAnswer::Json(answer) => match answer.get("prompt").and_then(Value::as_str) {
                Some(prompt) => Ok(PromptAnswer::Prompt(prompt.to_owned())),
                None => Err(ApiError::unexpected(DETOKENIZE, "it has no `prompt`")),
            },
            ApiAnswer::Refused(words) => Err(ApiError::unexpected(DETOKENIZE, words)),
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

    fn fronts(&self) -> &'static [Front] {
        &[
            Front::Vllm,
            Front::Transformers,
            Front::TransformersProcessor,
        ]
    }

    fn served(&self) -> &Served {
        &self.served
    }

    fn prompt(&self, asked: &PromptRequest<'_>) -> Result<PromptAnswer, ApiError> {
        let Some(continues) = asked.continues() else {
            return Ok(PromptAnswer::Impossible(ONLY_CONTENT));
        };
        let mut variables = asked.variables();
        if self.served == Served::Any {
            // The server adds only the special tokens of its own model.
            for (name, token) in &asked.template.special_tokens {
                variables.entry(name).or_insert_with(|| token.clone());
            }
        }
        let mut body = asked.body(&self.model, variables);
        body["add_generation_prompt"] = asked.opens_turn().into();
        body["continue_final_message"] = continues;
        if self.served == Served::Any {
            body["chat_template"] = asked.template.source.as_str().into();
        }
        match self.api.ask(RENDER, &body)? {
            ApiAnswer::Refused(words) => Ok(PromptAnswer::Refused(words)),
            ApiAnswer::Json(answer) => match answer.get("token_ids") {
                Some(tokens @ Value::Array(_)) => self.text(tokens),
                _ => Err(ApiError::unexpected(RENDER, "it has no `token_ids`")),
            },
        }
    }

    fn reads_answers(&self) -> bool {
        true
    }

    fn read(
        &self,
        answer: &Answer<'_>,
        variables: &Map<String, Value>,
    ) -> Result<ReadOutcome, ApiError> {
        let text = json!({"model": self.model, "prompt": answer.text, "add_special_tokens": false});
        let tokens = self.api.ask(TOKENIZE, &text)?.json(TOKENIZE)?;
        let Some(tokens @ Value::Array(_)) = tokens.get("tokens") else {
            return Err(ApiError::unexpected(TOKENIZE, "it has no `tokens`"));
        };
        let mut request = json!({
            "model": self.model,
            // The parsers are not given the conversation.
            "messages": [{"role": "user", "content": "x"}],
            "chat_template_kwargs": variables,
        });
        if let Some(tools) = answer.tools.filter(|tools| !tools.is_empty()) {
            request["tools"] = tools.into();
        }
        let body = json!({
            "model": self.model,
            "generate_response": {
                "choices": [{"index": 0, "token_ids": tokens, "finish_reason": "stop"}],
            },
            "chat_request": request,
        });
        match self.api.ask(DERENDER, &body)? {
            ApiAnswer::Refused(message) => Ok(ReadOutcome::Failed {
                kind: "refused".to_owned(),
                message,
            }),
            ApiAnswer::Json(answer) => match answer.pointer("/choices/0/message") {
                Some(message) => Ok(ReadOutcome::Read {
                    message: message.clone(),
                }),
                None => Err(ApiError::unexpected(DERENDER, "it has no message")),
            },
        }
    }
}
