//! A model, as fronts see it: the second input of a front besides the conversation.

use std::hash::{Hash, Hasher};

use rolecall_core::{Case, Dialect, OllamaSetup, Template, Variable};
use rolecall_go::endpoint::ModelTraits;

/// What a front knows about a model. Two are equal if every front treats them alike.
#[derive(Debug, Clone, Copy)]
pub struct ModelProfile<'t> {
    pub(super) traits: ModelTraits,
    /// The template, if more than its traits matters.
    own: Option<&'t Template>,
}

impl<'t> ModelProfile<'t> {
    /// The profile of a template's model.
    pub fn of(template: &'t Template) -> ModelProfile<'t> {
        if template.dialect == Dialect::Jinja {
            return ModelProfile::able();
        }
        let setup = &template.setup;
        let has_own =
            setup.system.is_some() || !setup.messages.is_empty() || !template.variables.is_empty();
        ModelProfile {
            traits: ModelTraits::of(template),
            own: has_own.then_some(template),
        }
    }

    /// A model that can do everything, and for which a server changes nothing.
    pub fn able() -> ModelProfile<'static> {
        ModelProfile {
            traits: ModelTraits {
                tools: true,
                thinking: true,
                ..ModelTraits::default()
            },
            own: None,
        }
    }

    /// The part of the profile that can affect a case.
    #[must_use]
    pub fn with(mut self, case: &Case) -> ModelProfile<'t> {
        let has_tools = case.tools.as_ref().is_some_and(|tools| !tools.is_empty());
        let traits = &mut self.traits;
        traits.tools |= !has_tools;
        traits.renames_tools &= has_tools;
        traits.thinks_highly_at_most &= !case.variables.is_empty() || self.own.is_some();
        let has_reasoning = |message: &serde_json::Value| {
            let content = message.get("content").and_then(|content| content.as_str());
            content.is_none_or(|content| content.contains('<') || content.trim().is_empty())
        };
        traits.drops_reasoning = traits.drops_reasoning
            && (self.own.is_some() || case.messages.iter().any(has_reasoning));
        self
    }

    /// Its traits, if nothing else matters.
    pub fn only_traits(&self) -> Option<ModelTraits> {
        self.own.is_none().then_some(self.traits)
    }

    /// The template's own variables.
    pub(super) fn variables(&self) -> &[(String, Variable)] {
        self.own.map_or(&[], |template| &template.variables)
    }

    /// What a server knows about the model besides its template.
    pub(super) fn setup(&self) -> &'t OllamaSetup {
        static NOTHING: OllamaSetup = OllamaSetup {
            model: None,
            family: None,
            parser: None,
            system: None,
            messages: Vec::new(),
            stops: Vec::new(),
        };
        self.own.map_or(&NOTHING, |template| &template.setup)
    }

    fn key(&self) -> (ModelTraits, Option<*const Template>) {
        (self.traits, self.own.map(std::ptr::from_ref))
    }
}

impl PartialEq for ModelProfile<'_> {
    fn eq(&self, other: &ModelProfile<'_>) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ModelProfile<'_> {}

impl Hash for ModelProfile<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
