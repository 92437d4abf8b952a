//! llama-server, of llama.cpp.
//!
//! Source: tools/server/README.md (`/apply-template`, `/props`, `/tokenize`, `/detokenize`), and
//! the program itself, b10434. `/apply-template` takes what `/v1/chat/completions` takes, and
//! gives the prompt. Where the tokenizer puts BOS before every text, the server takes it off the
//! prompt, if the template has put it there.

use serde_json::{Value, json};

use super::application::{Application, Asked, ONLY_CONTENT, Said, Served};
use super::http::{Answer, Client, HttpError};

/// A llama-server.
pub(super) struct LlamaServer {
    client: Client,
    model: Option<String>,
    version: String,
    served: Served,
    /// What the tokenizer puts before every prompt.
    bos: Option<String>,
}

const APPLY: &str = "/apply-template";

impl LlamaServer {
    /// Finds out which template a server has.
    pub(super) fn open(client: Client, model: Option<&str>) -> Result<LlamaServer, HttpError> {
        let props = client.get("/props")?.json("/props")?;
        let Some(source) = props.get("chat_template").and_then(Value::as_str) else {
            return Err(HttpError::unexpected("/props", "it has no `chat_template`"));
        };
        let version = props.get("build_info").and_then(Value::as_str);
        let mut server = LlamaServer {
            version: version.unwrap_or_default().to_owned(),
            served: Served::Source(source.to_owned()),
            model: model.map(str::to_owned),
            bos: None,
            client,
        };
        server.bos = server.added_at_the_beginning()?;
        Ok(server)
    }

    /// The token that the tokenizer puts before every text, if it does.
    fn added_at_the_beginning(&self) -> Result<Option<String>, HttpError> {
        let empty = json!({"content": "", "add_special": true});
        let Answer::Json(answer) = self.client.ask_first("/tokenize", &empty)? else {
            return Ok(None);
        };
        let Some(first) = answer.pointer("/tokens/0").cloned() else {
            return Ok(None);
        };
        let tokens = json!({"tokens": [first]});
        let Answer::Json(answer) = self.client.ask_first("/detokenize", &tokens)? else {
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

    fn served(&self) -> &Served {
        &self.served
    }

    fn before_prompts(&self) -> Option<&str> {
        self.bos.as_deref()
    }

    fn prompt(&self, asked: &Asked<'_>) -> Result<Said, HttpError> {
        let Some(continues) = asked.continues() else {
            return Ok(Said::Impossible(ONLY_CONTENT));
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
        if continues {
            body["continue_final_message"] = true.into();
        }
        if !variables.is_empty() {
            body["chat_template_kwargs"] = variables.into();
        }
        match self.client.ask(APPLY, &body)? {
            Answer::Refused(words) => Ok(Said::Refused(words)),
            Answer::Json(answer) => match answer.get("prompt").and_then(Value::as_str) {
                Some(prompt) => Ok(Said::Prompt(prompt.to_owned())),
                None => Err(HttpError::unexpected(APPLY, "it has no `prompt`")),
            },
        }
    }
}
