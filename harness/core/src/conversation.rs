//! The input of a program: a case, and the engines' own forms of it.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use crate::case::Case;
use crate::clock::Moment;

/// How many forms a conversation keeps, one for each engine. Further engines make theirs each time.
const MOST_FORMS: usize = 4;

/// A case on its way through the engines.
///
/// An engine needs the messages in its own types. To make them costs about as much as a render, so
/// a conversation keeps them for all templates. A single request has nothing to keep:
/// [`Program::prompt`] takes the case itself.
///
/// [`Program::prompt`]: crate::Program::prompt
pub struct Conversation<'c> {
    case: CaseHandle<'c>,
    forms: [OnceLock<Arc<dyn Any + Send + Sync>>; MOST_FORMS],
}

/// A case, borrowed or shared.
enum CaseHandle<'c> {
    Borrowed(&'c Case),
    Shared(Arc<Case>),
    Beginning(Box<Beginning<'c>>),
}

/// The first messages of a conversation.
pub struct Beginning<'c> {
    /// The whole conversation. An engine can take the messages from its form of it.
    pub whole: &'c Conversation<'c>,
    /// How many messages there are.
    pub count: usize,
    /// Whether the prompt should open the next turn, instead of what the whole conversation says.
    pub add_generation_prompt: bool,
    /// The case itself, for an engine that needs it.
    case: OnceLock<Case>,
}

impl Conversation<'static> {
    /// Makes a conversation that shares the case.
    pub fn of(case: Arc<Case>) -> Conversation<'static> {
        Conversation::holding(CaseHandle::Shared(case))
    }
}

impl<'c> Conversation<'c> {
    /// Makes a conversation that borrows the case.
    pub fn new(case: &'c Case) -> Conversation<'c> {
        Conversation::holding(CaseHandle::Borrowed(case))
    }

    fn holding(case: CaseHandle<'c>) -> Conversation<'c> {
        Conversation {
            case,
            forms: [const { OnceLock::new() }; MOST_FORMS],
        }
    }

    /// The case that the conversation was made from, as its file has it.
    pub fn case(&self) -> &Case {
        match &self.case {
            CaseHandle::Borrowed(case) => case,
            CaseHandle::Shared(case) => case,
            CaseHandle::Beginning(beginning) => beginning.case.get_or_init(|| {
                let whole = beginning.whole.case();
                let messages = whole
                    .messages
                    .iter()
                    .take(beginning.count)
                    .cloned()
                    .collect();
                let mut case = whole.saying(messages, whole.tools.clone(), whole.variables.clone());
                case.add_generation_prompt = beginning.add_generation_prompt;
                case
            }),
        }
    }

    /// The first `count` messages of this conversation, for an engine that has the whole one already.
    #[must_use]
    pub fn beginning(&'c self, count: usize, add_generation_prompt: bool) -> Conversation<'c> {
        Conversation::holding(CaseHandle::Beginning(Box::new(Beginning {
            whole: self,
            count,
            add_generation_prompt,
            case: OnceLock::new(),
        })))
    }

    /// The conversation that this one is the beginning of, if it is one.
    pub fn as_beginning(&self) -> Option<&Beginning<'c>> {
        match &self.case {
            CaseHandle::Beginning(beginning) => Some(beginning),
            CaseHandle::Borrowed(_) | CaseHandle::Shared(_) => None,
        }
    }

    /// When it happens.
    pub fn now(&self) -> Moment {
        let whole = self.as_beginning().map(|beginning| beginning.whole);
        // The case of a beginning is only made when an engine needs it. Its clock is the whole
        // conversation's.
        whole.unwrap_or(self).case().now
    }

    /// The case in an engine's own type. The first call makes it.
    pub fn form<T: Send + Sync + 'static>(&self, make: impl Fn(&Case) -> T) -> Arc<T> {
        for slot in &self.forms {
            let kept = slot.get_or_init(|| Arc::new(make(self.case())));
            if let Ok(form) = Arc::clone(kept).downcast::<T>() {
                return form;
            }
        }
        Arc::new(make(self.case()))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn each_form_is_made_once() {
        let case = Case::from_messages(vec![1.into(), 2.into()]);
        let conversation = Conversation::new(&case);
        let made = Cell::new(0);
        for _ in 0..3 {
            let count = conversation.form(|case| {
                made.set(made.get() + 1);
                case.messages.len()
            });
            assert_eq!(*count, 2);
            let texts: Arc<String> = conversation.form(|case| {
                made.set(made.get() + 1);
                case.messages[0].to_string()
            });
            assert_eq!(*texts, "1");
        }
        assert_eq!(made.get(), 2);
    }
}
