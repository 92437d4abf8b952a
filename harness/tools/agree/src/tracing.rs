//! An engine compared with itself: the prompt that comes with the origins of its bytes has to be
//! the plain one.

use rolecall_core::{
    Conversation, Dialect, Engine, Observer, Outcome, Program, Refusal, Stage, Template, Wanted,
};

/// An engine that asks another where the bytes of each prompt come from, and what the decisions of
/// each render look at. If an answer is missing or does not cover the prompt, the outcome is a
/// failure.
pub struct TracedEngine<'e>(pub &'e dyn Engine);

/// A template in a traced engine.
struct TracedProgram(Box<dyn Program>);

impl Engine for TracedEngine<'_> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn version(&self) -> &str {
        self.0.version()
    }

    fn description(&self) -> String {
        format!("{}, traced", self.0.description())
    }

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        let program = self.0.compile(template)?;
        Ok(Box::new(TracedProgram(program)))
    }
}

impl Program for TracedProgram {
    fn render_with(&self, conversation: &Conversation<'_>, _: &mut Observer) -> Outcome {
        let mut examination = Observer::of(&[Wanted::Spans, Wanted::Decisions]);
        let outcome = self.0.render_with(conversation, &mut examination);
        let failed = |message: &str| Outcome::Failed {
            stage: Stage::Render,
            message: message.to_owned(),
            line: None,
        };
        let Some(decisions) = examination.decisions else {
            return failed("no decisions");
        };
        let looks = decisions.looks.len();
        let ends = decisions
            .decisions
            .iter()
            .map(|decision| decision.looks.end);
        if !decisions.is_cut && ends.max().is_some_and(|end| end > looks) {
            return failed("a decision has looks that are not there");
        }
        let Outcome::Rendered { text } = &outcome else {
            return outcome;
        };
        let Some(spans) = examination.spans else {
            return failed("no spans");
        };
        let mut end = 0;
        for span in &spans {
            if span.prompt.start != end || text.get(span.prompt.clone()).is_none() {
                return failed("spans do not follow each other");
            }
            end = span.prompt.end;
        }
        if end != text.len() {
            return failed("spans do not cover the prompt");
        }
        outcome
    }
}
