//! Fronts: what an application does to a conversation before a template sees it, and to the
//! prompt after.
//!
//! People do not call templates, applications do, and each prepares the conversation in its
//! own way. A front is that part of one application. Each has a file here, which says in
//! which version of the application its rules were read.

mod continuation;
mod model;

mod prepared;

mod chat;

mod named;

mod transformers;

mod processor;

mod clients;

mod ollama;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use rolecall_go::endpoint::Endpoint;
use rolecall_model::{Case, Dialect, Outcome, Template};
use serde::{Serialize, Serializer};
use serde_json::Value;

pub use model::Model;
pub use prepared::Prepared;

/// An application, as far as it prepares conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Front {
    /// None: a template is given the conversation as it is written, and the prompt is what
    /// the template gave.
    Raw,
    /// `tokenizer.apply_chat_template(…, tokenize=False)` of transformers 5.23.
    Transformers,
    /// `processor.apply_chat_template(…, tokenize=False)` of transformers 5.23, for models that
    /// see or hear.
    TransformersProcessor,
    /// The endpoint `/api/chat` of Ollama 0.33.
    Ollama,
    /// The endpoint `/v1/chat/completions` of Ollama 0.33.
    OllamaOpenAi,
}

/// A name that no front has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no front is named `{0}`")]
pub struct UnknownFront(pub String);

impl Front {
    /// All fronts.
    pub const ALL: [Front; 5] = [
        Front::Raw,
        Front::Transformers,
        Front::TransformersProcessor,
        Front::Ollama,
        Front::OllamaOpenAi,
    ];

