//! How a probe is written where there are two forms and a template may support only one.

use rolecall_core::{Case, CaseId};
use serde::Serialize;
use serde_json::{Value, json};

use super::words;

/// How content is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// As a string.
    String,
    /// As a list of parts of type `text`.
    Parts,
}

/// How the arguments of a tool call are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Arguments {
    Object,
    /// As the JSON text of one, as OpenAI's interface has it.
    String,
}

/// What a template is given although a probe does not ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Requirement {
    /// Nothing.
    Nothing,
    /// Tools: there are templates for conversations with tools only.
    Tools,
    /// Documents: and some for conversations about documents only.
    Documents,
}

/// The way in which a template wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InputStyle {
    /// What it is given with every probe.
    pub given: Requirement,
    /// How content is written.
    pub content: Content,
    /// How arguments are written.
    pub arguments: Arguments,
    /// The text beside a call. Most calls have none, and there are templates that fail without.
    pub beside_calls: &'static str,
}

impl InputStyle {
    /// The most usual one.
    pub const PLAIN: InputStyle = InputStyle {
        given: Requirement::Nothing,
        content: Content::String,
        arguments: Arguments::Object,
        beside_calls: "",
    };

    /// A case with the tools or documents that the template requires.
    pub fn complete(self, case: Case) -> Case {
        match self.given {
            Requirement::Tools if case.tools.is_none() => with_tools(case),
            Requirement::Documents if case.documents.is_none() => with_document(case),
            _ => case,
        }
    }

    pub fn content(self, text: &str) -> Value {
        match self.content {
            Content::String => json!(text),
            Content::Parts => parts(&[text]),
        }
    }

    pub fn message(self, role: &str, text: &str) -> Value {
        json!({"role": role, "content": self.content(text)})
    }

    pub fn system(self) -> Value {
        self.message("system", words::SYSTEM)
    }

    /// The first question.
    pub fn user(self) -> Value {
        self.message("user", words::USER)
    }

    pub(crate) fn second_user(self) -> Value {
        self.message("user", words::SECOND_USER)
    }

    /// The first answer.
    pub fn assistant(self) -> Value {
        self.message("assistant", words::ASSISTANT)
    }

    pub(crate) fn second_assistant(self) -> Value {
        self.message("assistant", words::SECOND_ASSISTANT)
    }

    pub(crate) fn usual_arguments(self) -> Value {
        self.arguments(&json!({
            words::FIRST_KEY: words::FIRST_VALUE,
            words::SECOND_KEY: words::SECOND_VALUE,
        }))
    }

    pub fn arguments(self, arguments: &Value) -> Value {
        match self.arguments {
            Arguments::Object => arguments.clone(),
            Arguments::String => json!(spaced(arguments)),
        }
    }

    /// An assistant message that calls the first tool, with these arguments.
    pub(crate) fn call_with(self, arguments: &Value) -> Value {
        json!({
            "role": "assistant",
            "content": self.content(self.beside_calls),
            "tool_calls": [tool_call("callquil1", words::TOOL, arguments)],
        })
    }

    /// An assistant message that calls the first tool.
    pub fn call(self) -> Value {
        self.call_with(&self.usual_arguments())
    }

    /// What the first tool gave, with everything that a template may want to know.
    pub fn result(self) -> Value {
        json!({
            "role": "tool",
            "tool_call_id": "callquil1",
            "name": words::TOOL,
            "content": self.content(words::RESULT),
        })
    }
}

pub fn parts(texts: &[&str]) -> Value {
    texts
        .iter()
        .map(|text| json!({"type": "text", "text": text}))
        .collect()
}

/// A tool call; its ID has the nine letters and digits that some templates insist on.
pub fn tool_call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    })
}

/// A tool with two string parameters.
pub fn tool(name: &str) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": name,
            "description": words::TOOL_ABOUT,
            "parameters": {
                "type": "object",
                "properties": {
                    words::FIRST_KEY: {"type": "string", "description": "the first"},
                    words::SECOND_KEY: {"type": "string", "description": "the second"},
                },
                "required": [words::FIRST_KEY, words::SECOND_KEY],
            },
        },
    })
}

/// JSON text as Python's `json.dumps` writes it: a space after every colon and comma.
pub fn spaced(json: &Value) -> String {
    match json {
        Value::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), spaced(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(spaced).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// A case with these messages that does not ask for an answer.
pub fn closed(messages: Vec<Value>) -> Case {
    Case {
        add_generation_prompt: false,
        ..open(messages)
    }
}

/// A case with these messages that asks for an answer.
pub fn open(messages: Vec<Value>) -> Case {
    Case {
        id: CaseId::new("probe", "probe"),
        ..Case::from_messages(messages)
    }
}

/// A case that offers both tools as well.
pub fn with_tools(case: Case) -> Case {
    Case {
        tools: Some(vec![tool(words::TOOL), tool(words::SECOND_TOOL)]),
        ..case
    }
}

/// A case with a document as well.
pub(crate) fn with_document(case: Case) -> Case {
    Case {
        documents: Some(vec![json!({
            "title": "a title",
            "text": words::DOCUMENT,
            "content": words::DOCUMENT,
        })]),
        ..case
    }
}
