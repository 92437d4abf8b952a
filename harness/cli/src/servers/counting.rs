//! Servers that count the tokens of prompts.
//!
//! Every server with OpenAI's API says in `usage.prompt_tokens` of an answer how many tokens its prompt had.
//! vLLM's `/v1/chat/completions/render` and SGLang's `/v1/tokenize` give the tokens themselves, and generate
//! nothing.

use std::cell::Cell;
use std::time::Duration;

use rolecall_check::fingerprint::Answer;
use rolecall_core::Case;
use rolecall_io::protocol::ProtocolLimits;

use super::api::{Api, ApiAnswer, ApiError};
use super::chat::{self, CHAT};
use super::credentials::Credentials;
use super::sglang::TOKENIZE;
use super::vllm::RENDER;

const MODELS: &str = "/v1/models";

/// The names of the limit of what is generated: the usual one, and the one that newer models want.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// A server, with the path that it is asked.
pub struct CountingServer {
    api: Api,
    path: &'static str,
    max_tokens: u16,
    /// The name that this number has: one of [`LIMITS`].
    limit: Cell<usize>,
}

/// Why a server has counted nothing.
pub struct NoCount {
    pub why: String,
    /// After so long it may count if it is asked again.
    pub pause: Option<Duration>,
}

impl From<ApiError> for NoCount {
    fn from(error: ApiError) -> NoCount {
        let why = error.to_string();
        match error {
            ApiError::NotReady { pause, .. } => NoCount { why, pause },
            _ => NoCount { why, pause: None },
        }
    }
}

impl CountingServer {
    /// The server at `URL`, or `vllm=URL` and `sglang=URL` for their paths that only render. It generates at
    /// most so many tokens for each request. Nothing is sent yet. The error says what is wrong with the text.
    pub fn new(
        text: &str,
        limits: &ProtocolLimits,
        max_tokens: u16,
    ) -> Result<CountingServer, String> {
        let (path, address) = match text.split_once('=') {
            Some(("vllm", address)) => (RENDER, address),
            Some(("sglang", address)) => (TOKENIZE, address),
            _ => (CHAT, text),
        };
        let api = Api::new(address, limits, Credentials::FromEnvironment)?;
        Ok(CountingServer {
            api,
            path,
            max_tokens,
            limit: Cell::new(0),
        })
    }

    /// Its address, without a password.
    pub fn address(&self) -> String {
        self.api.address()
    }

    /// The path that each request is for.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// Whether it generates a token for each request.
    pub fn generates(&self) -> bool {
        self.path == CHAT
    }

    /// Whether it gets the key in `ROLECALL_API_KEY`.
    pub fn has_key(&self) -> bool {
        self.api.has_key()
    }

    /// The only model that it has. The error says why it is not known.
    pub fn only_model(&self) -> Result<String, String> {
        let models = self.api.get(MODELS).and_then(|answer| answer.json(MODELS));
        let models = models.map_err(|error| format!("{error}\n  name its model with --model"))?;
        let models = models["data"].as_array().into_iter().flatten();
        let names: Vec<&str> = models.filter_map(|one| one["id"].as_str()).collect();
        match names.as_slice() {
            [one] => Ok((*one).to_owned()),
            [] => Err("it names no model\n  name one with --model".to_owned()),
            many => Err(format!(
                "it has {} models\n  name one with --model, such as `{}`",
                many.len(),
                many[0]
            )),
        }
    }

    /// How many tokens it makes of a conversation. The error says why it does not tell.
    pub fn count(&self, model: &str, case: &Case) -> Result<Answer, NoCount> {
        let mut body = chat::conversation(case, &case.messages, case.variables.clone());
        body["model"] = model.into();
        body[LIMITS[self.limit.get()]] = self.max_tokens.into();
        let answer = match self.api.ask_for_status(self.path, &body) {
            Ok((_, ApiAnswer::Json(answer))) => answer,
            Ok((500.., ApiAnswer::Refused(words))) => return Ok(Answer::Failed(words)),
            Ok((_, ApiAnswer::Refused(why)))
                if why.contains(LIMITS[1]) && self.limit.get() == 0 =>
            {
                self.limit.set(1);
                let pause = Some(Duration::ZERO);
                return Err(NoCount { why, pause });
            }
            Ok((_, ApiAnswer::Refused(words))) => return Ok(Answer::Refused(words)),
            Err(error) => return Err(error.into()),
        };
        let count = match self.path {
            RENDER => answer["token_ids"]
                .as_array()
                .map(|tokens| tokens.len() as u64),
            TOKENIZE => answer["count"].as_u64(),
            _ => answer["usage"]["prompt_tokens"].as_u64(),
        };
        let why =
            || ApiError::unexpected(self.path, "it does not say how many tokens the prompt has");
        Ok(count.map(Answer::Counted).ok_or_else(why)?)
    }
}
