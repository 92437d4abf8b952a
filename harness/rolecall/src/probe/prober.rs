//! Asking a template.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use rolecall_model::{Case, Dialect, Engine, Limit, Outcome, Template, Tracked, UnknownName};

use super::catalogue::{CALL_RESULT, USER};
use super::comments::without_comments;
use super::definition::Probe;
use super::input::{Input, Inputs, Put};
use super::manner::{Arguments, Content, Manner, Requirement};
use super::seen::Seen;
use super::words;
use crate::front::Front;
use crate::program::Program;
use crate::tokenizer::Tokenizer;

/// A template under examination, behind a front.
pub struct Prober<'t> {
    program: Rc<Program<'t>>,
    /// What it and others are asked.
    inputs: &'t Inputs,
    /// What the template made of conversations, behind this front or another.
    renders: Rc<RefCell<Renders>>,
    tokenizer: Option<&'t Tokenizer>,
    front: Front,
    manner: Manner,
    seen: RefCell<HashMap<Put, Rc<Seen>>>,
    /// What it made of conversations that are no probes of the catalogue.
    asked: RefCell<Vec<Rc<Seen>>>,
    /// The template's source without its comments, since it was first asked for.
    source: OnceCell<String>,
    /// Probes that went beyond the limits, and the limit that the last of them met.
    exceeded: Cell<(usize, Option<Limit>)>,
}

/// Probes beyond the limits after which a template is not asked any more.
const MOST_EXCEEDED: usize = 5;

/// Bytes of a prompt that a probe may give. The conversations of probes are short, and the
/// prompts are kept.
const LARGEST_PROMPT: usize = 256 << 10;

/// What came of renders, and as what each was put first.
type Renders = HashMap<Render, (Put, Rc<Seen>)>;

/// What decides over a render: templates are asked for each once, however many probes are the
/// same to them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Render {
    /// The number of the conversation.
    number: usize,
    /// Whether the front takes another of the model's templates.
    is_of_other: bool,
    /// Whether it is there once more, to be compared with the first.
    is_again: bool,
}

