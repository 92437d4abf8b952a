//! Asks one question after another until there is enough, on all cores.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rolecall_model::guard::STACK;
use rolecall_model::{Case, Dialect, Template};

use crate::cause::{Cause, Shape, construct};
use crate::examination::{Difference, Examiner, Finding};
use crate::known::Known;
use crate::material::Material;
use crate::question::Question;
use crate::reduction::{Reduced, Reduction};

/// Differences of one shape that are made smaller. Where there are more, they are counted.
const MOST_OF_A_SHAPE: usize = 60;

/// Examples of one cause that are kept.
const MOST_EXAMPLES: usize = 3;

/// How long to go on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extent {
    /// So long.
    Time(Duration),
    /// With the questions of these numbers.
    Questions(u64, u64),
}

/// What is asked.
pub(crate) struct Campaign<'c> {
    pub(crate) dialect: Dialect,
    pub(crate) seed: u64,
    pub(crate) extent: Extent,
    pub(crate) jobs: usize,
    pub(crate) material: &'c Material,
    pub(crate) examiner: &'c Examiner<'c>,
    pub(crate) known: &'c Known,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) templates: u64,
    pub(crate) pairs: u64,
    /// Templates that gave a prompt with some conversation.
    pub(crate) rendered: u64,
    pub(crate) exceeded: u64,
    /// Pairs to which the reference gave no answer, with the first reason.
    pub(crate) unanswered: u64,
    pub(crate) why_unanswered: Option<String>,
    /// Templates about which the two differ.
    pub(crate) differing: u64,
    /// Known differences, by reason.
    pub(crate) known: BTreeMap<&'static str, u64>,
    /// The others, by cause.
    pub(crate) causes: BTreeMap<Cause, Group>,
    /// Differences that were counted only, by shape.
    pub(crate) uncounted: BTreeMap<Shape, usize>,
    pub(crate) time: Duration,
}

/// Differences with one cause.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) count: u64,
    /// The smallest ones, each of another construct.
    pub(crate) examples: Vec<Example>,
}

/// A template and a conversation for which the two differ.
#[derive(Debug)]
pub(crate) struct Example {
    /// The number of the question that it comes from.
    pub(crate) number: u64,
    /// What that was made from.
    pub(crate) origin: String,
    pub(crate) template: Template,
    pub(crate) case: Case,
    /// Whether the conversation is that of the language table.
    pub(crate) is_plain: bool,
    pub(crate) difference: Difference,
    construct: String,
}

/// What is shared by those who ask.
struct State {
    next: AtomicU64,
    tally: Mutex<Tally>,
    shapes: Mutex<BTreeMap<Shape, usize>>,
}

