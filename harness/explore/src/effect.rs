//! What a render gives to somebody who uses a template.

use std::ops::Range;

use rolecall_core::{Case, Outcome};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

/// The outcome of a render, and which parts of the prompt the template marks as the model's own text.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    outcome: Outcome,
    own_text: Option<Vec<Range<usize>>>,
}

impl Effect {
    /// The effect of a render with this outcome. `has_marks` says whether the template may mark
    /// something.
    pub(crate) fn of(
        program: &FrontProgram<'_>,
        input: &PreparedCase<'_>,
        outcome: Outcome,
        has_marks: bool,
    ) -> Effect {
        let is_prompt = matches!(outcome, Outcome::Rendered { .. });
        let marked = || program.own_text(input).map(|(_, spans)| spans);
        Effect {
            own_text: (has_marks && is_prompt).then(marked).flatten(),
            outcome,
        }
    }

    pub(crate) fn is_prompt(&self) -> bool {
        matches!(self.outcome, Outcome::Rendered { .. })
    }

    /// Whether the template marks something in this render.
    pub(crate) fn has_marks(&self) -> bool {
        self.own_text
            .as_ref()
            .is_some_and(|spans| !spans.is_empty())
    }

    /// Whether a mutant of the template has the same outcome.
    pub(crate) fn has_same_outcome(
        &self,
        mutant: &FrontProgram<'_>,
        original: &FrontProgram<'_>,
        input: &PreparedCase<'_>,
        case: &Case,
    ) -> bool {
        let model = mutant.model.with(case, input.front);
        if model == original.model.with(case, input.front) {
            return is_same(&mutant.outcome(input), &self.outcome);
        }
        // The front may treat the mutant in another way.
        let input = PreparedCase::new(case, input.front, &model);
        is_same(&mutant.outcome(&input), &self.outcome)
    }

    /// Whether a mutant with the same prompt marks the same parts of it.
    pub(crate) fn has_same_marks(
        &self,
        mutant: &FrontProgram<'_>,
        input: &PreparedCase<'_>,
    ) -> bool {
        self.own_text.as_ref().is_none_or(|spans| {
            let marked = mutant.own_text(input).map(|(_, spans)| spans);
            marked.as_ref() == Some(spans)
        })
    }
}

/// Whether two outcomes are the same for users: lines of the template may differ.
fn is_same(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (
            Outcome::Failed { stage, message, .. },
            Outcome::Failed {
                stage: other_stage,
                message: other_message,
                ..
            },
        ) => stage == other_stage && message == other_message,
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::Stage;

    use super::*;

    #[test]
    fn a_line_of_a_refusal_is_no_difference() {
        let failed = |message: &str, line| Outcome::Failed {
            stage: Stage::Render,
            message: message.to_owned(),
            line: Some(line),
        };
        assert!(is_same(&failed("a", 1), &failed("a", 2)));
        assert!(!is_same(&failed("a", 1), &failed("b", 1)));
    }
}