impl<'t> Prober<'t> {
    /// Loads a template and finds out how it wants to be asked by users of its front.
    pub fn new(engine: &'t dyn Engine, template: &'t Template, inputs: &'t Inputs) -> Prober<'t> {
        Prober {
            program: Rc::new(Program::load(engine, template)),
            inputs,
            renders: Rc::default(),
            tokenizer: None,
            front: Front::of(template),
            manner: Manner::PLAIN,
            seen: RefCell::default(),
            asked: RefCell::default(),
            source: OnceCell::new(),
            exceeded: Cell::default(),
        }
        .finding_its_manner()
    }

    /// The same template as those find it who have no application before it.
    #[must_use]
    pub fn alone(&'t self) -> Prober<'t> {
        Prober {
            program: Rc::clone(&self.program),
            inputs: self.inputs,
            renders: Rc::clone(&self.renders),
            tokenizer: None,
            front: Front::Raw,
            manner: Manner::PLAIN,
            seen: RefCell::default(),
            asked: RefCell::default(),
            source: OnceCell::new(),
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

    /// Its source, the comments left out.
    pub fn source_without_comments(&self) -> &str {
        self.source
            .get_or_init(|| without_comments(self.template()))
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
        let put = Put {
            probe: probe.name,
            manner,
            is_later,
        };
        if let Some(seen) = self.seen.borrow().get(&put) {
            return Rc::clone(seen);
        }
        let seen = self.look(probe, put, false);
        self.seen.borrow_mut().insert(put, Rc::clone(&seen));
        seen
    }

    /// What the template makes of a probe, as it was rendered before if it was, or once more.
    fn look(&self, probe: Probe, put: Put, is_again: bool) -> Rc<Seen> {
        let input = self.inputs.of(put, probe, self.front, &self.program.model);
        let Some(render) = self.render_of(&input, is_again) else {
            return self.look_with(&self.program, probe, &input);
        };
        let known = self.renders.borrow().get(&render).cloned();
        match known {
            Some((as_what, known)) if as_what == put => known,
            Some((_, known)) => {
                let (asked, outcome) = (Arc::clone(&input.asked), known.outcome.clone());
                Rc::new(Seen::new(probe.name, probe.about, asked, outcome))
            }
            None => {
                let seen = self.look_with(&self.program, probe, &input);
                let mut renders = self.renders.borrow_mut();
                renders.insert(render, (put, Rc::clone(&seen)));
                seen
            }
        }
    }

    /// What a program makes of a probe now.
    fn look_with(&self, program: &Program<'_>, probe: Probe, input: &Input) -> Rc<Seen> {
        let outcome = self.render(program, input);
        let asked = Arc::clone(&input.asked);
        Rc::new(Seen::new(probe.name, probe.about, asked, outcome))
    }

    /// What decides over the render of an input. An engine that is an application itself is given
    /// something else than templates see.
    fn render_of(&self, input: &Input, is_again: bool) -> Option<Render> {
        let number = input.number.filter(|_| !self.program.has_fronts())?;
        Some(Render {
            number,
            is_of_other: self.front.chooses_other(self.template(), &input.asked),
            is_again,
        })
    }

    /// How a probe is put to the template, if nothing else is said.
    fn usual(&self, probe: Probe) -> Put {
        Put {
            probe: probe.name,
            manner: self.manner,
            is_later: false,
        }
    }

    /// What the template makes of a probe if it is asked once more.
    pub fn see_again(&self, probe: Probe) -> Rc<Seen> {
        self.look(probe, self.usual(probe), true)
    }

    /// What the template makes of a probe for a caller who does not define a variable, such as
    /// `tools`. None where the engine always defines it.
    pub fn see_without(&self, probe: Probe, variable: &'static str) -> Option<Rc<Seen>> {
        let (put, model) = (self.usual(probe), &self.program.model);
        let input = self.inputs.of(put, probe, self.front, model);
        let rendered = || {
            let (prepared, seen) = (&input.prepared, &input.seen);
            let program = &self.program;
            let outcome = program.outcome_without(variable, self.front, prepared, seen)?;
            Some(self.counted(outcome))
        };
        let outcome = self.spent().or_else(rendered)?;
        let asked = Arc::clone(&input.asked);
        let seen = Seen::new(probe.name, probe.about, asked, outcome);
        Some(Rc::new(seen))
    }

    /// What the template makes of a conversation of one's own.
    pub fn ask(&self, name: &'static str, about: &'static str, case: Case) -> Rc<Seen> {
        let case = self.manner.complete(case);
        let input = Input::new(case, self.front, &self.program.model);
        let outcome = self.render(&self.program, &input);
        let seen = Rc::new(Seen::new(name, about, input.asked, outcome));
        self.asked.borrow_mut().push(Rc::clone(&seen));
        seen
    }

    /// What the template made of every conversation so far that was put in its own manner.
    pub fn asked(&self) -> Vec<Rc<Seen>> {
        let seen = self.seen.borrow();
        let usual = seen
            .iter()
            .filter(|(put, _)| put.manner == self.manner && !put.is_later)
            .map(|(_, seen)| Rc::clone(seen));
        usual.chain(self.asked.borrow().iter().cloned()).collect()
    }

    /// The prompt of a probe with what the template marks as the model's own text.
    pub fn track(&self, probe: Probe) -> Option<Tracked> {
        if self.see(probe).is_out_of_limits() {
            return None;
        }
        let (put, model) = (self.usual(probe), &self.program.model);
        let input = self.inputs.of(put, probe, self.front, model);
        self.program.tracked(self.front, &input.seen)
    }

    /// What a template with another source, but the same tokens and variables, makes of
    /// probes. A source that is the same to the engine is not asked again.
    pub fn with_source(&self, source: &str, probes: &[Probe]) -> Vec<Rc<Seen>> {
        let own = self.template();
        if self.program.engine.reads_alike(source, &own.source) {
            return probes.iter().map(|probe| self.see(*probe)).collect();
        }
        let template = Template {
            source: source.to_owned(),
            ..own.clone()
        };
        let program = Program::load(self.program.engine, &template);
        let look = |probe: &Probe| {
            let (put, model) = (self.usual(*probe), &program.model);
            let input = self.inputs.of(put, *probe, self.front, model);
            self.look_with(&program, *probe, &input)
        };
        probes.iter().map(look).collect()
    }

    /// What a program makes of an input.
    fn render(&self, program: &Program<'_>, input: &Input) -> Outcome {
        self.spent().unwrap_or_else(|| {
            let (prepared, written, seen) = (&input.prepared, &input.written, &input.seen);
            self.counted(program.outcome(self.front, prepared, written, seen))
        })
    }

    /// What every probe gives after too many went beyond the limits: each more would take as
    /// long.
    fn spent(&self) -> Option<Outcome> {
        match self.exceeded.get() {
            (MOST_EXCEEDED.., Some(limit)) => Some(Outcome::Exceeded { limit }),
            _ => None,
        }
    }

    /// An outcome within the limits of probes, or that it is not; those are counted.
    fn counted(&self, outcome: Outcome) -> Outcome {
        let outcome = match outcome {
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

    /// Whether the engine cannot read the template.
    pub fn is_unread(&self) -> bool {
        self.program.alone().refusal().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::Engines;
    use crate::probe::catalogue::{MISSING_ANSWER, NULL_ANSWER, SYSTEM_USER, TOOLS, TWO_USERS};
    use crate::probe::counting::Counting;

    #[test]
    fn a_template_without_measure_is_not_asked_for_long() {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja).unwrap();
        let limit = |source: &str, probes: &[Probe]| {
            let template = Template::from_source("t", Dialect::Jinja, source);
            let inputs = Inputs::default();
            let prober = Prober::new(engine, &template, &inputs);
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

    #[test]
    fn a_conversation_is_rendered_once_whatever_it_is_called() {
        let template = Template::from_source("t", Dialect::Jinja, "");
        let (engine, inputs) = (Counting::default(), Inputs::default());
        let prober = Prober::new(&engine, &template, &inputs);
        let begun = engine.renders();
        let since = || engine.renders() - begun;
        // transformers drops what is null.
        let (null, missing) = (prober.see(NULL_ANSWER), prober.see(MISSING_ANSWER));
        assert_eq!(
            (null.probe, missing.probe),
            (NULL_ANSWER.name, MISSING_ANSWER.name)
        );
        assert_eq!((&null.outcome, since()), (&missing.outcome, 1));
        assert_ne!(null.asked.messages, missing.asked.messages);
        // Alone a template is given it.
        let alone = prober.alone();
        assert_eq!(
            (
                alone.see(MISSING_ANSWER).outcome == missing.outcome,
                since()
            ),
            (true, 1)
        );
        assert_eq!(
            (alone.see(NULL_ANSWER).outcome == null.outcome, since()),
            (false, 2)
        );
        // Once more is once more, and another day another day.
        assert_eq!(
            (
                prober.see_again(MISSING_ANSWER).outcome == missing.outcome,
                since()
            ),
            (true, 3)
        );
        prober.see_later(MISSING_ANSWER);
        assert_eq!(since(), 4);
    }

    #[test]
    fn what_is_asked_is_written_down_once_for_all_templates() {
        let (engine, inputs) = (Counting::default(), Inputs::default());
        let asked = ["one", "other"].map(|source| {
            let template = Template::from_source("t", Dialect::Jinja, source);
            Arc::clone(&Prober::new(&engine, &template, &inputs).see(TOOLS).asked)
        });
        assert!(Arc::ptr_eq(&asked[0], &asked[1]));
    }
}
