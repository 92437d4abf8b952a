//! Asking a template.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

use rolecall_model::{
    Case, Conversation, Dialect, Engine, Limit, Moment, Outcome, Stage, Template, Tracked,
    UnknownName,
};

use super::catalogue::{CALL_RESULT, USER};
use super::definition::Probe;
use super::manner::{Arguments, Content, Manner, Requirement};
use super::words;
use crate::front::Front;
use crate::program::Program;
use crate::tokenizer::Tokenizer;

/// A template under examination, behind a front.
pub struct Prober<'t> {
    program: Rc<Program<'t>>,
    /// The same template behind another front, which was asked before: what this front does not
    /// change is not asked again.
    before: Option<&'t Prober<'t>>,
    tokenizer: Option<&'t Tokenizer>,
    front: Front,
    manner: Manner,
    seen: RefCell<HashMap<Key, Rc<Seen>>>,
    /// What it made of conversations that are no probes of the catalogue.
    asked: RefCell<Vec<Rc<Seen>>>,
    /// Probes that went beyond the limits, and the limit that the last of them met.
    exceeded: Cell<(usize, Option<Limit>)>,
}

/// Probes beyond the limits after which a template is not asked any more.
const MOST_EXCEEDED: usize = 5;

/// Bytes of a prompt that a probe may give. The conversations of probes are short, and the
/// prompts are kept.
const LARGEST_PROMPT: usize = 256 << 10;

/// What makes a render: the probe, and how it is put.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    probe: &'static str,
    manner: Manner,
    is_later: bool,
}

/// What a template made of a probe.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The probe's name.
    pub probe: &'static str,
    /// What the probe is.
    pub about: &'static str,
    /// What was asked.
    pub asked: Rc<Case>,
    /// What the template made of it.
    pub outcome: Outcome,
    /// The prompt in lower case, where there is one: offsets are those of the prompt.
    lower: String,
}

impl Seen {
    /// What a template made of a probe.
    pub fn new(
        probe: &'static str,
        about: &'static str,
        asked: impl Into<Rc<Case>>,
        outcome: Outcome,
    ) -> Seen {
        let lower = match &outcome {
            Outcome::Rendered { text } => text.to_ascii_lowercase(),
            _ => String::new(),
        };
        Seen {
            probe,
            about,
            asked: asked.into(),
            outcome,
            lower,
        }
    }

    /// The prompt, if there is one.
    pub fn text(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Rendered { text } => Some(text),
            _ => None,
        }
    }

    /// Whether the probe gave no prompt.
    pub fn is_refused(&self) -> bool {
        self.text().is_none()
    }

    /// Whether the render used up its limits: each more would take as long.
    pub fn is_out_of_limits(&self) -> bool {
        matches!(self.outcome, Outcome::Exceeded { .. })
    }

    /// How often a word stands in the prompt.
    pub fn count(&self, word: &str) -> usize {
        self.lower.matches(word).count()
    }

    /// Whether a word stands in the prompt.
    pub fn has(&self, word: &str) -> bool {
        self.lower.contains(word)
    }

    /// Where a word first stands in the prompt.
    pub fn find(&self, word: &str) -> Option<Range<usize>> {
        let start = self.lower.find(word)?;
        Some(start..start + word.len())
    }

    /// Where a word stands in the prompt for the second time.
    pub fn find_again(&self, word: &str) -> Option<Range<usize>> {
        let first = self.find(word)?;
        let start = first.end + self.lower[first.end..].find(word)?;
        Some(start..start + word.len())
    }

    /// What stands behind the last of a word.
    pub fn behind(&self, word: &str) -> Option<&str> {
        let end = self.lower.rfind(word)? + word.len();
        self.text().map(|text| &text[end..])
    }

    /// What stands before the first of a word.
    pub fn before(&self, word: &str) -> Option<&str> {
        let start = self.lower.find(word)?;
        self.text().map(|text| &text[..start])
    }

    /// The refusal in a few words: what the template said, or what the engine said.
    pub fn refusal(&self) -> String {
        let words = self.outcome.text().trim();
        match &self.outcome {
            Outcome::Rendered { .. } => String::new(),
            Outcome::Raised { .. } => format!("the template refuses: {words}"),
            Outcome::Failed {
                stage: Stage::Input,
                ..
            } => format!("refused before the template sees it: {words}"),
            Outcome::Failed { .. } => format!("the engine fails: {words}"),
            Outcome::Exceeded { limit } => format!("the limit on {limit} runs out"),
            Outcome::Crashed { .. } => format!("the engine crashes: {words}"),
            Outcome::NotAsked { .. } => format!("the engine was not asked: {words}"),
        }
    }
}

