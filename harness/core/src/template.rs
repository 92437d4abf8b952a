//! Templates: a source, its dialect, its special tokens and its variables.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::coverage::Branch;

named! {
    /// The language that a template is written in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Dialect {
        /// Jinja, as Hugging Face transformers runs it.
        Jinja = "jinja",
        /// Go's `text/template`, as Ollama runs it.
        Go = "go",
    }
}

/// A template's name: its file's name without the extension, or the name of its model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TemplateName(Arc<str>);

/// A chat template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Template {
    /// Its name.
    pub name: TemplateName,
    /// The file that holds it; empty if it does not come from a file.
    pub path: PathBuf,
    /// Which part of that file it is.
    pub part: TemplatePart,
    /// The language it is written in.
    pub dialect: Dialect,
    /// The source, byte for byte: line endings are as in the file.
    pub source: String,
    /// What it is, in a sentence.
    pub about: Option<String>,
    /// Where it came from, and its licence.
    pub origin: Option<String>,
    /// The special tokens, such as `bos_token`, as the tokenizer passes them.
    pub special_tokens: Map<String, Value>,
    /// Whether nobody sets more tokens than these: its card takes none for granted then. So it is in a
    /// suite of one's own, where the card is beside the prompts.
    #[serde(default)]
    pub has_all_tokens: bool,
    /// The model's files that say how to cut text into tokens: `tokenizer.json` and the files next
    /// to it, or a GGUF file. Empty if the model has none or is unknown.
    pub vocabulary: Vec<PathBuf>,
    /// Variables that this template reads besides the standard ones.
    pub variables: Vec<(String, Variable)>,
    /// The name of the front through which its users render it. Without one it has the default
    /// front of its dialect.
    pub front: Option<String>,
    /// The named templates of its model, if the model has several and this template represents them
    /// all. An application picks one for each conversation. The source of this template is the one
    /// named `default`, if there is one. Empty for a template on its own.
    pub named: Vec<(String, Template)>,
    /// Contracts that this template breaks on purpose, each with the reason.
    pub broken: Vec<(String, String)>,
    /// Branches of this template that no conversation can take, each with the reason.
    pub unreached: Vec<Unreached>,
    /// What an Ollama server knows about its model.
    pub setup: OllamaSetup,
    /// How to read the model's answers: the `response_template` of transformers 5.13 and later, as
    /// it is written. Nothing has checked it.
    pub response_template: Option<Value>,
}

/// A branch through a template that no conversation can take, as somebody has explained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreached {
    /// The text of the place, with one space for each run of white space.
    pub place: String,
    /// Which way through the place nobody can take.
    pub branch: Branch,
    /// Why nobody can take it, in words for people.
    pub why: String,
}

/// What an Ollama server knows about a template's model. The server uses it before it executes the
/// template.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OllamaSetup {
    /// The model's name, without registry, owner and tag, such as `deepseek-r1`.
    pub model: Option<String>,
    /// The family of its architecture, such as `qwen3`.
    pub family: Option<String>,
    /// The built-in parser of its answers: `PARSER` in a Modelfile.
    pub parser: Option<String>,
    /// The system text of conversations without one: `SYSTEM` in a Modelfile.
    pub system: Option<String>,
    /// Role and text of the messages before each conversation: `MESSAGE` in a Modelfile.
    pub messages: Vec<(String, String)>,
    /// The texts at which it ends an answer: `PARAMETER stop` in a Modelfile. They change no prompt.
    pub stops: Vec<String>,
}

/// Which part of its file a template is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplatePart {
    /// The whole text of the template.
    Whole,
    /// The value of a key, in JSON or GGUF.
    Key(String),
    /// The part of a Modelfile that begins in this line, counted from 1.
    Line(usize),
}

/// The value of a template's own variable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Variable {
    /// The same for every case.
    Value(Value),
    /// The JSON text of the case's tools; absent when the case has none.
    ToolsJson {
        /// Spaces for each level; none puts everything on one line.
        indent: Option<usize>,
    },
}

written_as_text! {
    Dialect = "a dialect", Dialect::named;
    TemplateName = "a template", |text| Some(TemplateName::new(text));
}

impl TemplateName {
    /// Takes a name as it is. It does not check whether a file can have this name.
    pub fn new(name: &str) -> TemplateName {
        TemplateName(name.into())
    }

    /// The name as it is written in filters and reports.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TemplateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Template {
    /// A template that is not in a file, without special tokens and variables.
    pub fn from_source(name: &str, dialect: Dialect, source: &str) -> Template {
        Template {
            name: TemplateName::new(name),
            path: PathBuf::new(),
            part: TemplatePart::Whole,
            dialect,
            source: source.to_owned(),
            about: None,
            origin: None,
            special_tokens: Map::new(),
            has_all_tokens: false,
            vocabulary: Vec::new(),
            variables: Vec::new(),
            front: None,
            named: Vec::new(),
            broken: Vec::new(),
            unreached: Vec::new(),
            setup: OllamaSetup::default(),
            response_template: None,
        }
    }

    /// The names and sources of the model's templates: see [`Template::named`].
    pub fn sources_by_name(&self) -> impl Iterator<Item = (&str, &str)> {
        let named = self.named.iter();
        named.map(|(name, template)| (name.as_str(), template.source.as_str()))
    }

    /// Sets one of the tokenizer's special tokens, such as `eos_token`.
    #[must_use]
    pub fn with_special_token(mut self, name: &str, token: &str) -> Template {
        self.special_tokens.insert(name.to_owned(), token.into());
        self
    }
}

impl OllamaSetup {
    /// The known settings, by name.
    pub fn to_json(&self) -> Map<String, Value> {
        let texts = [
            ("model", &self.model),
            ("family", &self.family),
            ("parser", &self.parser),
            ("system", &self.system),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(name, text)| Some((name, Value::from(text.clone()?))));
        let message = |(role, content): &(String, String)| {
            let fields = [("role", role), ("content", content)];
            let fields = fields.map(|(name, text)| (name.to_owned(), text.as_str().into()));
            Value::Object(fields.into_iter().collect())
        };
        let messages = self.messages.iter().map(message).collect();
        let messages = (!self.messages.is_empty()).then_some(("messages", messages));
        let known = texts.chain(messages);
        known
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

impl TemplatePart {
    /// The key whose value is the template.
    pub fn key(&self) -> Option<&str> {
        match self {
            TemplatePart::Key(key) => Some(key),
            TemplatePart::Whole | TemplatePart::Line(_) => None,
        }
    }
}