impl Campaign<'_> {
    /// Asks.
    pub(crate) fn run(&self) -> Tally {
        let begin = Instant::now();
        let first = match self.extent {
            Extent::Time(_) => 0,
            Extent::Questions(first, _) => first,
        };
        let state = State {
            next: AtomicU64::new(first),
            tally: Mutex::new(Tally::default()),
            shapes: Mutex::new(BTreeMap::new()),
        };
        thread::scope(|scope| {
            for _ in 0..self.jobs {
                let worker = thread::Builder::new().stack_size(STACK);
                let spawned = worker.spawn_scoped(scope, || self.ask(&state, begin));
                // Without threads of its own it is asked here, as slowly as may be.
                if spawned.is_err() {
                    self.ask(&state, begin);
                }
            }
        });
        let mut tally = state
            .tally
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        tally.uncounted = state
            .shapes
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        tally.uncounted.retain(|_, count| *count > MOST_OF_A_SHAPE);
        tally.time = begin.elapsed();
        tally
    }

    fn ask(&self, state: &State, begin: Instant) {
        loop {
            let number = state.next.fetch_add(1, Ordering::Relaxed);
            let is_enough = match self.extent {
                Extent::Time(time) => begin.elapsed() >= time,
                Extent::Questions(_, end) => number >= end,
            };
            if is_enough {
                return;
            }
            self.examine(
                state,
                &Question::of(self.material, self.dialect, self.seed, number),
            );
        }
    }

    fn examine(&self, state: &State, question: &Question) {
        let examined = self.examiner.load(&question.template);
        let cases = if examined.is_refused() {
            0..1
        } else {
            0..question.cases.len()
        };
        let mut differing = None;
        let mut sum = Tally {
            templates: 1,
            ..Tally::default()
        };
        for case in question
            .cases
            .get::<Range<usize>>(cases)
            .unwrap_or_default()
        {
            sum.pairs += 1;
            let found = examined.found(case);
            if matches!(found, rolecall_model::Outcome::Rendered { .. }) {
                sum.rendered = 1;
            }
            match examined.compare(case, found) {
                Finding::Agrees => {}
                Finding::Exceeded => sum.exceeded += 1,
                Finding::Unanswered(why) => {
                    sum.unanswered += 1;
                    sum.why_unanswered.get_or_insert(why);
                }
                Finding::Differs(difference) => {
                    // What differs once differs with other conversations for the same reason.
                    differing = Some((case, difference));
                    break;
                }
            }
        }
        sum.differing = u64::from(differing.is_some());
        state.lock().add(sum);
        if let Some((case, difference)) = differing {
            self.explain(state, question, case, *difference);
        }
    }

    /// Finds the cause of a difference.
    fn explain(&self, state: &State, question: &Question, case: &Case, difference: Difference) {
        let shape = Shape::of(&difference);
        {
            let mut shapes = state.shapes.lock().unwrap_or_else(PoisonError::into_inner);
            let count = shapes.entry(shape).or_default();
            *count += 1;
            if *count > MOST_OF_A_SHAPE {
                return;
            }
        }
        let begin = Reduced {
            template: question.template.clone(),
            case: case.clone(),
            difference,
        };
        let reduced = Reduction::run(
            self.examiner,
            self.known,
            begin,
            self.material.cases.first(),
        );
        if let Some(reason) = self
            .known
            .reason(&reduced.template.source, &reduced.difference)
        {
            *state.lock().known.entry(reason).or_default() += 1;
            return;
        }
        let construct = construct(&reduced.template.source, self.dialect);
        let group = Cause::of(&reduced.difference, &construct);
        let plain = self.material.cases.first();
        let example = Example {
            number: question.number,
            origin: question.origin.clone(),
            is_plain: plain.is_some_and(|plain| {
                (&plain.messages, &plain.tools, &plain.variables)
                    == (
                        &reduced.case.messages,
                        &reduced.case.tools,
                        &reduced.case.variables,
                    )
            }),
            template: reduced.template,
            case: reduced.case,
            difference: reduced.difference,
            construct,
        };
        let mut tally = state.lock();
        tally.causes.entry(group).or_default().add(example);
    }
}

impl State {
    fn lock(&self) -> std::sync::MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.templates += other.templates;
        self.pairs += other.pairs;
        self.rendered += other.rendered;
        self.exceeded += other.exceeded;
        self.unanswered += other.unanswered;
        self.why_unanswered = self.why_unanswered.take().or(other.why_unanswered);
        self.differing += other.differing;
    }

    /// Differences that nobody has explained.
    pub(crate) fn unknown(&self) -> u64 {
        self.causes.values().map(|group| group.count).sum()
    }
}

impl Group {
    fn add(&mut self, example: Example) {
        self.count += 1;
        let size = |example: &Example| (example.template.source.len(), example.number);
        let same = |other: &Example| other.construct == example.construct;
        match self.examples.iter().position(same) {
            Some(at) if size(&self.examples[at]) <= size(&example) => {}
            Some(at) => self.examples[at] = example,
            None => self.examples.push(example),
        }
        self.examples.sort_by_key(size);
        self.examples.truncate(MOST_EXAMPLES);
    }
}