impl<'t> Prober<'t> {
    /// Loads a template and finds out how it wants to be asked by users of its front.
    pub fn new(engine: &'t dyn Engine, template: &'t Template) -> Prober<'t> {
        Prober::behind(Front::of(template), engine, template)
    }

    /// Loads a template and finds out how it wants to be asked by users of a front.
    pub fn behind(front: Front, engine: &'t dyn Engine, template: &'t Template) -> Prober<'t> {
        Prober {
            program: Rc::new(Program::load(engine, template)),
            before: None,
            tokenizer: None,
            front,
            manner: Manner::PLAIN,
            seen: RefCell::default(),
            asked: RefCell::default(),
            exceeded: Cell::default(),
        }
        .finding_its_manner()
    }

    /// The same template as those find it who have no application before it.
    #[must_use]
    pub fn alone(&'t self) -> Prober<'t> {
        Prober {
            program: Rc::clone(&self.program),
            before: Some(self),
            tokenizer: None,
            front: Front::Raw,
            manner: Manner::PLAIN,
            seen: RefCell::default(),
            asked: RefCell::default(),
            exceeded: Cell::default(),
        }
        .finding_its_manner()
    }

    /// Finds out how the template wants to be asked.
    fn finding_its_manner(mut self) -> Prober<'t> {
        let prober = &mut self;
        let manners = [
            Requirement::Nothing,
            Requirement::Tools,
            Requirement::Documents,
        ]
        .into_iter()
        .flat_map(|given| {
            [Content::String, Content::Parts].map(|content| Manner {
                given,
                content,
                ..Manner::PLAIN
            })
        });
        for manner in manners {
            let seen = prober.see_in(USER, manner);
            if seen.has(words::USER) {
                prober.manner = manner;
                break;
            }
            if seen.is_out_of_limits() {
                return self;
            }
        }
        if !prober.see(CALL_RESULT).has(words::FIRST_VALUE) {
            let text = Manner {
                arguments: Arguments::String,
                ..prober.manner
            };
            if prober.see_in(CALL_RESULT, text).has(words::FIRST_VALUE) {
                prober.manner = text;
            }
        }
        self
    }

    /// The same, and what the model makes of its prompts is known.
    #[must_use]
    pub fn with_tokenizer(self, tokenizer: Option<&'t Tokenizer>) -> Prober<'t> {
        Prober { tokenizer, ..self }
    }

    /// What the model makes of prompts, where that is known.
    pub fn tokenizer(&self) -> Option<&'t Tokenizer> {
        self.tokenizer
    }

    /// The template.
    pub fn template(&self) -> &'t Template {
        self.program.template
    }

    /// Its dialect.
    pub fn dialect(&self) -> Dialect {
        self.program.template.dialect
    }

    /// How the template is asked.
    pub fn manner(&self) -> Manner {
        self.manner
    }

    /// What the template makes of a probe.
    pub fn see(&self, probe: Probe) -> Rc<Seen> {
        self.see_in(probe, self.manner)
    }

    /// What the template makes of a probe that is put in another manner.
    pub fn see_in(&self, probe: Probe, manner: Manner) -> Rc<Seen> {
        self.seen(probe, manner, false)
    }

    /// What the template makes of a probe at another time of another year.
    pub fn see_later(&self, probe: Probe) -> Rc<Seen> {
        self.seen(probe, self.manner, true)
    }

    fn seen(&self, probe: Probe, manner: Manner, is_later: bool) -> Rc<Seen> {
        let key = Key {
            probe: probe.name,
            manner,
            is_later,
        };
        if let Some(seen) = self.seen.borrow().get(&key) {
            return Rc::clone(seen);
        }
        if let Some(seen) = self.seen_before(&key) {
            self.seen.borrow_mut().insert(key, Rc::clone(&seen));
            return seen;
        }
        let mut case = probe.case(manner);
        if is_later {
            case.now = later();
        }
        let outcome = self.render(&self.program, &case);
        let seen = Rc::new(Seen::new(probe.name, probe.about, case, outcome));
        self.seen.borrow_mut().insert(key, Rc::clone(&seen));
        seen
    }

    /// What the template made of a probe behind the other front, where it was given the same there.
    fn seen_before(&self, key: &Key) -> Option<Rc<Seen>> {
        let before = self.before?;
        let seen = Rc::clone(before.seen.borrow().get(key)?);
        let is_same = !before.program.has_fronts()
            && !before
                .front
                .differs(self.front, &seen.asked, &self.program.model)
            && !before.front.chooses_other(self.template(), &seen.asked);
        is_same.then_some(seen)
    }

    /// What the template makes of a conversation of one's own.
    pub fn ask(&self, name: &'static str, about: &'static str, case: Case) -> Rc<Seen> {
        let case = self.manner.complete(case);
        let outcome = self.render(&self.program, &case);
        let seen = Rc::new(Seen::new(name, about, case, outcome));
        self.asked.borrow_mut().push(Rc::clone(&seen));
        seen
    }

    /// What the template made of every conversation so far that was put in its own manner.
    pub fn asked(&self) -> Vec<Rc<Seen>> {
        let seen = self.seen.borrow();
        let usual = seen
            .iter()
            .filter(|(key, _)| key.manner == self.manner && !key.is_later)
            .map(|(_, seen)| Rc::clone(seen));
        usual.chain(self.asked.borrow().iter().cloned()).collect()
    }

    /// The prompt of a probe with what the template marks as the model's own text.
    pub fn track(&self, probe: Probe) -> Option<Tracked> {
        if self.see(probe).is_out_of_limits() {
            return None;
        }
        let case = probe.case(self.manner);
        let prepared = self.front.prepare(&case, &self.program.model);
        let seen = Conversation::new(prepared.case(&case));
        self.program.tracked(self.front, &seen)
    }

    /// What a template with another source, but the same tokens and variables, makes of
    /// probes.
    pub fn with_source(&self, source: &str, probes: &[Probe]) -> Vec<Seen> {
        let template = Template {
            source: source.to_owned(),
            named: Vec::new(),
            ..self.template().clone()
        };
        let program = Program::load(self.program.engine, &template);
        probes
            .iter()
            .map(|probe| {
                let case = probe.case(self.manner);
                let outcome = self.render(&program, &case);
                Seen::new(probe.name, probe.about, case, outcome)
            })
            .collect()
    }

    /// Renders a probe, unless too many before it went beyond the limits: each more would
    /// take as long.
    fn render(&self, program: &Program<'_>, case: &Case) -> Outcome {
        if let (MOST_EXCEEDED.., Some(limit)) = self.exceeded.get() {
            return Outcome::Exceeded { limit };
        }
        let prepared = self.front.prepare(case, &program.model);
        let written = Conversation::new(prepared.written(case));
        let seen = Conversation::new(prepared.case(case));
        let outcome = match program.outcome(self.front, &prepared, &written, &seen) {
            Outcome::Rendered { text } if text.len() > LARGEST_PROMPT => Outcome::Exceeded {
                limit: Limit::Output,
            },
            outcome => outcome,
        };
        if let Outcome::Exceeded { limit } = outcome {
            self.exceeded.set((self.exceeded.get().0 + 1, Some(limit)));
        }
        outcome
    }

    /// The variables that the template reads.
    pub fn variables(&self) -> BTreeSet<String> {
        self.program.alone().variables()
    }

    /// The names in the template that nothing gives a meaning, if the engine can tell.
    pub fn unknown_names(&self) -> Option<Vec<UnknownName>> {
        self.program.alone().unknown_names()
    }
}

