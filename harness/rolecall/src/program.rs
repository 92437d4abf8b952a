//! A template in an engine, with the fronts that may stand before it.

use rolecall_model::guard::{Loaded, load, load_behind};
use rolecall_model::{Conversation, Engine, Outcome, Template, Tracked};

use crate::front::{Front, Model, Prepared};

/// A template in an engine, and what fronts go by.
pub(crate) struct Program<'t> {
    /// The template itself: while it is borrowed its address is its own.
    pub(crate) template: &'t Template,
    /// The engine.
    pub(crate) engine: &'t dyn Engine,
    /// What fronts know of its model.
    pub(crate) model: Model<'t>,
    loaded: Loaded,
    /// The other one of its model that its front may take.
    other: Option<(&'t Template, Loaded)>,
    /// The template behind each of the fronts that the engine has itself.
    behind: Vec<(Front, Loaded)>,
}

impl<'t> Program<'t> {
    /// Loads a template into an engine. What is wrong with it comes out with each outcome.
    pub(crate) fn load(engine: &'t dyn Engine, template: &'t Template) -> Program<'t> {
        let own = Front::of(template);
        let fronts = Front::for_dialect(template.dialect).filter(|front| *front != Front::Raw);
        let behind: Vec<_> = fronts
            .filter_map(|front| {
                let loaded = load_behind(engine, front.name(), template)?;
                Some((front, loaded))
            })
            .collect();
        // An application that is asked itself has been given all of them.
        let is_asked_itself = behind.iter().any(|(front, _)| *front == own);
        let other = own.alternative(template).filter(|_| !is_asked_itself);
        Program {
            template,
            engine,
            model: Model::of(template),
            other: other.map(|other| (other, load(engine, other))),
            behind,
            loaded: load(engine, template),
        }
    }

    /// What users of a front get of a conversation: `written` is what the application is
    /// given, `seen` what a template is.
    pub(crate) fn outcome(
        &self,
        front: Front,
        prepared: &Prepared,
        written: &Conversation<'_>,
        seen: &Conversation<'_>,
    ) -> Outcome {
        let mut behind = self.behind.iter();
        if let Some((_, loaded)) = behind.find(|(known, _)| *known == front) {
            return loaded.render(written);
        }
        let template = match front.choose(self.template, written.case()) {
            Ok(template) => template,
            Err(refusal) => return refusal,
        };
        let loaded = self.loaded_of(template);
        prepared.outcome(
            template,
            |variable| loaded.variables().contains(variable),
            || loaded.render(seen),
        )
    }

    /// What [`Program::outcome`] gives where `seen` lacks a variable that is always there. None
    /// where the engine always defines it.
    pub(crate) fn outcome_without(
        &self,
        variable: &'static str,
        front: Front,
        prepared: &Prepared,
        seen: &Conversation<'_>,
    ) -> Option<Outcome> {
        if self.behind.iter().any(|(known, _)| *known == front) {
            return None;
        }
        let template = match front.choose(self.template, seen.case()) {
            Ok(template) => template,
            Err(refusal) => return Some(refusal),
        };
        let loaded = self.loaded_of(template);
        let rendered = loaded.render_without(variable, seen)?;
        let reads = |variable: &str| loaded.variables().contains(variable);
        Some(prepared.outcome(template, reads, || rendered))
    }

    /// What [`Program::outcome`] gives, with what the template marks as the model's own text,
    /// where the prompt is what the template gave.
    pub(crate) fn tracked(&self, front: Front, seen: &Conversation<'_>) -> Option<Tracked> {
        let template = front.choose(self.template, seen.case()).ok()?;
        self.loaded_of(template).render_tracked(seen)
    }

    /// Whether the engine is an application itself, behind which templates get other things.
    pub(crate) fn has_fronts(&self) -> bool {
        !self.behind.is_empty()
    }

    /// The template alone.
    pub(crate) fn alone(&self) -> &Loaded {
        &self.loaded
    }

    /// One of the templates that the front may take.
    fn loaded_of(&self, template: &Template) -> &Loaded {
        match &self.other {
            Some((other, loaded)) if std::ptr::eq(*other, template) => loaded,
            _ => &self.loaded,
        }
    }
}
