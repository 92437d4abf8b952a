//! What an answer holds after it was read.

use serde_json::{Map, Value as Json, json};

/// An answer: the message that Ollama makes of the text of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The reasoning; empty without any.
    pub thinking: String,
    /// What the user reads.
    pub content: String,
    /// The calls, in the order in which the model wrote them.
    pub calls: Vec<Call>,
    /// Whether Ollama reads this text now so, now so. In an object without a name it looks for
    /// arguments among the members, in the random order of a Go map. Here the first member counts.
    pub varies: bool,
}

/// A call of a tool, as Ollama's API returns it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its number in the answer, from 0.
    pub index: usize,
    /// The name of the called tool, which is one of those in the request.
    pub name: String,
    /// The arguments in the order of the text. Ollama gives them in any order. Numbers are
    /// `float64`, and written as Go writes them.
    pub arguments: Map<String, Json>,
}

/// Something that Ollama sends to its client.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerEvent {
    /// More of the reasoning.
    Thinking(String),
    /// The next piece of the content.
    Content(String),
    /// A complete call, which Ollama sends at once.
    Call(Call),
}

impl Answer {
    pub(crate) fn add(&mut self, event: &AnswerEvent) {
        match event {
            AnswerEvent::Thinking(text) => self.thinking.push_str(text),
            AnswerEvent::Content(text) => self.content.push_str(text),
            AnswerEvent::Call(call) => self.calls.push(call.clone()),
        }
    }

    /// The message as the engine protocol has it: without empty fields.
    pub fn to_json(&self) -> Json {
        let mut message = Map::new();
        message.insert("role".to_owned(), "assistant".into());
        for (name, text) in [("content", &self.content), ("thinking", &self.thinking)] {
            if !text.is_empty() {
                message.insert(name.to_owned(), text.clone().into());
            }
        }
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(Call::to_json).collect();
            message.insert("tool_calls".to_owned(), calls);
        }
        message.into()
    }
}

impl Call {
    /// The call as a message has it.
    pub fn to_json(&self) -> Json {
        json!({"function": {
            "index": self.index, "name": self.name, "arguments": self.arguments,
        }})
    }
}

impl AnswerEvent {
    /// The event as the engine protocol has it.
    pub fn to_json(&self) -> Json {
        match self {
            AnswerEvent::Thinking(text) => json!({"thinking": text}),
            AnswerEvent::Content(text) => json!({"content": text}),
            AnswerEvent::Call(call) => json!({"call": call.to_json()}),
        }
    }
}
