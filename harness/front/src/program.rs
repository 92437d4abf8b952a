//! A template in an engine, with the fronts that may come before it.

use std::ops::Range;

use rolecall_core::guard::{LoadedTemplate, load, load_with_front};
use rolecall_core::provenance::Span;
use rolecall_core::{Engine, Hits, Limits, Observer, Outcome, Site, Template, Wanted};

use crate::front::{Front, ModelProfile};
use crate::prepared_case::PreparedCase;
use crate::trace;

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
    /// The template with each front that the engine has itself.
    with_front: Vec<(Front, LoadedTemplate)>,
}

impl<'t> FrontProgram<'t> {
    /// Loads a template into an engine. If the engine refuses it, every outcome says so.
    pub fn load(engine: &'t dyn Engine, template: &'t Template) -> FrontProgram<'t> {
        let own = Front::of(template);
        let fronts = Front::for_dialect(template.dialect).filter(|front| *front != Front::Raw);
        let with_front: Vec<_> = fronts
            .filter_map(|front| {
                let loaded = load_with_front(engine, front.name(), template)?;
                Some((front, loaded))
            })
            .collect();
        // An engine that is the application itself has received all templates.
        let is_asked_itself = with_front.iter().any(|(front, _)| *front == own);
        let other = own.alternative(template).filter(|_| !is_asked_itself);
        FrontProgram {
            template,
            engine,
            model: ModelProfile::of(template),
            other: other.map(|other| (other, load(engine, other))),
            with_front,
            loaded: load(engine, template),
        }
    }

    /// The same program with other limits. None if the engine cannot change its limits.
    pub fn within(&self, limits: &Limits) -> Option<FrontProgram<'t>> {
        let other = match &self.other {
            Some((template, loaded)) => Some((*template, loaded.within(limits)?)),
            None => None,
        };
        Some(FrontProgram {
            template: self.template,
            engine: self.engine,
            model: ModelProfile::of(self.template),
            loaded: self.loaded.within(limits)?,
            other,
            with_front: Vec::new(),
        })
    }

    /// The outcome of a case for users of its front.
    pub fn outcome(&self, input: &PreparedCase<'_>) -> Outcome {
        self.watched(input, &mut Observer::default())
    }

    /// The outcome without a variable that is otherwise always defined. None if the engine cannot
    /// leave it out.
    pub fn outcome_without(
        &self,
        variable: &'static str,
        input: &PreparedCase<'_>,
    ) -> Option<Outcome> {
        if self
            .with_front
            .iter()
            .any(|(known, _)| *known == input.front)
        {
            return None;
        }
        let template = match input.front.choose(self.template, input.seen.case()) {
            Ok(template) => template,
            Err(refusal) => return Some(refusal),
        };
        let loaded = self.loaded_of(template);
        let mut observer = Observer::without(variable);
        let rendered = loaded.render_with(&input.seen, &mut observer)?;
        if !observer.is_asked && loaded.refusal().is_none() {
            return None;
        }
        let reads = |variable: &str| loaded.variables().contains(variable);
        Some(
            input
                .preparation
                .outcome(template, reads, || rendered, || None),
        )
    }

    /// The template's own prompt and the ranges of the model's own text in it. None if there is no
    /// prompt, or if the engine cannot tell.
    pub fn own_text(&self, input: &PreparedCase<'_>) -> Option<(String, Vec<Range<usize>>)> {
        let seen = &input.seen;
        let template = input.front.choose(self.template, seen.case()).ok()?;
        let mut observer = Observer::of(&[Wanted::OwnText]);
        let outcome = self.loaded_of(template).render_with(seen, &mut observer)?;
        Some((outcome.into_prompt().ok()?, observer.own_text?))
    }

    /// The outcome of a case for users of its front, and what the model learns of its prompt: what the
    /// engine says, or what the template marks. None if neither says so.
    pub fn learned(&self, input: &PreparedCase<'_>) -> (Outcome, Option<Vec<Range<usize>>>) {
        let mut observer = Observer::of(&[Wanted::OwnText]);
        (self.watched(input, &mut observer), observer.own_text)
    }

    /// The outcome of a case for users of its front, and what the render reaches in the template
    /// itself. No hits if no template runs, if the front picks another template of the model, or if
    /// the engine cannot tell.
    pub fn covered(&self, input: &PreparedCase<'_>) -> (Outcome, Option<Hits>) {
        let has_front = self
            .with_front
            .iter()
            .any(|(known, _)| *known == input.front);
        let chosen = input.front.choose(self.template, input.written.case());
        let is_own = chosen.is_ok_and(|chosen| std::ptr::eq(chosen, self.template));
        if has_front || !is_own {
            return (self.outcome(input), None);
        }
        let mut hits = None;
        let outcome = input.outcome(
            self.template,
            |variable| self.loaded.variables().contains(variable),
            |seen| match self.loaded.render_covered(seen) {
                Some((outcome, found)) => {
                    hits = Some(found);
                    outcome
                }
                None => self.loaded.render(seen),
            },
        );
        (outcome, hits)
    }

    /// The outcome of a case for users of its front, and where the bytes of its prompt come from. The
    /// sources are in the template that the front picks, and in the case that templates see. No
    /// spans if there is no prompt, or if the engine cannot tell.
    pub fn traced(&self, input: &PreparedCase<'_>) -> (Outcome, Option<Vec<Span>>) {
        let mut provenance = Observer::of(&[Wanted::Spans]);
        let outcome = self.watched(input, &mut provenance);
        (outcome.clone(), within(&outcome, provenance.spans))
    }

    /// The same, and what the decisions of the render looked at.
    pub fn examined(&self, input: &PreparedCase<'_>) -> (Outcome, Observer) {
        let mut examination = Observer::of(&[Wanted::Spans, Wanted::Decisions]);
        let outcome = self.watched(input, &mut examination);
        examination.spans = within(&outcome, examination.spans);
        (outcome, examination)
    }

    /// The outcome of the first messages of a case, while an observer watches. An engine renders many
    /// beginnings of one conversation faster than as many cases. None if the front may do other things
    /// with these messages alone: then they have to be a case of their own.
    pub fn beginning<'c>(
        &self,
        input: &'c PreparedCase<'c>,
        count: usize,
        add_generation_prompt: bool,
        observer: &mut Observer,
    ) -> Option<Outcome> {
        let mut with_front = self.with_front.iter();
        let has_front = with_front.any(|(known, _)| *known == input.front);
        let beginning = input.beginning(count, add_generation_prompt);
        let beginning = beginning.filter(|_| !has_front)?;
        let template = input.front.choose(self.template, input.seen()).ok()?;
        let loaded = self.loaded_of(template);
        Some(loaded.render_examined(&beginning, observer))
    }

    /// The outcome of a case for users of its front, while an observer watches the template that the
    /// front picks, or the engine if it is an application itself.
    fn watched(&self, input: &PreparedCase<'_>, observer: &mut Observer) -> Outcome {
        let mut with_front = self.with_front.iter();
        if let Some((_, loaded)) = with_front.find(|(known, _)| *known == input.front) {
            return loaded.render_examined(&input.written, observer);
        }
        let template = match input.front.choose(self.template, input.written.case()) {
            Ok(template) => template,
            Err(refusal) => return refusal,
        };
        let loaded = self.loaded_of(template);
        input.outcome(
            template,
            |variable| loaded.variables().contains(variable),
            |seen| loaded.render_examined(seen, observer),
        )
    }

    /// The sites of the template that the front picks for a case: see
    /// [`rolecall_core::Program::sites`].
    pub fn sites_for(&self, input: &PreparedCase<'_>) -> Option<Vec<Site>> {
        let template = input
            .front
            .choose(self.template, input.written.case())
            .ok()?;
        self.loaded_of(template).sites()
    }

    /// Whether the engine is an application itself and prepares conversations on its own.
    pub fn has_fronts(&self) -> bool {
        !self.with_front.is_empty()
    }

    /// The compiled template without any front, as servers without one use it.
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

