//! Fronts. A front is an application's work around a template: it prepares the conversation and
//! finishes the prompt.
//!
//! People do not call templates; applications do, and each prepares the conversation in its own
//! way. Each front has a file here that defines it and names the application's version with its
//! rules. A new front also needs a line in the list of `definition`; the compiler asks for the
//! rest.

mod families;

mod template_probes;

mod continuation;
mod preparation;

mod facts;

mod change;

mod definition;

mod chat;

mod named;

mod raw;

mod transformers;

mod processor;

mod clients;

mod model;

mod ollama;

mod schema;

mod vllm;

mod sglang;

mod llama_server;

mod mlx_lm;

mod unknown;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use rolecall_core::{Case, Dialect, Outcome, Template};
use rolecall_go::endpoint::{Endpoint, keeps_tools};
use serde::{Serialize, Serializer};
use serde_json::Value;

pub use change::{Change, ChangeKind, Source};
pub use definition::Front;
pub use model::ModelProfile;
pub use preparation::Preparation;
pub use unknown::UnknownFront;

use change::ServedRules;
use definition::{FrontDefinition, PreparationRules};

impl Front {
    fn definition(self) -> &'static FrontDefinition {
        match self {
            Front::Raw => &raw::FRONT,
            Front::Transformers => &transformers::FRONT,
            Front::TransformersProcessor => &processor::FRONT,
            Front::Ollama => &ollama::NATIVE,
            Front::OllamaOpenAi => &ollama::OPENAI,
            Front::Vllm => &vllm::FRONT,
            Front::SgLang => &sglang::FRONT,
            Front::LlamaServer => &llama_server::FRONT,
            Front::MlxLm => &mlx_lm::FRONT,
            Front::Unknown => &unknown::FRONT,
        }
    }

    /// Its name, which `--front` takes.
    pub fn name(self) -> &'static str {
        self.definition().name
    }

    /// What it is, in a line.
    pub fn description(self) -> &'static str {
        self.definition().description
    }

    /// Whether the application has templates of a dialect.
    pub fn is_for(self, dialect: Dialect) -> bool {
        let own = self.definition().dialect;
        own.is_none_or(|own| own == dialect)
    }

    /// The front with this name, or [`Front::Unknown`].
    pub fn named(name: &str) -> Front {
        name.parse().unwrap_or(Front::Unknown)
    }

    /// The front of a template's users. The sidecar or the model's folder names it; otherwise it is
    /// the default front of the dialect.
    pub fn of(template: &Template) -> Front {
        let named = template.front.as_deref().map(Front::named);
        named.unwrap_or_else(|| Front::default_of(template.dialect))
    }

    /// The front of most users of a dialect's templates.
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

    /// Whether it prepares a conversation message by message, whether an answer is to be opened or not.
    /// The method of transformers does: it drops null fields and fills the names of reasoning.
    pub(crate) fn prepares_each_message_alone(self) -> bool {
        matches!(
            self.definition().preparation,
            PreparationRules::Method { .. }
        )
    }

    /// Picks one of the model's templates for a conversation, or returns the application's refusal.
    pub fn choose<'t>(self, template: &'t Template, case: &Case) -> Result<&'t Template, Outcome> {
        (self.definition().choose)(template, case).map_err(preparation::refusal)
    }

    /// Whether [`Front::choose`] picks another template than this one.
    pub fn chooses_other(self, template: &Template, case: &Case) -> bool {
        !matches!(self.choose(template, case), Ok(chosen) if std::ptr::eq(chosen, template))
    }

    /// The other template that [`Front::choose`] may pick.
    pub fn alternative(self, template: &Template) -> Option<&Template> {
        (self.definition().alternative)(template)
    }

    /// Whether this front and another one of the same dialect may treat a case differently: they
    /// give the model's templates different input, or only one of them refuses.
    pub fn differs(self, other: Front, case: &Case, model: &ModelProfile<'_>) -> bool {
        if self == other {
            return false;
        }
        let endpoints = [self.endpoint(), other.endpoint()];
        if endpoints != [None, None] {
            let [one, other] = endpoints.map(|endpoint| ollama::handed(case, endpoint, model));
            return one != other;
        }
        if self.is_served() || other.is_served() {
            let [one, other] = [self, other].map(|front| front.prepare(case, model));
            return !one.is_same(&other, case);
        }
        self.may_change(case) || other.may_change(case)
    }

    /// Whether it is an application that serves templates of transformers to clients of OpenAI.
    pub fn is_served(self) -> bool {
        self.served().is_some()
    }

    /// Whether it finds out about a template by rendering it.
    pub(super) fn is_probed(self) -> bool {
        self.served().is_some_and(|rules| rules.probes)
    }

    /// The changes that the application may make to a request, in order. Empty if its front is no list
    /// of changes.
    pub fn all_changes(self) -> &'static [Change] {
        self.served().map_or(&[], |rules| rules.changes)
    }

    /// The changes that take effect on a case. If the application refuses the case, the last one is
    /// the reason, unless transformers or the template refuses.
    pub fn changes(self, case: &Case, model: &ModelProfile<'_>) -> Vec<&'static Change> {
        let rules = self.served();
        rules.map_or_else(Vec::new, |rules| {
            let facts = model.facts(case, self);
            rules.taking_effect(model.written(case), facts, model.probes(self))
        })
    }

    fn served(self) -> Option<&'static ServedRules> {
        match &self.definition().preparation {
            PreparationRules::Changes(rules) => Some(rules),
            _ => None,
        }
    }

    /// The fronts whose version of a case the suite must also hold, for every model: they hand on
    /// other messages or tools.
    ///
    /// A template alone cannot continue a message. And a property that a server derives from a
    /// model, such as thinking by default, is no reason to hold each of its cases twice.
    pub fn compared_fronts(self, case: &Case) -> Vec<Front> {
        let others = self.definition().others.iter().copied();
        let model = ModelProfile::able();
        let Some(endpoint) = self.endpoint() else {
            let mut case = Cow::Borrowed(case);
            if case.continue_final_message.is_some() {
                case.to_mut().continue_final_message = None;
            }
            return others
                .filter(|front| self.differs(*front, &case, &model))
                .collect();
        };
        if clients::is_plain(case) {
            return Vec::new();
        }
        let mut variables = case.variables.clone();
        let is_unsaid = |name: &&str| variables.get(*name).is_none_or(Value::is_null);
        if clients::THINKING.iter().all(is_unsaid) {
            variables.insert(clients::THINKING[0].to_owned(), false.into());
        }
        // Tools that all of them hand on alike make no difference, and are most of a case.
        let tools = case.tools.as_ref();
        let tools = tools.filter(|tools| !keeps_tools(tools)).cloned();
        let case = case.saying(case.messages.clone(), tools, variables);
        let own = ollama::handed(&case, Some(endpoint), &model);
        others
            .filter(|front| ollama::handed(&case, front.endpoint(), &model) != own)
            .collect()
    }

    /// Prepares a case for a template of a model.
    pub fn prepare(self, case: &Case, model: &ModelProfile<'_>) -> Preparation {
        match &self.definition().preparation {
            PreparationRules::Method { prepare, .. } => prepare(case),
            PreparationRules::Endpoint(endpoint) => ollama::prepare(case, *endpoint, model),
            PreparationRules::Changes(_) => self.prepare_without(case, model, None),
        }
    }

    /// Prepares a case as if the application did not make one of its changes.
    pub(crate) fn prepare_without(
        self,
        case: &Case,
        model: &ModelProfile<'_>,
        change: Option<&Change>,
    ) -> Preparation {
        match self.served() {
            Some(rules) => {
                let facts = model.facts(case, self);
                rules.prepare(model.written(case), facts, model.probes(self), change)
            }
            None => self.prepare(case, model),
        }
    }

    /// Whether a method may give users another outcome for a case than the template alone.
    fn may_change(self, case: &Case) -> bool {
        match self.definition().preparation {
            PreparationRules::Method { changes, .. } => changes(case),
            PreparationRules::Endpoint(_) | PreparationRules::Changes(_) => false,
        }
    }

    /// The endpoint of Ollama, if the front is one.
    fn endpoint(self) -> Option<Endpoint> {
        match self.definition().preparation {
            PreparationRules::Endpoint(endpoint) => Some(endpoint),
            _ => None,
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
