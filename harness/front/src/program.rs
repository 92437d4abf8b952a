//! A template in an engine, with the fronts that may stand before it.

use std::ops::Range;

use rolecall_model::guard::{LoadedTemplate, load, load_behind};
use rolecall_model::{Engine, Hits, OmittedVariable, Outcome, OwnText, Template};

use crate::front::{Front, ModelProfile};
use crate::prepared_case::PreparedCase;

/// A template in an engine, and its model as fronts see it.
pub struct FrontProgram<'t> {
    /// The template itself. No other template has its address during the borrow.
    pub template: &'t Template,
    /// The engine.
    pub engine: &'t dyn Engine,
    /// What fronts know about its model.
    pub model: ModelProfile<'t>,
    loaded: LoadedTemplate,
    /// The other template of the model that its front may pick.
    other: Option<(&'t Template, LoadedTemplate)>,
    /// The template behind each front that the engine has itself.
    behind: Vec<(Front, LoadedTemplate)>,
}

impl<'t> FrontProgram<'t> {
    /// Loads a template into an engine. If the engine refuses it, every outcome says so.
    pub fn load(engine: &'t dyn Engine, template: &'t Template) -> FrontProgram<'t> {
        let own = Front::of(template);
        let fronts = Front::for_dialect(template.dialect).filter(|front| *front != Front::Raw);
        let behind: Vec<_> = fronts
            .filter_map(|front| {
                let loaded = load_behind(engine, front.name(), template)?;
                Some((front, loaded))
            })
            .collect();
        // An engine that is the application itself has received all templates.
        let is_asked_itself = behind.iter().any(|(front, _)| *front == own);
        let other = own.alternative(template).filter(|_| !is_asked_itself);
        FrontProgram {
            template,
            engine,
            model: ModelProfile::of(template),
            other: other.map(|other| (other, load(engine, other))),
            behind,
            loaded: load(engine, template),
        }
    }

    /// The outcome of a case for users of its front.
    pub fn outcome(&self, input: &PreparedCase<'_>) -> Outcome {
        let mut behind = self.behind.iter();
        if let Some((_, loaded)) = behind.find(|(known, _)| *known == input.front) {
            return loaded.render(&input.written);
        }
        let template = match input.front.choose(self.template, input.written.case()) {
            Ok(template) => template,
            Err(refusal) => return refusal,
        };
        let loaded = self.loaded_of(template);
        input.preparation.outcome(
            template,
            |variable| loaded.variables().contains(variable),
            || loaded.render(&input.seen),
        )
    }

    /// The outcome without a variable that is otherwise always defined. None if the engine cannot
    /// leave it out.
    pub fn outcome_without(
        &self,
        variable: &'static str,
        input: &PreparedCase<'_>,
    ) -> Option<Outcome> {
        if self.behind.iter().any(|(known, _)| *known == input.front) {
            return None;
        }
        let template = match input.front.choose(self.template, input.seen.case()) {
            Ok(template) => template,
            Err(refusal) => return Some(refusal),
        };
        let loaded = self.loaded_of(template);
        let mut observer = OmittedVariable::new(variable);
        let rendered = loaded.render_with(&input.seen, &mut observer)?;
        if !observer.is_asked && loaded.refusal().is_none() {
            return None;
        }
        let reads = |variable: &str| loaded.variables().contains(variable);
        Some(input.preparation.outcome(template, reads, || rendered))
    }

    /// The template's own prompt and the ranges of the model's own text in it. None if there is no
    /// prompt, or if the engine cannot tell.
    pub fn own_text(&self, input: &PreparedCase<'_>) -> Option<(String, Vec<Range<usize>>)> {
        let seen = &input.seen;
        let template = input.front.choose(self.template, seen.case()).ok()?;
        let mut observer = OwnText::default();
        let outcome = self.loaded_of(template).render_with(seen, &mut observer)?;
        Some((outcome.into_prompt().ok()?, observer.spans?))
    }

    /// The outcome of a case for users of its front, and what the render reaches in the template
    /// itself. No hits if no template runs, if the front picks another template of the model, or if
    /// the engine cannot tell.
    pub fn covered(&self, input: &PreparedCase<'_>) -> (Outcome, Option<Hits>) {
        let is_behind = self.behind.iter().any(|(known, _)| *known == input.front);
        let chosen = input.front.choose(self.template, input.written.case());
        let is_own = chosen.is_ok_and(|chosen| std::ptr::eq(chosen, self.template));
        if is_behind || !is_own {
            return (self.outcome(input), None);
        }
        let mut hits = None;
        let outcome = input.preparation.outcome(
            self.template,
            |variable| self.loaded.variables().contains(variable),
            || match self.loaded.render_covered(&input.seen) {
                Some((outcome, found)) => {
                    hits = Some(found);
                    outcome
                }
                None => self.loaded.render(&input.seen),
            },
        );
        (outcome, hits)
    }

    /// Whether the engine is an application itself and prepares conversations on its own.
    pub fn has_fronts(&self) -> bool {
        !self.behind.is_empty()
    }

    /// The template alone.
    pub fn without_front(&self) -> &LoadedTemplate {
        &self.loaded
    }

    /// The loaded form of a template that the front may pick.
    fn loaded_of(&self, template: &Template) -> &LoadedTemplate {
        match &self.other {
            Some((other, loaded)) if std::ptr::eq(*other, template) => loaded,
            _ => &self.loaded,
        }
    }
}

#[cfg(test)]
mod tests {
    use rolecall_model::{Case, Dialect, Stage};
    use serde_json::json;

    use super::*;
    use crate::engines::Engines;

    /// The outcome for users of a template whose front has this name.
    fn outcome(front: &str) -> Outcome {
        let engines = Engines::default();
        let mut template = Template::from_source("t", Dialect::Jinja, "{{ messages[0].content }}");
        template.front = Some(front.to_owned());
        let engine = engines.for_dialect(template.dialect).unwrap();
        let program = FrontProgram::load(engine, &template);
        let case = Case::from_messages(vec![json!({"role": "user", "content": "x"})]);
        program.outcome(&PreparedCase::new(
            &case,
            Front::of(&template),
            &program.model,
        ))
    }

    #[test]
    fn a_front_that_there_is_not_refuses_and_is_not_taken_for_another() {
        assert_eq!(outcome("raw"), Outcome::Rendered { text: "x".into() });
        for name in ["transfromers", "unknown", ""] {
            let refused = Outcome::Failed {
                stage: Stage::Input,
                message: format!("no front is named `{name}`"),
                line: None,
            };
            assert_eq!(outcome(name), refused);
        }
    }
}
