//! What one kind of server has to be asked, and how its answers are read.

use rolecall_model::{Dialect, Template};
use serde_json::{Map, Value};

use super::http::HttpError;

/// A server of one kind, with a model.
pub(super) trait Application: Send + Sync {
    /// The name of its kind.
    fn name(&self) -> &'static str;

    /// Its version, as it says itself.
    fn version(&self) -> &str;

    /// The dialect of its templates: of most, Jinja.
    fn dialect(&self) -> Dialect {
        Dialect::Jinja
    }

    /// The fronts that it is: of most, what transformers does.
    fn fronts(&self) -> &'static [&'static str] {
        &["transformers", "transformers-processor"]
    }

    /// What it has for a template.
    fn served(&self) -> &Served;

    /// What its tokenizer puts before every prompt, and what it therefore takes off where the
    /// template has put it there.
    fn before_prompts(&self) -> Option<&str> {
        None
    }

    /// The prompt of a conversation.
    fn prompt(&self, asked: &Asked<'_>) -> Result<Said, HttpError>;
}

/// Which template a server has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Served {
    /// This one.
    Source(String),
    /// Any that it is sent.
    Any,
    /// It does not say.
    Unknown,
}

/// What a server is asked.
pub(super) struct Asked<'a> {
    /// The template that it is asked for.
    pub(super) template: &'a Template,
    /// The front that it shall be, if one.
    pub(super) front: Option<&'a str>,
    /// The conversation, by the names of the engine protocol.
    pub(super) request: Map<String, Value>,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A prompt.
    Prompt(String),
    /// That it refuses the conversation, in its words.
    Refused(String),
    /// That such a thing cannot be asked of it, and why.
    Impossible(&'static str),
}

impl Asked<'_> {
    /// A part of the request; nothing where it is null.
    pub(super) fn part(&self, name: &str) -> Option<Value> {
        self.request
            .get(name)
            .filter(|part| !part.is_null())
            .cloned()
    }

    /// Whether the prompt shall end with the opening of the assistant's turn.
    pub(super) fn opens_turn(&self) -> bool {
        self.request.get("add_generation_prompt") != Some(&Value::Bool(false))
    }

    /// The variables of the template.
    pub(super) fn variables(&self) -> Map<String, Value> {
        let variables = self.request.get("variables").and_then(Value::as_object);
        variables.cloned().unwrap_or_default()
    }

    /// Whether the model shall go on with the last message: none where it shall go on with
    /// another field than its content.
    pub(super) fn continues(&self) -> Option<bool> {
        match self.request.get("continue_final_message") {
            None => Some(false),
            Some(field) if field == "content" => Some(true),
            Some(_) => None,
        }
    }
}

/// Why a server cannot be asked to go on with another field.
pub(super) const ONLY_CONTENT: &str = "servers go on with the content of a message alone";