    /// Its name, which `--front` takes.
    pub fn name(self) -> &'static str {
        match self {
            Front::Raw => "raw",
            Front::Transformers => "transformers",
            Front::TransformersProcessor => "transformers-processor",
            Front::Ollama => "ollama",
            Front::OllamaOpenAi => "ollama-openai",
        }
    }

    /// What it is, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Front::Raw => "nothing: templates see conversations as they are written",
            Front::Transformers => {
                "tokenizer.apply_chat_template(…, tokenize=False) of transformers 5.23"
            }
            Front::TransformersProcessor => {
                "processor.apply_chat_template(…, tokenize=False) of transformers 5.23"
            }
            Front::Ollama => "/api/chat of Ollama 0.33",
            Front::OllamaOpenAi => "/v1/chat/completions of Ollama 0.33",
        }
    }

    /// Whether the application has templates of a dialect.
    pub fn is_for(self, dialect: Dialect) -> bool {
        match self {
            Front::Raw => true,
            Front::Transformers | Front::TransformersProcessor => dialect == Dialect::Jinja,
            Front::Ollama | Front::OllamaOpenAi => dialect == Dialect::Go,
        }
    }

    /// The front of those who use a template: what its sidecar or its model's folder says,
    /// else that of most who use templates of its dialect.
    pub fn of(template: &Template) -> Front {
        let named = template.front.as_ref().and_then(|name| name.parse().ok());
        named.unwrap_or_else(|| Front::default_of(template.dialect))
    }

    /// The front of most who use templates of a dialect.
    pub fn default_of(dialect: Dialect) -> Front {
        match dialect {
            Dialect::Jinja => Front::Transformers,
            Dialect::Go => Front::Ollama,
        }
    }

    /// The fronts of a dialect's templates.
    pub fn for_dialect(dialect: Dialect) -> impl Iterator<Item = Front> {
        let all = Front::ALL.into_iter();
        all.filter(move |front| front.is_for(dialect))
    }

    /// The fronts of which a suite holds what they make of a case beside what this one does,
    /// where that is something else.
    fn beside(self) -> &'static [Front] {
        match self {
            Front::Raw => &[],
            Front::Transformers | Front::TransformersProcessor => &[Front::Raw],
            Front::Ollama => &[Front::Raw, Front::OllamaOpenAi],
            Front::OllamaOpenAi => &[Front::Raw, Front::Ollama],
        }
    }

    /// Which template a conversation is put to, of those that the template's model has; or how
    /// the application refuses to take one.
    pub fn choose<'t>(self, template: &'t Template, case: &Case) -> Result<&'t Template, Outcome> {
        let chosen = match self {
            Front::Raw | Front::Ollama | Front::OllamaOpenAi => Ok(template),
            Front::Transformers => named::of_tokenizer(template, case),
            Front::TransformersProcessor => named::default(template),
        };
        chosen.map_err(prepared::refusal)
    }

    /// Whether [`Front::choose`] gives something else than the template itself.
    pub fn chooses_other(self, template: &Template, case: &Case) -> bool {
        !matches!(self.choose(template, case), Ok(chosen) if std::ptr::eq(chosen, template))
    }

    /// What [`Front::choose`] may give besides the template itself.
    pub fn alternative(self, template: &Template) -> Option<&Template> {
        match self {
            Front::Transformers => named::for_tools(template),
            _ => None,
        }
    }

    /// Whether the templates of a model may be given other things of a case by this front
    /// than by another of the same dialect, or users be refused by one of them alone.
    pub fn differs(self, other: Front, case: &Case, model: &Model<'_>) -> bool {
        if self == other {
            return false;
        }
        let endpoints = [self.endpoint(), other.endpoint()];
        if endpoints != [None, None] {
            let [one, other] = endpoints.map(|endpoint| ollama::handed(case, endpoint, model));
            return one != other;
        }
        let changes = |front| match front {
            Front::Transformers => transformers::METHOD.changes(case),
            Front::TransformersProcessor => processor::changes(case),
            _ => false,
        };
        changes(self) || changes(other)
    }

    /// The fronts of which is to be held what they make of a case beside what this one does,
    /// whatever the model: they hand on other messages or tools.
    ///
    /// To go on with a message cannot be asked of a template alone. And what a server makes
    /// out about a model, such as that it thinks unless it is told not to, is no reason to
    /// hold its every case twice.
    pub fn held_beside(self, case: &Case) -> Vec<Front> {
        let beside = self.beside().iter().copied();
        let model = Model::able();
        let Some(endpoint) = self.endpoint() else {
            let mut case = Cow::Borrowed(case);
            if case.continue_final_message.is_some() {
                case.to_mut().continue_final_message = None;
            }
            return beside
                .filter(|front| self.differs(*front, &case, &model))
                .collect();
        };
        if clients::is_plain(case) {
            return Vec::new();
        }
        let mut case = Cow::Borrowed(case);
        let is_unsaid = |name: &&str| case.variables.get(*name).is_none_or(Value::is_null);
        if clients::THINKING.iter().all(is_unsaid) {
            let name = clients::THINKING[0].to_owned();
            case.to_mut().variables.insert(name, false.into());
        }
        let own = ollama::handed(&case, Some(endpoint), &model);
        beside
            .filter(|front| ollama::handed(&case, front.endpoint(), &model) != own)
            .collect()
    }

    /// What it makes of a case before a template of a model sees it.
    pub fn prepare(self, case: &Case, model: &Model<'_>) -> Prepared {
        match (self, self.endpoint()) {
            (_, Some(endpoint)) => ollama::prepare(case, endpoint, model),
            (Front::Transformers, None) => transformers::METHOD.prepare(case),
            (Front::TransformersProcessor, None) => processor::prepare(case),
            (_, None) => Prepared::unchanged(),
        }
    }

    /// The endpoint of Ollama that it is.
    fn endpoint(self) -> Option<Endpoint> {
        match self {
            Front::Ollama => Some(Endpoint::Native),
            Front::OllamaOpenAi => Some(Endpoint::OpenAi),
            Front::Raw | Front::Transformers | Front::TransformersProcessor => None,
        }
    }
}

impl fmt::Display for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Front {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl FromStr for Front {
    type Err = UnknownFront;

    fn from_str(name: &str) -> Result<Front, UnknownFront> {
        Front::ALL
            .into_iter()
            .find(|front| front.name() == name)
            .ok_or_else(|| UnknownFront(name.to_owned()))
    }
}
