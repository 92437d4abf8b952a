//! Probes as templates receive them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;

use rolecall_core::{Case, Moment};
use rolecall_go::endpoint::ModelTraits;

use super::definition::Probe;
use super::input_style::{InputStyle, spaced};
use rolecall_front::front::{Front, ModelProfile};
use rolecall_front::prepared_case::PreparedCase;

pub(super) struct ProbeInput {
    pub(super) asked: Arc<Case>,
    /// What the front makes of it.
    pub(super) input: PreparedCase<'static>,
    /// A number that all inputs share which look the same to templates, by what templates do not
    /// read. None if the template's text is not the whole prompt, or if inputs are not numbered.
    numbers: Option<[usize; Unread::COUNT]>,
}

/// The variables of a conversation that a template does not read. Conversations that differ in
/// nothing else look the same to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Unread {
    pub(super) tools: bool,
    pub(super) documents: bool,
    /// `add_generation_prompt`
    pub(super) generation_prompt: bool,
}

impl Unread {
    const COUNT: usize = 8;

    fn of(number: usize) -> Unread {
        Unread {
            tools: number & 1 > 0,
            documents: number & 2 > 0,
            generation_prompt: number & 4 > 0,
        }
    }

    fn number(self) -> usize {
        let Unread {
            tools,
            documents,
            generation_prompt,
        } = self;
        usize::from(tools) | usize::from(documents) << 1 | usize::from(generation_prompt) << 2
    }
}

/// The probes that templates have rendered so far, with their fronts.
///
/// Building a conversation and converting it to an engine's values takes about as long as a render,
/// and the result is the same for all templates. So each is built only once.
#[derive(Default)]
pub struct ProbeInputs {
    known: RefCell<HashMap<InputKey, Arc<ProbeInput>>>,
    /// A number for each distinct part of what templates see.
    parts: RefCell<HashMap<String, usize>>,
    /// A number for each distinct input, by the numbers of its parts that a template reads.
    numbers: RefCell<HashMap<[Option<usize>; 4], usize>>,
    /// The settings so far. A setting is known by its place.
    settings: RefCell<Vec<Setting>>,
}

/// A probe, and the way in which it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProbeVariant {
    pub(super) probe: &'static str,
    /// How it is written.
    pub(super) input_style: InputStyle,
    /// Whether its time is in another year.
    pub(super) is_later: bool,
    /// The number of the setting under which it is rendered, among those of the inputs.
    pub(super) setting: Option<usize>,
}

impl Hash for ProbeVariant {
    /// Hashes only the name: a probe has few variants, and each look at one looks it up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.probe.hash(state);
    }
}

/// A variable of a template, and the value that a user sets it to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) name: String,
    pub(crate) value: Value,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}: {}`", self.name, spaced(&self.value))
    }
}

/// Everything that an input depends on: the variant of the probe, the front, and the model's
/// traits.
#[derive(Debug, PartialEq, Eq, Hash)]
struct InputKey {
    variant: ProbeVariant,
    front: Front,
    traits: ModelTraits,
}

impl ProbeInput {
    /// A conversation with a front, for a model.
    pub(super) fn new(case: Case, front: Front, model: &ModelProfile<'_>) -> ProbeInput {
        let asked = Arc::new(case);
        ProbeInput {
            input: PreparedCase::of(&asked, front, model),
            asked,
            numbers: None,
        }
    }

    /// The number that it shares with all inputs which look the same to a template.
    pub(super) fn number(&self, unread: Unread) -> Option<usize> {
        self.numbers?.get(unread.number()).copied()
    }

    /// All that a template sees of it: what is always read, and what may be unread.
    fn sight(&self) -> Option<[String; 4]> {
        let case = self.input.rendered_case()?;
        let read = (&case.variables, case.now.to_string(), &case.messages);
        let read = serde_json::to_string(&read).ok()?;
        let [tools, documents] = [&case.tools, &case.documents].map(serde_json::to_string);
        let prompt = case.add_generation_prompt.to_string();
        Some([read, tools.ok()?, documents.ok()?, prompt])
    }
}

impl ProbeInputs {
    /// A variant of a probe, with a front, for a model.
    pub(super) fn of(
        &self,
        variant: ProbeVariant,
        probe: Probe,
        front: Front,
        model: &ModelProfile<'_>,
    ) -> Arc<ProbeInput> {
        let make = || {
            let mut case = probe.case(variant.input_style);
            if variant.is_later {
                case.now = later();
            }
            if let Some(Setting { name, value }) = self.setting(variant) {
                case.variables.insert(name, value);
            }
            ProbeInput::new(case, front, model)
        };
        // A model with more than traits shares its inputs with no other.
        let Some(traits) = model.only_traits(front) else {
            return Arc::new(make());
        };
        let key = InputKey {
            variant,
            front,
            traits,
        };
        let mut known = self.known.borrow_mut();
        let input = known.entry(key).or_insert_with(|| {
            let input = make();
            let numbers = input.sight().map(|sight| self.numbers(sight));
            Arc::new(ProbeInput { numbers, ..input })
        });
        Arc::clone(input)
    }

    pub(super) fn number_of(&self, setting: &Setting) -> usize {
        let mut settings = self.settings.borrow_mut();
        let known = settings.iter().position(|known| known == setting);
        known.unwrap_or_else(|| {
            settings.push(setting.clone());
            settings.len() - 1
        })
    }

    fn setting(&self, variant: ProbeVariant) -> Option<Setting> {
        let settings = self.settings.borrow();
        settings.get(variant.setting?).cloned()
    }

    /// The numbers of what templates see, by what they do not read.
    fn numbers(&self, sight: [String; 4]) -> [usize; Unread::COUNT] {
        let mut parts = self.parts.borrow_mut();
        let [read, tools, documents, prompt] = sight.map(|part| {
            let next = parts.len();
            *parts.entry(part).or_insert(next)
        });
        let mut numbers = self.numbers.borrow_mut();
        std::array::from_fn(|number| {
            let unread = Unread::of(number);
            let next = numbers.len();
            let seen = [
                Some(read),
                (!unread.tools).then_some(tools),
                (!unread.documents).then_some(documents),
                (!unread.generation_prompt).then_some(prompt),
            ];
            *numbers.entry(seen).or_insert(next)
        })
    }
}

/// Another year, month, day, hour, minute and second than a case's usual moment.
fn later() -> Moment {
    "2027-11-23T16:45:56Z".parse().unwrap_or_default()
}
