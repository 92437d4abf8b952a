//! A case with a front.

use std::cell::RefCell;
use std::sync::Arc;

use rolecall_core::{Case, Conversation, Outcome, Template};

use crate::front::{Change, Front, ModelProfile, Preparation};

/// A case with a front, prepared once for all models that the front treats alike.
pub struct PreparedCase<'c> {
    /// The front.
    pub front: Front,
    /// What the front does to the case and to the prompt.
    pub(crate) preparation: Preparation,
    /// The case as the application receives it.
    pub(crate) written: Conversation<'c>,
    /// The case as templates see it.
    pub(crate) seen: Conversation<'c>,
    /// The case as templates see it in a second try, if no prompt comes out of the first.
    again: Option<Conversation<'c>>,
    /// The case of which the application needs a prompt, too.
    beside: Option<Conversation<'c>>,
}

impl PreparedCase<'static> {
    /// Prepares a case and shares it.
    pub fn of(case: &Arc<Case>, front: Front, model: &ModelProfile<'_>) -> PreparedCase<'static> {
        let unchanged = || Conversation::of(Arc::clone(case));
        PreparedCase::from_preparation(front, front.prepare(case, model), unchanged)
    }
}

impl<'c> PreparedCase<'c> {
    /// Prepares a case as the application of the front does before it renders.
    pub fn new(case: &'c Case, front: Front, model: &ModelProfile<'_>) -> PreparedCase<'c> {
        let unchanged = || Conversation::new(case);
        PreparedCase::from_preparation(front, front.prepare(case, model), unchanged)
    }

    /// Prepares a case as if the application did not make one of its changes.
    pub fn without(
        case: &'c Case,
        front: Front,
        model: &ModelProfile<'_>,
        change: &Change,
    ) -> PreparedCase<'c> {
        let unchanged = || Conversation::new(case);
        let preparation = front.prepare_without(case, model, Some(change));
        PreparedCase::from_preparation(front, preparation, unchanged)
    }

    fn from_preparation(
        front: Front,
        preparation: Preparation,
        unchanged: impl Fn() -> Conversation<'c>,
    ) -> PreparedCase<'c> {
        let conversation = |changed: Option<&Arc<Case>>| match changed {
            Some(case) => Conversation::of(Arc::clone(case)),
            None => unchanged(),
        };
        PreparedCase {
            front,
            written: conversation(preparation.written()),
            seen: conversation(preparation.seen()),
            again: preparation.again().cloned().map(Conversation::of),
            beside: preparation.beside().cloned().map(Conversation::of),
            preparation,
        }
    }

    /// The outcome for users: see [`Preparation::outcome`].
    pub(crate) fn outcome(
        &self,
        template: &Template,
        reads: impl Fn(&str) -> bool,
        mut render: impl FnMut(&Conversation<'c>) -> Outcome,
    ) -> Outcome {
        let render = RefCell::new(&mut render);
        let outcome = |seen| {
            let beside = || {
                self.beside
                    .as_ref()
                    .map(|beside| (render.borrow_mut())(beside))
            };
            let seen = || (render.borrow_mut())(seen);
            self.preparation.outcome(template, &reads, seen, beside)
        };
        match (outcome(&self.seen), &self.again) {
            (Outcome::Raised { .. } | Outcome::Failed { .. }, Some(again)) => outcome(again),
            (first, _) => first,
        }
    }

    /// The case as templates see it. If the front refuses the conversation, no template sees any.
    pub fn seen(&self) -> &Case {
        self.seen.case()
    }

    /// The first messages as templates see them, if the front does with them alone what it does with
    /// them here.
    pub(crate) fn beginning(
        &'c self,
        count: usize,
        add_generation_prompt: bool,
    ) -> Option<Conversation<'c>> {
        let is_alike = self.preparation.is_rendering() && self.front.prepares_each_message_alone();
        let has_some = count > 0 && count <= self.seen.case().messages.len();
        (is_alike && has_some).then(|| self.seen.beginning(count, add_generation_prompt))
    }

    /// The case as templates see it, if users get every template's own outcome for it.
    pub fn rendered_case(&self) -> Option<&Case> {
        self.preparation.is_rendering().then(|| self.seen.case())
    }
}
