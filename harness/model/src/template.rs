//! Templates: a source, its dialect, and what goes with it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The language that a template is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// Jinja, as Hugging Face transformers runs it.
    Jinja,
    /// Go's `text/template`, as Ollama runs it.
    Go,
}

/// A template's name: its file's name without the extension, or the name of its model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TemplateName(Arc<str>);

/// A chat template.
#[derive(Debug, Clone)]
pub struct Template {
    /// Its name.
    pub name: TemplateName,
    /// The file it stands in; empty where it was not read from one.
    pub path: PathBuf,
    /// Which part of that file it is.
    pub part: Part,
    /// The language it is written in.
    pub dialect: Dialect,
    /// The source, byte for byte: line endings are as in the file.
    pub source: String,
    /// What it is, in a sentence.
    pub about: Option<String>,
    /// Where it came from, and its licence.
    pub origin: Option<String>,
    /// What it shares with its twins: templates that are meant to give the same prompts.
    pub family: Option<String>,
    /// `bos_token` and its kin, as the tokenizer would pass them.
    pub special_tokens: Map<String, Value>,
    /// The files of its model that say how text is cut into tokens: `tokenizer.json` and what
    /// stands beside it, or a GGUF file. None where its model has none, or is not known.
    pub vocabulary: Vec<PathBuf>,
    /// Variables that this template reads besides the standard ones.
    pub variables: Vec<(String, Variable)>,
    /// What the application of its users does before it and after: the name of a front. That
    /// of most who have templates of its dialect where there is none.
    pub front: Option<String>,
    /// The templates of its model by name, where that has several and this one stands for all
    /// of them: an application takes one for each conversation. The source of this one is that
    /// of `default`, where there is such a one. None of a template that stands for itself.
    pub named: Vec<(String, Template)>,
    /// Contracts that this template breaks on purpose, each with the reason.
    pub broken: Vec<(String, String)>,
    /// What a server of Ollama knows of its model.
    pub setup: Setup,
}

/// What a server of Ollama knows of the model that a template belongs to, and goes by before
/// the template is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Setup {
    /// The model's name, without registry, owner and tag, such as `deepseek-r1`.
    pub model: Option<String>,
    /// The family of its architecture, such as `qwen3`.
    pub family: Option<String>,
    /// The built-in parser of its answers: `PARSER` of a Modelfile.
    pub parser: Option<String>,
    /// The system text of conversations that bring none: `SYSTEM` of a Modelfile.
    pub system: Option<String>,
    /// Role and text of messages that stand before each conversation: `MESSAGE` of a
    /// Modelfile.
    pub messages: Vec<(String, String)>,
}

/// Which part of its file a template is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// The value of a key, in JSON or GGUF.
    Key(String),
    /// What begins in this line, counted from 1, in a Modelfile.
    Line(usize),
}

/// The value of a template's own variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Variable {
    /// The same for every case.
    Value(Value),
    /// The JSON text of the case's tools; absent when the case has none.
    ToolsJson {
        /// Spaces a level, or everything on one line.
        indent: Option<usize>,
    },
}

impl Dialect {
    /// Both dialects.
    pub const ALL: [Dialect; 2] = [Dialect::Jinja, Dialect::Go];

    /// The word for it in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Jinja => "jinja",
            Dialect::Go => "go",
        }
    }
}

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl TemplateName {
    /// A name as it is. Whether it can be the name of a file is not asked.
    pub fn new(name: &str) -> TemplateName {
        TemplateName(name.into())
    }

    /// The name as text.
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
            part: Part::Whole,
            dialect,
            source: source.to_owned(),
            about: None,
            origin: None,
            family: None,
            special_tokens: Map::new(),
            vocabulary: Vec::new(),
            variables: Vec::new(),
            front: None,
            named: Vec::new(),
            broken: Vec::new(),
            setup: Setup::default(),
        }
    }

    /// The names and sources of its model's templates: see [`Template::named`].
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

impl Setup {
    /// What is known, by name.
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

impl Part {
    /// The key whose value it is.
    pub fn key(&self) -> Option<&str> {
        match self {
            Part::Key(key) => Some(key),
            Part::Whole | Part::Line(_) => None,
        }
    }
}
