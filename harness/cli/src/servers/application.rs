//! How to ask one kind of server, and how to read its answers.

use rolecall_core::{Answer, Dialect, ReadOutcome, Template};
use rolecall_front::front::Front;
use serde_json::{Map, Value, json};

use super::api::ApiError;

/// A server of one kind, with a model.
pub(super) trait Application: Send + Sync {
    fn name(&self) -> &'static str;

    /// Its version, as it says itself.
    fn version(&self) -> &str;

    /// The dialect of its templates. For most kinds it is Jinja.
    fn dialect(&self) -> Dialect {
        Dialect::Jinja
    }

    /// The fronts that it implements. For most kinds they are those of transformers.
    fn fronts(&self) -> &'static [Front] {
        &[Front::Transformers, Front::TransformersProcessor]
    }

    fn served(&self) -> &Served;

    /// The text that its tokenizer puts before every prompt. The server removes it if the
    /// template writes it, too.
    fn before_prompts(&self) -> Option<&str> {
        None
    }

    fn prompt(&self, asked: &PromptRequest<'_>) -> Result<PromptAnswer, ApiError>;

    /// Whether it has a request for parsing an answer.
    fn reads_answers(&self) -> bool {
        false
    }

    /// Parses an answer, in a conversation with these variables.
    fn read(&self, _: &Answer<'_>, _: &Map<String, Value>) -> Result<ReadOutcome, ApiError> {
        Ok(ReadOutcome::Unsupported {
            message: format!("{} parses no answers of others", self.name()),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Served {
    Source(String),
    Any,
    /// It does not say.
    Unknown,
}

pub(super) struct PromptRequest<'a> {
    pub(super) template: &'a Template,
    /// The front to apply, if there is one.
    pub(super) front: Option<Front>,
    /// The conversation, with the keys of the engine protocol.
    pub(super) request: Map<String, Value>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum PromptAnswer {
    Prompt(String),
    /// The server refuses the conversation, with this message.
    Refused(String),
    /// The server has no request for this, and why.
    Impossible(&'static str),
}

impl PromptRequest<'_> {
    /// A part of the request; none if it is null.
    pub(super) fn part(&self, name: &str) -> Option<Value> {
        self.request
            .get(name)
            .filter(|part| !part.is_null())
            .cloned()
    }

    /// Whether the prompt should end with the opening of the assistant's turn.
    pub(super) fn opens_turn(&self) -> bool {
        self.request.get("add_generation_prompt") != Some(&Value::Bool(false))
    }

    pub(super) fn variables(&self) -> Map<String, Value> {
        let variables = self.request.get("variables").and_then(Value::as_object);
        variables.cloned().unwrap_or_default()
    }

    /// What clients of OpenAI's API send besides the options of a server: the conversation, and the
    /// variables as `chat_template_kwargs`, but for two that are fields of a request.
    pub(super) fn body(&self, model: &str, mut variables: Map<String, Value>) -> Value {
        let mut body = json!({"model": model, "messages": self.part("messages")});
        for name in ["tools", "documents"] {
            if let Some(part) = self.part(name) {
                body[name] = part;
            }
        }
        for name in ["reasoning_effort", "tool_choice"] {
            if let Some(value) = variables.shift_remove(name) {
                body[name] = value;
            }
        }
        if !variables.is_empty() {
            body["chat_template_kwargs"] = variables.into();
        }
        body
    }

    /// What a request says about continuing the last message: whether the model should. The name of
    /// another field than the content is for fronts that know what the server says to it; otherwise
    /// there is none.
    pub(super) fn continues(&self) -> Option<Value> {
        match self.request.get("continue_final_message") {
            None => Some(false.into()),
            Some(field) if field == "content" => Some(true.into()),
            Some(field) => self.front?.is_served().then(|| field.clone()),
        }
    }
}

/// Why a server cannot continue another field.
pub(super) const ONLY_CONTENT: &str = "servers can continue only the content of a message";
