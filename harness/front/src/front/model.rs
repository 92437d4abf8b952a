//! A model, as fronts see it: the second input of a front besides the conversation.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use rolecall_core::{Case, Dialect, OllamaSetup, Template, Variable};
use rolecall_go::endpoint::ModelTraits;

use super::clients;
use super::definition::Front;
use super::facts::TemplateFacts;
use super::template_probes::TemplateProbes;

/// What a front knows about a model. Two are equal if every front treats them alike.
#[derive(Debug, Clone)]
pub struct ModelProfile<'t> {
    pub(super) traits: ModelTraits,
    /// The template, if more than its traits matters.
    own: Option<&'t Template>,
    /// The Jinja template, in which some fronts read.
    template: Option<&'t Template>,
    facts: OnceLock<TemplateFacts>,
    probes: OnceLock<Arc<TemplateProbes>>,
}

impl<'t> ModelProfile<'t> {
    /// The profile of a template's model.
    pub fn of(template: &'t Template) -> ModelProfile<'t> {
        if template.dialect == Dialect::Jinja {
            return ModelProfile {
                template: Some(template),
                ..ModelProfile::able()
            };
        }
        let setup = &template.setup;
        let has_own =
            setup.system.is_some() || !setup.messages.is_empty() || !template.variables.is_empty();
        ModelProfile {
            traits: ModelTraits::of(template),
            own: has_own.then_some(template),
            template: None,
            probes: OnceLock::new(),
            facts: OnceLock::new(),
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
            template: None,
            facts: OnceLock::new(),
            probes: OnceLock::new(),
        }
    }

    /// A case as clients of OpenAI's endpoint send it to a served application. They send the
    /// variables of the template, too, and make one of the tools themselves.
    pub(super) fn written(&self, case: &Case) -> Case {
        let mut case = clients::write_openai(case.clone());
        let variables = self
            .template
            .map_or(&[][..], |template| &template.variables);
        for (name, variable) in variables {
            let value = match (variable, &case.tools) {
                (Variable::Value(value), _) => value.clone(),
                (Variable::ToolsJson { indent }, Some(tools)) => {
                    rolecall_jinja::tools_json(tools, *indent).into()
                }
                (Variable::ToolsJson { .. }, None) => continue,
            };
            case.variables.entry(name).or_insert(value);
        }
        case
    }

    /// What a served application reads in the template that it takes for a case.
    pub(super) fn facts(&self, case: &Case, front: Front) -> TemplateFacts {
        let Some(own) = self.template else {
            return TemplateFacts::default();
        };
        match front.choose(own, case) {
            Ok(chosen) if !std::ptr::eq(chosen, own) => TemplateFacts::of(&chosen.source),
            _ => *self.facts.get_or_init(|| TemplateFacts::of(&own.source)),
        }
    }

    /// What a served application finds out by rendering the template, if it does that.
    pub(super) fn probes(&self, front: Front) -> Option<Arc<TemplateProbes>> {
        let probes = self.template.filter(|_| front.is_probed());
        let of = |template| Arc::new(TemplateProbes::render(template));
        probes.map(|template| Arc::clone(self.probes.get_or_init(|| of(template))))
    }

    /// The part of the profile that can affect a case with a front.
    #[must_use]
    pub fn with(&self, case: &Case, front: Front) -> ModelProfile<'t> {
        if front.is_served() {
            return ModelProfile {
                facts: OnceLock::from(self.facts(case, front)),
                probes: self.probes(front).map(OnceLock::from).unwrap_or_default(),
                ..self.clone()
            };
        }
        let mut own = ModelProfile {
            facts: OnceLock::new(),
            probes: OnceLock::new(),
            ..self.clone()
        };
        own.narrow(case);
        own
    }

    fn narrow(&mut self, case: &Case) {
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
    }

    /// Its traits, if nothing else matters to a front.
    pub fn only_traits(&self, front: Front) -> Option<ModelTraits> {
        (self.own.is_none() && !front.is_served()).then_some(self.traits)
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

    /// The variables that clients of the model send to a served application.
    fn sent(&self) -> Option<&[(String, Variable)]> {
        let template = self.template.filter(|_| self.facts.get().is_some());
        template.map(|template| template.variables.as_slice())
    }
}

impl PartialEq for ModelProfile<'_> {
    fn eq(&self, other: &ModelProfile<'_>) -> bool {
        let own = |one: &ModelProfile<'_>| one.own.map(std::ptr::from_ref);
        self.traits == other.traits
            && own(self) == own(other)
            && self.facts.get() == other.facts.get()
            && self.sent() == other.sent()
            && self.probes.get() == other.probes.get()
    }
}

impl Eq for ModelProfile<'_> {}

impl Hash for ModelProfile<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.traits.hash(state);
    }
}
