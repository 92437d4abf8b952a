//! Probes as templates are given them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use rolecall_go::endpoint::Traits;
use rolecall_model::{Case, Conversation, Moment};

use super::definition::Probe;
use super::manner::Manner;
use crate::front::{Front, Model, Prepared};

/// A conversation behind a front.
pub(super) struct Input {
    /// What was asked.
    pub(super) asked: Arc<Case>,
    /// What the front does to it and to the prompt.
    pub(super) prepared: Prepared,
    /// As the application is given it.
    pub(super) written: Conversation<'static>,
    /// As templates see it.
    pub(super) seen: Conversation<'static>,
    /// The number that it shares with all inputs that are one conversation to templates. None
    /// where the prompt is not all that the template gave, or nobody keeps count.
    pub(super) number: Option<usize>,
}

/// The probes that templates were asked until now, behind their fronts.
///
/// To write a conversation down, and to make an engine's values of it, takes about as long as to
/// render it, and it is the same for all templates: so each is made once for many.
#[derive(Default)]
pub struct Inputs {
    known: RefCell<HashMap<Key, Arc<Input>>>,
    /// What templates see of them, each with its number.
    numbers: RefCell<HashMap<String, usize>>,
}

/// How a probe is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Put {
    /// The probe's name.
    pub(super) probe: &'static str,
    /// How it is written.
    pub(super) manner: Manner,
    /// Whether at another time of another year.
    pub(super) is_later: bool,
}

/// What makes an input: the probe, how it is put, and what the front goes by.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    put: Put,
    front: Front,
    traits: Traits,
}

impl Input {
    /// A conversation behind a front, for a model.
    pub(super) fn new(case: Case, front: Front, model: &Model<'_>) -> Input {
        let asked = Arc::new(case);
        let prepared = front.prepare(&asked, model);
        Input {
            written: Conversation::of(prepared.shared_written(&asked)),
            seen: Conversation::of(prepared.shared_case(&asked)),
            prepared,
            asked,
            number: None,
        }
    }

    /// All that a template sees of it.
    fn sight(&self) -> Option<String> {
        if !self.prepared.is_rendering() {
            return None;
        }
        let case = self.seen.case();
        let options = (case.add_generation_prompt, &case.variables);
        let lists = (&case.messages, &case.tools, &case.documents);
        serde_json::to_string(&(options, case.now.to_string(), lists)).ok()
    }
}

impl Inputs {
    /// A probe as it is put, behind a front, for a model.
    pub(super) fn of(&self, put: Put, probe: Probe, front: Front, model: &Model<'_>) -> Arc<Input> {
        let make = || {
            let mut case = probe.case(put.manner);
            if put.is_later {
                case.now = later();
            }
            Input::new(case, front, model)
        };
        // What else a model has is not shared by others.
        let Some(traits) = model.traits_alone() else {
            return Arc::new(make());
        };
        let key = Key { put, front, traits };
        let mut known = self.known.borrow_mut();
        let input = known.entry(key).or_insert_with(|| {
            let input = make();
            let number = input.sight().map(|sight| self.number(sight));
            Arc::new(Input { number, ..input })
        });
        Arc::clone(input)
    }

    /// The number of what templates see.
    fn number(&self, sight: String) -> usize {
        let mut numbers = self.numbers.borrow_mut();
        let next = numbers.len();
        *numbers.entry(sight).or_insert(next)
    }
}

/// Another year, month, day, hour, minute and second than a case's usual moment.
fn later() -> Moment {
    "2027-11-23T16:45:56Z".parse().unwrap_or_default()
}
