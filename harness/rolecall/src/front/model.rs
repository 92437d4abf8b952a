//! What fronts go by beside a conversation: the model whose template it is for.

use std::hash::{Hash, Hasher};

use rolecall_go::endpoint::Traits;
use rolecall_model::{Case, Dialect, Setup, Template, Variable};

/// What a front knows of a model. Two are equal if no front tells them apart.
#[derive(Debug, Clone, Copy)]
pub struct Model<'t> {
    pub(super) traits: Traits,
    /// The template, where more of it counts than its traits.
    own: Option<&'t Template>,
}

impl<'t> Model<'t> {
    /// The model of a template.
    pub fn of(template: &'t Template) -> Model<'t> {
        if template.dialect == Dialect::Jinja {
            return Model::able();
        }
        let setup = &template.setup;
        let has_own =
            setup.system.is_some() || !setup.messages.is_empty() || !template.variables.is_empty();
        Model {
            traits: Traits::of(template),
            own: has_own.then_some(template),
        }
    }

    /// A model that can do what it is asked for, and is left alone.
    pub fn able() -> Model<'static> {
        Model {
            traits: Traits {
                tools: true,
                thinking: true,
                ..Traits::default()
            },
            own: None,
        }
    }

    /// As much of it as can make a difference to a case.
    #[must_use]
    pub fn with(mut self, case: &Case) -> Model<'t> {
        let has_tools = case.tools.as_ref().is_some_and(|tools| !tools.is_empty());
        let traits = &mut self.traits;
        traits.tools |= !has_tools;
        traits.renames_tools &= has_tools;
        traits.thinks_highly_at_most &= !case.variables.is_empty() || self.own.is_some();
        let has_thoughts = |message: &serde_json::Value| {
            let content = message.get("content").and_then(|content| content.as_str());
            content.is_none_or(|content| content.contains('<') || content.trim().is_empty())
        };
        traits.drops_thoughts =
            traits.drops_thoughts && (self.own.is_some() || case.messages.iter().any(has_thoughts));
        self
    }

    /// Its traits, where nothing else of it counts.
    pub(crate) fn traits_alone(&self) -> Option<Traits> {
        self.own.is_none().then_some(self.traits)
    }

    /// The template's own variables.
    pub(super) fn variables(&self) -> &[(String, Variable)] {
        self.own.map_or(&[], |template| &template.variables)
    }

    /// What a server knows of the model beside its template.
    pub(super) fn setup(&self) -> &'t Setup {
        static NOTHING: Setup = Setup {
            model: None,
            family: None,
            parser: None,
            system: None,
            messages: Vec::new(),
        };
        self.own.map_or(&NOTHING, |template| &template.setup)
    }

    fn key(&self) -> (Traits, Option<*const Template>) {
        (self.traits, self.own.map(std::ptr::from_ref))
    }
}

impl PartialEq for Model<'_> {
    fn eq(&self, other: &Model<'_>) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Model<'_> {}

impl Hash for Model<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
