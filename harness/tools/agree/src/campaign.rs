//! Asks one question after another on all cores, for a time or up to a number.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rolecall_core::guard::STACK;
use rolecall_core::{Case, Dialect, Template};

use crate::cause::{DifferenceCause, DifferenceShape, construct};
use crate::examination::{Examination, Examiner, OutcomeDifference};
use crate::known_differences::KnownDifferences;
use crate::question::{Material, Question};
use crate::reduction::{Counterexample, Reduction};

/// The most differences of one shape that are reduced. Further ones are only counted.
const MOST_OF_A_SHAPE: usize = 60;

/// The most examples that are kept for one cause.
const MOST_EXAMPLES: usize = 3;

/// How long to go on.
#[derive(Debug, Clone, Copy)]
pub enum CampaignLength {
    Time(Duration),
    /// For the questions from the first number up to, but not including, the second.
    Questions(u64, u64),
}

pub struct Campaign<'c> {
    pub dialect: Dialect,
    /// The number that decides every question.
    pub seed: u64,
    /// How long to go on.
    pub extent: CampaignLength,
    /// How many questions are asked at a time.
    pub jobs: usize,
    pub material: &'c Material,
    /// The engine and the reference.
    pub examiner: &'c Examiner<'c>,
    pub known: &'c KnownDifferences,
}

#[derive(Debug, Default)]
pub struct CampaignTally {
    pub templates: u64,
    pub pairs: u64,
    /// Templates that rendered at least one conversation.
    pub rendered: u64,
    /// Pairs that exceeded a limit of the engine.
    pub exceeded: u64,
    /// Pairs that the reference did not answer.
    pub unanswered: u64,
    /// The first reason for such a pair.
    pub why_unanswered: Option<String>,
    /// Templates for which engine and reference differ.
    pub differing: u64,
    /// The known differences, by reason.
    pub known: BTreeMap<&'static str, u64>,
    pub causes: BTreeMap<DifferenceCause, CauseGroup>,
    /// Differences that were only counted, by shape.
    pub uncounted: BTreeMap<DifferenceShape, usize>,
    /// How long it took.
    pub time: Duration,
}

#[derive(Debug, Default)]
pub struct CauseGroup {
    /// How many there are.
    pub count: u64,
    /// The smallest ones, each with another construct.
    pub examples: Vec<CampaignExample>,
}

/// A template and a conversation for which engine and reference differ.
#[derive(Debug)]
pub struct CampaignExample {
    pub number: u64,
    /// The source of the question's template.
    pub origin: String,
    pub template: Template,
    pub case: Case,
    /// Whether the conversation is the first one of the material.
    pub is_plain: bool,
    pub difference: OutcomeDifference,
    construct: String,
}

/// The state that all threads share.
struct CampaignState {
    next: AtomicU64,
    tally: Mutex<CampaignTally>,
    shapes: Mutex<BTreeMap<DifferenceShape, usize>>,
}

impl Campaign<'_> {
    pub fn run(&self) -> CampaignTally {
        let begin = Instant::now();
        let first = match self.extent {
            CampaignLength::Time(_) => 0,
            CampaignLength::Questions(first, _) => first,
        };
        let state = CampaignState {
            next: AtomicU64::new(first),
            tally: Mutex::new(CampaignTally::default()),
            shapes: Mutex::new(BTreeMap::new()),
        };
        thread::scope(|scope| {
            for _ in 0..self.jobs {
                let worker = thread::Builder::new().stack_size(STACK);
                let spawned = worker.spawn_scoped(scope, || self.ask(&state, begin));
                // If a thread does not start, this thread does its work, slowly.
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

    fn ask(&self, state: &CampaignState, begin: Instant) {
        loop {
            let number = state.next.fetch_add(1, Ordering::Relaxed);
            let is_enough = match self.extent {
                CampaignLength::Time(time) => begin.elapsed() >= time,
                CampaignLength::Questions(_, end) => number >= end,
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

    fn examine(&self, state: &CampaignState, question: &Question) {
        let examined = self.examiner.load(&question.template);
        let cases = if examined.is_refused() {
            0..1
        } else {
            0..question.cases.len()
        };
        let mut differing = None;
        let mut sum = CampaignTally {
            templates: 1,
            ..CampaignTally::default()
        };
        for case in question
            .cases
            .get::<Range<usize>>(cases)
            .unwrap_or_default()
        {
            sum.pairs += 1;
            let found = examined.found(case);
            if matches!(found, rolecall_core::Outcome::Rendered { .. }) {
                sum.rendered = 1;
            }
            match examined.compare(case, found) {
                Examination::Agrees => {}
                Examination::Exceeded => sum.exceeded += 1,
                Examination::Unanswered(why) => {
                    sum.unanswered += 1;
                    sum.why_unanswered.get_or_insert(why);
                }
                Examination::Differs(difference) => {
                    // One difference is enough: other conversations would differ for the same
                    // reason.
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
    fn explain(
        &self,
        state: &CampaignState,
        question: &Question,
        case: &Case,
        difference: OutcomeDifference,
    ) {
        let shape = DifferenceShape::of(&difference);
        {
            let mut shapes = state.shapes.lock().unwrap_or_else(PoisonError::into_inner);
            let count = shapes.entry(shape).or_default();
            *count += 1;
            if *count > MOST_OF_A_SHAPE {
                return;
            }
        }
        let begin = Counterexample {
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
        let group = DifferenceCause::of(&reduced.difference, &construct);
        let plain = self.material.cases.first();
        let example = CampaignExample {
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

impl CampaignState {
    fn lock(&self) -> std::sync::MutexGuard<'_, CampaignTally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CampaignTally {
    fn add(&mut self, other: CampaignTally) {
        self.templates += other.templates;
        self.pairs += other.pairs;
        self.rendered += other.rendered;
        self.exceeded += other.exceeded;
        self.unanswered += other.unanswered;
        self.why_unanswered = self.why_unanswered.take().or(other.why_unanswered);
        self.differing += other.differing;
    }

    /// Differences that nobody has explained.
    pub fn unknown(&self) -> u64 {
        self.causes.values().map(|group| group.count).sum()
    }
}

impl CauseGroup {
    fn add(&mut self, example: CampaignExample) {
        self.count += 1;
        let size = |example: &CampaignExample| (example.template.source.len(), example.number);
        let same = |other: &CampaignExample| other.construct == example.construct;
        match self.examples.iter().position(same) {
            Some(at) if size(&self.examples[at]) <= size(&example) => {}
            Some(at) => self.examples[at] = example,
            None => self.examples.push(example),
        }
        self.examples.sort_by_key(size);
        self.examples.truncate(MOST_EXAMPLES);
    }
}