/// Another year, month, day, hour, minute and second than a case's usual moment.
fn later() -> Moment {
    "2027-11-23T16:45:56Z".parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::Engines;
    use crate::probe::catalogue::{SYSTEM_USER, TOOLS, TWO_USERS};

    #[test]
    fn a_template_without_measure_is_not_asked_for_long() {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja).unwrap();
        let limit = |source: &str, probes: &[Probe]| {
            let template = Template::from_source("t", Dialect::Jinja, source);
            let prober = Prober::new(engine, &template);
            let outcomes: Vec<_> = probes
                .iter()
                .map(|probe| prober.see(*probe).outcome.clone())
                .collect();
            (prober.exceeded.get().0, outcomes)
        };
        let output = Outcome::Exceeded {
            limit: Limit::Output,
        };
        let probes = [TWO_USERS, SYSTEM_USER, TOOLS, CALL_RESULT];
        let (count, outcomes) = limit("{{ 'x' * 300000 }}", &probes);
        assert_eq!((count, outcomes), (MOST_EXCEEDED, vec![output.clone(); 4]));
        // One that is too much for some conversations only is asked for the others.
        let source =
            "{{ messages[0].content }}{% if messages | length > 1 %}{{ 'x' * 300000 }}{% endif %}";
        let (count, outcomes) = limit(source, &[USER, TWO_USERS, USER]);
        assert!(count < MOST_EXCEEDED, "{outcomes:?}");
        assert_eq!(outcomes[1], output);
        assert_eq!(outcomes[0].kind(), rolecall_model::OutcomeKind::Rendered);
    }
}