/// The spans of an outcome's prompt. The front may have cut it.
fn within(outcome: &Outcome, spans: Option<Vec<Span>>) -> Option<Vec<Span>> {
    let Outcome::Rendered { text } = outcome else {
        return None;
    };
    let mut spans = spans?;
    trace::cut(&mut spans, text.len());
    Some(spans)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rolecall_core::provenance::{Input, InputKind, Origin, Spans};
    use rolecall_core::{Case, Conversation, Dialect, Observer, Program, Refusal, Stage};
    use serde_json::json;

    use super::*;
    use crate::engines::Engines;

    /// The outcome for users of a template whose front has this name.
    fn outcome(front: &str) -> Outcome {
        let engines = Engines::default();
        let mut template = Template::from_source("t", Dialect::Jinja, "{{ messages[0].content }}");
        template.front = Some(front.to_owned());
        let engine = engines.for_dialect(template.dialect);
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

    /// Renders the text of the first message after a literal, and says so if it can.
    struct Traced {
        can_tell: bool,
    }

    impl Engine for Traced {
        fn name(&self) -> &'static str {
            "traced"
        }
        fn version(&self) -> &'static str {
            ""
        }
        fn description(&self) -> String {
            "an engine that traces".into()
        }
        fn dialect(&self) -> Dialect {
            Dialect::Jinja
        }
        fn compile(&self, _: &Template) -> Result<Box<dyn Program>, Refusal> {
            Ok(Box::new(Traced { ..*self }))
        }
    }

    impl Program for Traced {
        fn is_observable(&self) -> bool {
            true
        }
        fn render_with(&self, conversation: &Conversation<'_>, observer: &mut Observer) -> Outcome {
            let content = conversation.case().messages[0]["content"].as_str().unwrap();
            let mut spans = Spans::default();
            let none = Arc::from([]);
            spans.push(2, Origin::Literal { source: 0..2 }, &none);
            let input = Arc::new(Input {
                kind: InputKind::Message,
                path: "messages[0].content".to_owned(),
            });
            let bytes = 0..content.len();
            spans.push(bytes.len(), Origin::Input { input, bytes }, &none);
            if self.can_tell && observer.wants(Wanted::Spans) {
                observer.spans = Some(spans.into_list());
            }
            let text = format!("> {content}");
            Outcome::Rendered { text }
        }
    }

    #[test]
    fn spans_end_with_the_prompt_that_a_front_cuts() {
        let template = Template::from_source("t", Dialect::Jinja, "> {{ messages[0].content }}");
        let program = FrontProgram::load(&Traced { can_tell: true }, &template);
        let mut case = Case::from_messages(vec![json!({"role": "assistant", "content": "It is"})]);
        let traced = |case: &Case| {
            let front = Front::of(&template);
            program.traced(&PreparedCase::new(case, front, &program.model))
        };
        let ends = |spans: Option<Vec<Span>>| {
            let spans = spans.unwrap();
            let ends = spans.iter().map(|span| (span.prompt.end, &span.origin));
            let ends = ends.map(|(end, origin)| match origin {
                Origin::Literal { source } => (end, source.end),
                Origin::Input { bytes, .. } => (end, bytes.end),
                Origin::Made { .. } => unreachable!(),
            });
            ends.collect::<Vec<_>>()
        };
        case.add_generation_prompt = false;
        case.continue_final_message = Some("content".to_owned());
        let (outcome, spans) = traced(&case);
        assert_eq!(outcome.text(), "> It is");
        assert_eq!(ends(spans), [(2, 2), (7, 5)]);
        // The front refuses, and no template runs.
        case.messages.clear();
        let (outcome, spans) = traced(&case);
        assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
        assert_eq!(spans, None);
    }

    #[test]
    fn a_program_that_cannot_tell_gives_the_prompt_alone() {
        let template = Template::from_source("t", Dialect::Jinja, "");
        let program = FrontProgram::load(&Traced { can_tell: false }, &template);
        let case = Case::from_messages(vec![json!({"role": "user", "content": "q"})]);
        let input = PreparedCase::new(&case, Front::Raw, &program.model);
        let rendered = Outcome::Rendered { text: "> q".into() };
        assert_eq!(program.traced(&input), (rendered, None));
    }
}
