//! Fingerprints: finds out what a server makes of conversations from nothing but its counts of tokens.
//!
//! A hosted server shows no prompt, but `usage.prompt_tokens` says how long it was. For each *way* to make
//! a prompt of a conversation (a template, an application, changes of the request) this module counts the
//! tokens itself. It asks the server about conversations for which the ways differ in their counts. So each
//! answer excludes some ways.

mod question;

mod way;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;
use rolecall_core::{CONTENT, Case, Engine, Template};
use rolecall_front::front::Front;
use rolecall_front::program::FrontProgram;

use crate::tokenizer::Tokenizer;

pub use question::Question;
use question::questions;
use way::{Counter, bases, steps};
pub use way::{Mistake, Place, Step, Unknown, Way};

/// The most tokens of a conversation that is sent, as the expected way counts them.
const LONGEST: u64 = 1500;

/// So many requests have to contradict a way before it is excluded for good.
const ENOUGH: usize = 3;

/// So many conversations are counted even if all other ways are excluded: a server may have a defect that
/// is none of the known ones.
const LEAST: usize = 20;

/// After so many refusals of one kind of conversation without a count, this kind is not sent any more.
const MOST_REFUSALS: usize = 2;

/// How much less likely a way becomes with each request that contradicts it.
const DOUBT: f64 = 0.25;

/// To so many combinations of two changes a third one is added.
const BEAM: usize = 8;

/// With so many counts the first search for a combination begins, if nothing known explains them. So there
/// are requests left to test what it finds.
const EARLY: usize = 10;

/// With so many more counts the search begins again, if they contradict everything that was found.
const AGAIN: usize = 4;

/// With so many counts all combinations are compared first. Those that were asked first differ most.
const SIEVE: usize = 6;

/// So many combinations are compared at once.
const PORTION: usize = 512;

/// The most work of all searches together: see [`Counter::work`]. It takes about three seconds of a processor
/// of 2024, in an optimised build.
const MOST_WORK: usize = 480 << 20;

/// After so many requests an earlier one is repeated. An even number of servers that take turns would all be
/// asked the same if each of them got the same requests twice.
const SPREAD: usize = 5;

/// How many requests are repeated while others are sent.
const MOST_REPEATED: usize = 3;

/// Kinds of conversations. A server may take or change only some kinds: those with tools, with calls,
/// with a variable that is on or off, with parts of texts, with other messages than questions, with a system
/// message, with two messages of one role in a row that are no results, with many messages.
const KINDS: [fn(&Case) -> bool; 9] = [
    |case| case.tools.is_some(),
    |case| case.messages.iter().any(|one| one["tool_calls"].is_array()),
    |case| case.variables.values().any(|value| *value == true),
    |case| case.variables.values().any(|value| *value == false),
    |case| case.messages.iter().any(|one| one[CONTENT].is_array()),
    |case| case.messages.iter().any(|one| one["role"] != "user"),
    |case| case.messages.iter().any(|one| one["role"] == "system"),
    |case| {
        let next = case.messages.iter().skip(1);
        let mut neighbours = case.messages.iter().zip(next);
        neighbours.any(|(one, next)| one["role"] == next["role"] && one["role"] != "tool")
    },
    |case| case.messages.len() > 8,
];

/// What a server says of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The count of the prompt's tokens.
    Counted(u64),
    /// It refuses the conversation, with these words.
    Refused(String),
    /// It fails, with these words: its status is 500 or above.
    Failed(String),
}

/// The ways that have the same count for each question.
struct Class {
    /// The simplest one is the first.
    ways: Vec<Way>,
    counts: Vec<Option<u64>>,
    /// How many counts there were when it was found: they do not test it.
    since: usize,
}

/// A server's counts so far, and the ways that may have made them.
pub struct Fingerprint<'t> {
    counter: Counter<'t>,
    /// The ways from which the search begins.
    bases: Vec<Way>,
    /// The changes that may come to each template through each front.
    steps: HashMap<(usize, Front), Vec<Step>>,
    questions: Vec<Question>,
    /// The class of the expected way is the first.
    classes: Vec<Class>,
    answers: Vec<(usize, Answer)>,
    /// The second answers to questions.
    again: Vec<(usize, Answer)>,
    /// How many counts there were when combinations were last looked for.
    searched: usize,
    /// No search goes on once the counter has done so much work.
    most_work: usize,
}

/// The explanation of a server's counts that contradicts the fewest of them.
#[derive(Debug)]
pub struct Explanation {
    /// The simplest way, and others with the same counts for all questions that were asked.
    pub ways: Vec<Way>,
    /// What it makes of each question.
    pub counts: Vec<Option<u64>>,
    /// The answers that contradict it: their indices.
    pub contradicted: Vec<usize>,
}

/// What a server's counts say.
#[derive(Debug)]
pub struct Conclusion {
    pub best: Explanation,
    /// What the expected way makes of it. Without a named application, it is the one that fits best of those
    /// in which right servers differ.
    pub expected: Explanation,
    /// The simplest way that fits next, with the answers that contradict it.
    pub next: Option<Explanation>,
    /// Whether the expected way explains everything.
    pub is_expected: bool,
    /// The server says the same count for conversations of different lengths.
    pub is_constant: bool,
}

#[allow(clippy::indexing_slicing)] // Questions and classes are numbers in these lists. Each class has a way.
impl<'t> Fingerprint<'t> {
    /// Counts what the known ways make of the conversations that may be sent. The first template with the
    /// front is what the user expects.
    ///
    /// # Errors
    ///
    /// That gives no prompt for any conversation, or the tokenizer fails.
    pub fn new(
        engine: &'t dyn Engine,
        templates: &'t [Template],
        tokenizer: &'t Tokenizer,
        front: Front,
    ) -> Result<Fingerprint<'t>, String> {
        let Some(first) = templates.first() else {
            return Err("there is no template".to_owned());
        };
        let programs = templates.iter();
        let programs = programs.map(|one| FrontProgram::load(engine, one));
        let mut counter = Counter::new(programs.collect(), tokenizer);
        let bases = bases(&counter.programs, front);
        let mut questions = questions(&counter.programs);
        let counts = counter.counts(
            bases.get(..1).unwrap_or_default(),
            &questions.iter().collect::<Vec<_>>(),
        );
        let mut counts = counts.iter().flatten();
        questions.retain(|_| {
            let count = counts.next().copied().flatten();
            count.is_some_and(|count| count <= LONGEST)
        });
        let steps: HashMap<(usize, Front), Vec<Step>> = bases
            .par_iter()
            .filter(|way| way.steps.is_empty())
            .map(|way| {
                let program = &counter.programs[way.template];
                let steps = steps(program, way.front, &questions);
                ((way.template, way.front), steps)
            })
            .collect();
        let changed = bases.iter().flat_map(|way| {
            let steps = steps[&(way.template, way.front)].iter();
            steps.map(|step| way.with(*step))
        });
        let ways: Vec<Way> = bases.iter().cloned().chain(changed).collect();
        let mut fingerprint = Fingerprint {
            counter,
            bases,
            steps,
            questions,
            classes: Vec::new(),
            answers: Vec::new(),
            again: Vec::new(),
            searched: 0,
            most_work: usize::MAX,
        };
        let all = fingerprint
            .counter
            .counts(&ways, &fingerprint.questions.iter().collect::<Vec<_>>());
        fingerprint.know(ways.into_iter().zip(all));
        fingerprint.most_work = fingerprint.counter.work + MOST_WORK;
        fingerprint.counter.check()?;
        if fingerprint.questions.is_empty() {
            return Err(format!(
                "{} makes no prompt of any conversation through the front {front}",
                first.name
            ));
        }
        Ok(fingerprint)
    }

    /// Adds ways to the classes.
    fn know(&mut self, ways: impl Iterator<Item = (Way, Vec<Option<u64>>)>) {
        let since = self.counted().count();
        let classes = self.classes.iter().enumerate();
        let mut places: HashMap<Vec<Option<u64>>, usize> = classes
            .map(|(place, class)| (class.counts.clone(), place))
            .collect();
        for (way, counts) in ways {
            let place = *places.entry(counts).or_insert_with_key(|counts| {
                let counts = counts.clone();
                self.classes.push(Class {
                    ways: Vec::new(),
                    counts,
                    since,
                });
                self.classes.len() - 1
            });
            self.classes[place].ways.push(way);
        }
    }

    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The answers so far, in order, each with the index of its question.
    pub fn answers(&self) -> &[(usize, Answer)] {
        &self.answers
    }

    /// The question to which the server has given two answers, with the counts.
    pub fn unsteady(&self) -> Option<(usize, u64, u64)> {
        self.again.iter().find_map(|(question, again)| {
            let mut counted = self.counted();
            let (_, first) = counted.find(|(asked, _)| asked == question)?;
            match again {
                Answer::Counted(again) if *again != first => Some((*question, first, *again)),
                _ => None,
            }
        })
    }

    /// The most tokens that so many questions have, by any of the known ways.
    pub fn most_tokens(&self, requests: usize) -> u64 {
        let mut most: Vec<u64> = (0..self.questions.len())
            .map(|question| {
                let counts = self.classes.iter().map(|class| class.counts[question]);
                counts.flatten().max().unwrap_or_default()
            })
            .collect();
        most.sort_unstable_by(|one, other| other.cmp(one));
        // The requests that are repeated may be the longest ones.
        most.extend_from_within(..MOST_REPEATED.min(most.len()));
        most.sort_unstable_by(|one, other| other.cmp(one));
        most.iter().take(requests).sum()
    }

    /// How many different ways are distinguished.
    pub fn ways(&self) -> usize {
        self.classes.len()
    }

    /// Adds the answer to a question, if there is a question with this number.
    pub fn add(&mut self, question: usize, answer: Answer) {
        if question >= self.questions.len() {
            return;
        }
        let answers = if self.is_asked(question) {
            &mut self.again
        } else {
            &mut self.answers
        };
        answers.push((question, answer));
    }

    fn is_asked(&self, question: usize) -> bool {
        self.answers.iter().any(|(asked, _)| *asked == question)
    }

    /// The question that says most about the ways which are not excluded yet, or one that was asked before,
    /// to see whether its count is the same. None if enough is known, or if nothing known explains the
    /// answers.
    pub fn next_question(&mut self) -> Option<usize> {
        if self.unsteady().is_some() {
            return None;
        }
        let sent = self.answers.len() + self.again.len();
        let repeated = self.again.len();
        if sent >= SPREAD * (repeated + 1)
            && repeated < MOST_REPEATED
            && let Some((question, _)) = self.counted().nth(repeated)
        {
            return Some(question);
        }
        self.search();
        self.chosen()
    }

    /// Whether the answers do not test enough what explains them: `was_stopped` says that more would have been
    /// asked.
    pub fn is_open(&self, was_stopped: bool) -> bool {
        let (_, lead) = self.lead();
        let is_little = self.counted().count() < self.enough(lead);
        (was_stopped || is_little) && self.chosen().is_some()
    }

    /// The fewest answers that contradict a class, and the first such class.
    fn lead(&self) -> (usize, usize) {
        let classes = self.classes.iter().enumerate();
        let mistakes =
            classes.map(|(place, class)| (self.contradicted(&class.counts).len(), place));
        mistakes.min().unwrap_or_default()
    }

    /// So many conversations have to be counted before a class is the explanation.
    fn enough(&self, class: usize) -> usize {
        LEAST.max(self.classes[class].since + ENOUGH)
    }

    /// The question that says most about the ways which are not excluded yet.
    fn chosen(&self) -> Option<usize> {
        let mistakes: Vec<usize> = self
            .classes
            .iter()
            .map(|class| self.contradicted(&class.counts).len())
            .collect();
        let (least, lead) = self.lead();
        let enough = self.enough(lead);
        let lead = &self.classes[lead].counts;
        let open: Vec<usize> = (0..self.questions.len())
            .filter(|question| !self.is_asked(*question))
            .filter(|question| {
                let mut fit = self.classes.iter().zip(&mistakes);
                fit.any(|(class, count)| *count == least && class.counts[*question].is_some())
            })
            .filter(|question| self.is_taken(&self.questions[*question].case))
            .collect();
        let counted = self.counted().count();
        if counted == 0 && self.answers.len() > MOST_REFUSALS {
            return None;
        }
        let is_excluded = |(class, count): (&Class, &usize)| {
            let mut told = open
                .iter()
                .map(|question| class.counts[*question] != lead[*question]);
            *count >= ENOUGH || !told.any(|is_told| is_told)
        };
        let is_known = self.classes.iter().zip(&mistakes).all(is_excluded);
        if counted >= enough && (is_known || 2 * least > counted) {
            let is_new = |question: &usize| self.is_of_new_kind(&self.questions[*question].case);
            return open.into_iter().find(is_new);
        }
        let weights: Vec<f64> = mistakes
            .iter()
            .map(|count| DOUBT.powi(i32::try_from(count - least).unwrap_or(i32::MAX)))
            .collect();
        // A server that has refused everything may take what is short.
        let is_refused = counted == 0 && !self.answers.is_empty();
        let told = open.into_iter().map(|question| {
            let told = if is_refused {
                0.0
            } else {
                self.told(question, &weights)
            };
            (told, Reverse(lead[question]), question)
        });
        let best = told.max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))?;
        Some(best.2)
    }

    /// Whether a conversation is of a kind that the server has not counted yet, or is not of one that all others
    /// are of: an explanation that was found late may hold for them alone.
    fn is_of_new_kind(&self, case: &Case) -> bool {
        KINDS.iter().any(|is_of| {
            let mut counted = self.counted();
            counted.all(|(question, _)| is_of(&self.questions[question].case) != is_of(case))
        })
    }

    /// Whether the server takes conversations like this one, as far as its refusals tell: with tools, with
    /// variables, with parts of texts, with other messages than questions.
    fn is_taken(&self, case: &Case) -> bool {
        KINDS.iter().filter(|is_of| is_of(case)).all(|is_of| {
            let answers = self.answers.iter();
            let like = answers.filter(|(question, _)| is_of(&self.questions[*question].case));
            let (mut refused, mut counted) = (0, 0);
            for (_, answer) in like {
                match answer {
                    Answer::Counted(_) => counted += 1,
                    Answer::Refused(_) | Answer::Failed(_) => refused += 1,
                }
            }
            counted > 0 || refused < MOST_REFUSALS
        })
    }

    /// How well a question distinguishes the ways: the share of the pairs of ways with different counts.
    fn told(&self, question: usize, weights: &[f64]) -> f64 {
        // In order, so that the same answers always lead to the same question.
        let mut by_count: BTreeMap<Option<u64>, f64> = BTreeMap::new();
        for (class, weight) in self.classes.iter().zip(weights) {
            *by_count.entry(class.counts[question]).or_default() += weight;
        }
        let whole: f64 = weights.iter().sum();
        let same: f64 = by_count.values().map(|weight| weight * weight).sum();
        1.0 - same / (whole * whole)
    }

    /// The answers that contradict the counts of a way. A refusal contradicts none: servers refuse more
    /// than templates do.
    fn contradicted(&self, counts: &[Option<u64>]) -> Vec<usize> {
        let answers = self.answers.iter().enumerate();
        let wrong = answers.filter(|(_, (question, answer))| match answer {
            Answer::Counted(count) => counts[*question] != Some(*count),
            Answer::Refused(_) | Answer::Failed(_) => false,
        });
        wrong.map(|(index, _)| index).collect()
    }

    /// The counts of the server, with their questions.
    fn counted(&self) -> impl Iterator<Item = (usize, u64)> {
        let answers = self.answers.iter();
        answers.filter_map(|(question, answer)| match answer {
            Answer::Counted(count) => Some((*question, *count)),
            Answer::Refused(_) | Answer::Failed(_) => None,
        })
    }

    /// What the answers say. None if there are no counts.
    ///
    /// # Errors
    ///
    /// The tokenizer fails.
    pub fn conclusion(&self) -> Result<Option<Conclusion>, String> {
        let conclusion = self.concluded();
        self.counter.check().map(|()| conclusion)
    }

    fn concluded(&self) -> Option<Conclusion> {
        let (first, _) = self.counted().next()?;
        let plain = &self.classes[0].ways[0];
        let is_right = |way: &Way| {
            let is_own = way.front == plain.front || way.front == Front::Raw;
            way.template == 0 && is_own && way.steps.iter().all(|step| step.is_choice())
        };
        let explained = |class: &Class| {
            let mut ways = class.ways.clone();
            // An expected way comes first, then the simplest one.
            ways.sort_by_key(|way| (!is_right(way), way.cost()));
            self.explanation(ways, class.counts.clone())
        };
        let mut all: Vec<Explanation> = self.classes.iter().map(explained).collect();
        all.sort_by_key(|one| {
            let way = &one.ways[0];
            (one.contradicted.len(), !is_right(way), way.cost())
        });
        let place = all.iter().position(|one| is_right(&one.ways[0]))?;
        let (ways, counts) = (all[place].ways[..1].to_vec(), all[place].counts.clone());
        let expected = self.explanation(ways, counts);
        let mut all = all.into_iter();
        let mut best = all.next()?;
        let asked = |one: &Explanation| -> Vec<Option<u64>> {
            let answers = self.answers.iter();
            answers.map(|(question, _)| one.counts[*question]).collect()
        };
        let own = asked(&best);
        let mut next = None;
        for one in all {
            if asked(&one) == own {
                best.ways.extend(one.ways);
            } else {
                next = next.or(Some(one));
            }
        }
        let simplest = best.ways[0].cost();
        let mut seen = HashSet::new();
        best.ways
            .retain(|way| way.cost() == simplest && seen.insert(way.names()));
        let counts: Vec<u64> = self.counted().map(|(_, count)| count).collect();
        // A combination of changes may happen to make the same count of all conversations that were asked.
        let is_constant = counts.len() > ENOUGH
            && counts.iter().all(|count| *count == counts[0])
            && self
                .counted()
                .any(|(question, _)| expected.counts[question] != expected.counts[first]);
        Some(Conclusion {
            is_expected: expected.contradicted.is_empty(),
            is_constant,
            expected,
            best,
            next,
        })
    }

    fn explanation(&self, ways: Vec<Way>, counts: Vec<Option<u64>>) -> Explanation {
        Explanation {
            contradicted: self.contradicted(&counts),
            ways,
            counts,
        }
    }

    /// Whether the search for combinations has ended before it had tried all.
    pub fn is_cut(&self) -> bool {
        self.counter.work >= self.most_work
    }

    /// Looks for combinations of changes, and for texts of unknown length, if the answers contradict every
    /// way. What is found is a way like the others then: the questions that are left test it.
    fn search(&mut self) {
        let counted = self.counted().count();
        let (least, _) = self.lead();
        let wanted = match self.searched {
            0 => EARLY,
            before => before + AGAIN,
        };
        if least == 0 || counted < wanted || self.is_cut() {
            return;
        }
        self.searched = counted;
        let asked: Vec<usize> = self.counted().map(|(question, _)| question).collect();
        let asked: Vec<&Question> = asked.iter().map(|one| &self.questions[*one]).collect();
        let of_bases = self.counter.counts(&self.bases, &asked);
        let (mut pairs, mut seen) = (Vec::new(), HashSet::new());
        for (base, own) in self.bases.iter().zip(&of_bases) {
            // Choices that made no difference are left out, and then the changes that would make none.
            if !seen.insert((
                base.template,
                base.front.is_served().then_some(base.front),
                own,
            )) {
                continue;
            }
            let alone: Vec<Way> = self.steps_of(base).map(|step| base.with(step)).collect();
            let counts = self.counter.counts(&alone, &asked);
            let felt = alone.iter().zip(&counts).filter_map(|(way, counts)| {
                let step = way.steps.last()?;
                let is_unknown = matches!(step, Step::Unknown(_));
                if is_unknown {
                    pairs.push(way.clone());
                }
                (is_unknown || counts != own).then_some(*step)
            });
            let felt: Vec<Step> = felt.collect();
            for (at, one) in felt.iter().enumerate() {
                let others = felt[at + 1..].iter().filter(|other| !one.excludes(**other));
                pairs.extend(others.map(|other| base.with(*one).with(*other)));
            }
        }
        let mut found = self.best_of(&pairs);
        let longer = found.iter().take(BEAM).map(|one| &one.ways[0]);
        let longer = longer.flat_map(|way| self.steps_of(way).map(|step| way.with(step)));
        let longer: Vec<Way> = longer.collect();
        found.extend(self.best_of(&longer));
        found.retain(|one| one.contradicted.len() < least);
        let ways: Vec<Way> = found.into_iter().flat_map(|one| one.ways).collect();
        let all = self
            .counter
            .counts(&ways, &self.questions.iter().collect::<Vec<_>>());
        let known = ways.into_iter().zip(all).map(|(mut way, mut counts)| {
            self.solve(&mut way, &mut counts);
            (way, counts)
        });
        let known: Vec<_> = known.collect();
        self.know(known.into_iter());
    }

    /// The steps that can be added to a way.
    fn steps_of(&self, way: &Way) -> impl Iterator<Item = Step> {
        let steps = self.steps[&(way.template, way.front)].iter().copied();
        let steps = steps.chain(Unknown::all());
        steps.filter(|step| !way.steps.iter().any(|own| own.excludes(*step)))
    }

    /// The ways that the fewest answers contradict. Those that do worse with a few answers are not compared
    /// with the others.
    fn best_of(&mut self, ways: &[Way]) -> Vec<Explanation> {
        let asked: Vec<usize> = self.counted().map(|(question, _)| question).collect();
        let sorted = |mut found: Vec<Explanation>| {
            found.sort_by_key(|one| (one.contradicted.len(), one.ways[0].cost()));
            found
        };
        let mut few = Vec::new();
        for portion in ways.chunks(PORTION) {
            few.extend(self.measured(portion.to_vec(), &asked[..SIEVE.min(asked.len())]));
        }
        let few = sorted(few).into_iter().take(PORTION);
        let few: Vec<Way> = few.flat_map(|one| one.ways).collect();
        let mut found = sorted(self.measured(few, &asked));
        let mut seen = HashSet::new();
        found.retain(|one| seen.insert(one.ways[0].names()));
        found.truncate(2 * BEAM);
        found
    }

    /// Ways with the unknown numbers that fit some questions best, and the answers to these that contradict
    /// them. None once the work is used up.
    fn measured(&mut self, ways: Vec<Way>, asked: &[usize]) -> Vec<Explanation> {
        if self.is_cut() {
            return Vec::new();
        }
        let questions: Vec<&Question> = asked.iter().map(|one| &self.questions[*one]).collect();
        let all = self.counter.counts(&ways, &questions);
        let explained = all.into_iter().zip(ways).filter_map(|(counted, mut way)| {
            for step in &mut way.steps {
                if let Step::Unknown(unknown) = step {
                    unknown.tokens = None;
                }
            }
            let mut counts = vec![None; self.questions.len()];
            for (question, count) in asked.iter().zip(counted) {
                counts[*question] = count;
            }
            self.solve(&mut way, &mut counts)?;
            let mut one = self.explanation(vec![way], counts);
            one.contradicted
                .retain(|index| asked.contains(&self.answers[*index].0));
            Some(one)
        });
        explained.collect()
    }

    /// Adds the tokens of an unknown text to what a way makes of questions; how many fits most of the answers,
    /// if that is not known yet. None if none fits.
    fn solve(&self, way: &mut Way, counts: &mut [Option<u64>]) -> Option<()> {
        let mut steps = way.steps.iter_mut();
        let unknown = steps.find_map(|step| match step {
            Step::Unknown(unknown) => Some(unknown),
            _ => None,
        });
        let Some(unknown) = unknown else {
            return Some(());
        };
        let written = match unknown.place {
            Place::Anywhere => 0,
            _ => self.counter.stand_in,
        };
        let concerns = |question: usize| unknown.concerns(&self.questions[question].case);
        let more = |is_beside: bool| {
            let mut tally: BTreeMap<i64, usize> = BTreeMap::new();
            for (question, count) in self.counted() {
                if let (Some(own), true) = (counts[question], concerns(question) == Some(is_beside))
                {
                    *tally
                        .entry(i64::try_from(count).ok()? - i64::try_from(own).ok()?)
                        .or_default() += 1;
                }
            }
            tally
                .into_iter()
                .max_by_key(|(_, often)| *often)
                .map(|(more, _)| more + written)
        };
        let tokens = if let Some(tokens) = unknown.tokens {
            tokens
        } else {
            let (alone, beside) = (more(false), more(true));
            [alone.or(beside)?, beside.or(alone)?]
        };
        for (question, count) in counts.iter_mut().enumerate() {
            if count.is_some()
                && let Some(is_beside) = concerns(question)
            {
                let more = tokens[usize::from(is_beside)] - written;
                *count = count.and_then(|count| count.checked_add_signed(more));
            }
        }
        unknown.tokens = Some(tokens);
        let is_text = tokens.iter().all(|tokens| *tokens > 0);
        (is_text || unknown.place == Place::Anywhere && tokens[0] != 0).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use rolecall_core::Dialect;
    use rolecall_jinja::JinjaEngine;

    use super::way::MISTAKES;
    use super::*;
    use crate::tokenizer::{Segmenter, TokenizerParts};

    /// Its tokens are bytes.
    struct Bytes;

    impl Segmenter for Bytes {
        fn segments(&self, text: &str) -> Result<Vec<(u32, Range<usize>)>, String> {
            let bytes = text.bytes().enumerate();
            Ok(bytes
                .map(|(at, byte)| (u32::from(byte), at..at + 1))
                .collect())
        }

        fn plain(&self, _: &str) -> Result<Vec<u32>, String> {
            Err("not needed".to_owned())
        }

        fn number(&self, _: &str) -> Option<u32> {
            None
        }
    }

    const SOURCE: &str = "{{ tools | tojson if tools else '' }}{% for m in messages %}<{{ m.role }}>\
        {{ m.reasoning_content or '' }}{{ m.content if m.content is string else m.content | length }}\
        {% for c in m.tool_calls or [] %}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}\
        {% if add_generation_prompt %}<assistant>{{ 'hm' if enable_thinking }}{% endif %}";

    /// Asks a server that counts in this way, and returns what is concluded with the sum of its counts.
    fn concluded(
        fingerprint: &mut Fingerprint<'_>,
        mut count: impl FnMut(&Question) -> Answer,
    ) -> (Conclusion, u64) {
        fingerprint.answers.clear();
        fingerprint.again.clear();
        fingerprint.searched = 0;
        fingerprint.most_work = fingerprint.counter.work + MOST_WORK / 8;
        let mut sum = 0;
        while fingerprint.answers.len() + fingerprint.again.len() < 40 {
            let Some(question) = fingerprint.next_question() else {
                break;
            };
            let answer = count(&fingerprint.questions[question]);
            if let Answer::Counted(count) = answer {
                sum += count;
            }
            fingerprint.add(question, answer);
        }
        (fingerprint.conclusion().unwrap().unwrap(), sum)
    }

    /// What a way makes of each question, by its name.
    fn named(fingerprint: &mut Fingerprint<'_>, way: &Way) -> HashMap<String, Option<u64>> {
        let questions = &fingerprint.questions;
        let counts = fingerprint.counter.counts(
            std::slice::from_ref(way),
            &questions.iter().collect::<Vec<_>>(),
        );
        let names = questions.iter().map(|one| one.name.clone());
        names.zip(counts.into_iter().flatten()).collect()
    }

    fn with_fingerprint(check: impl FnOnce(&mut Fingerprint<'_>)) {
        let templates = [Template::from_source("own", Dialect::Jinja, SOURCE)];
        let tokenizer = Tokenizer::from(TokenizerParts {
            segmenter: Box::new(Bytes),
            markers: Vec::new(),
            beginning: None,
            stops: None,
            count: 256,
        });
        let engine = JinjaEngine::default();
        let front = Front::Transformers;
        check(&mut Fingerprint::new(&engine, &templates, &tokenizer, front).unwrap());
    }

    #[test]
    fn each_known_way_is_found_with_few_requests() {
        with_fingerprint(|fingerprint| {
            let truths: Vec<Way> = fingerprint
                .classes
                .iter()
                .map(|class| class.ways[0].clone())
                .collect();
            assert!(truths.len() > 50, "{}", truths.len());
            let most = fingerprint.most_tokens(40);
            let mut refusing = 0;
            for (number, truth) in truths.iter().enumerate().step_by(7) {
                let counts = fingerprint.classes[number].counts.clone();
                let names: Vec<String> = fingerprint
                    .questions
                    .iter()
                    .map(|one| one.name.clone())
                    .collect();
                let (conclusion, sum) = concluded(fingerprint, |question| {
                    let place = names.iter().position(|name| *name == question.name);
                    match counts[place.unwrap()] {
                        Some(count) => Answer::Counted(count),
                        None => Answer::Refused("no".to_owned()),
                    }
                });
                let found = &conclusion.best;
                // A refusal excludes nothing, so this way may be taken for one that refuses other conversations.
                let mut both = counts.iter().zip(&found.counts);
                let refuses = both.any(|(own, found)| own.is_none() != found.is_none());
                let mut ways = found.ways.iter();
                // Of ways with the same counts only the simplest ones are named.
                let is_same = found.counts == counts;
                assert!(
                    refuses || is_same || ways.any(|way| way.names() == truth.names()),
                    "{truth:?} is taken for {:?}",
                    found.ways
                );
                refusing += usize::from(refuses);
                let is_choice = |way: &Way| {
                    let is_own = [Front::Transformers, Front::Raw].contains(&way.front);
                    is_own && way.steps.iter().all(|one| one.is_choice())
                };
                let is_expected = fingerprint.classes[number].ways.iter().any(is_choice);
                assert!(
                    refuses || conclusion.is_expected == is_expected,
                    "{truth:?}"
                );
                assert!(found.contradicted.is_empty());
                assert!(sum <= most && fingerprint.answers.len() <= 40, "{truth:?}");
            }
            assert!(refusing < truths.len() / 7 / 2, "{refusing}");
        });
    }

    /// The changes that explain a server which changes requests so, and how many counts contradict them.
    fn explained(
        fingerprint: &mut Fingerprint<'_>,
        front: Front,
        change: impl Fn(&mut Case),
        more: u64,
    ) -> (Vec<String>, usize) {
        let way = Way {
            template: 0,
            front,
            steps: Vec::new(),
        };
        let changed = fingerprint.questions.iter().map(|question| {
            let mut case = question.case.clone();
            change(&mut case);
            Question {
                name: question.name.clone(),
                case,
                number: question.number,
            }
        });
        let changed: Vec<Question> = changed.collect();
        let changed: Vec<&Question> = changed.iter().collect();
        // These questions are not those with the same numbers.
        fingerprint.counter.inputs.clear();
        let counts = fingerprint.counter.counts(&[way], &changed).remove(0);
        fingerprint.counter.inputs.clear();
        let names = fingerprint.questions.iter().map(|one| one.name.clone());
        let counts: HashMap<String, Option<u64>> = names.zip(counts).collect();
        let (conclusion, _) = concluded(fingerprint, |question| match counts[&question.name] {
            Some(count) => Answer::Counted(count + more),
            None => Answer::Refused("no".to_owned()),
        });
        let best = conclusion.best;
        let mut names: Vec<String> = best.ways[0].steps.iter().map(|step| step.name()).collect();
        names.sort();
        (names, best.contradicted.len())
    }

    #[test]
    fn two_changes_are_combined_even_if_neither_helps_alone() {
        with_fingerprint(|fingerprint| {
            for both in [
                ["the system is lost", "tools are hidden"],
                ["thinking is on", "tools are hidden"],
            ] {
                let mistakes = MISTAKES.iter().filter(|one| both.contains(&one.name));
                let steps: Vec<Step> = mistakes.map(Step::Mistake).collect();
                let way = Way {
                    template: 0,
                    front: Front::Vllm,
                    steps,
                };
                let counts = named(fingerprint, &way);
                let (conclusion, _) =
                    concluded(fingerprint, |question| match counts[&question.name] {
                        Some(count) => Answer::Counted(count),
                        None => Answer::Refused("no".to_owned()),
                    });
                let best = &conclusion.best;
                assert!(best.contradicted.is_empty());
                let mut ways = best.ways.iter();
                assert!(
                    ways.any(|found| found.names().2 == way.names().2),
                    "{:?}",
                    best.ways
                );
            }
        });
    }

    #[test]
    fn a_text_that_nobody_sent_is_found_wherever_it_is() {
        let text = "Our own words, and not a few of them.";
        let own = || serde_json::json!({"role": "system", "content": text});
        let is_system =
            |one: &serde_json::Value| one["role"] == "system" || one["role"] == "developer";
        let has_none = |case: &Case| !case.messages.iter().any(is_system);
        let if_none = |case: &mut Case| {
            if has_none(case) {
                case.messages.insert(0, own());
            }
        };
        let instead = |case: &mut Case| {
            case.messages.retain(|one| !is_system(one));
            case.messages.insert(0, own());
        };
        let before = |case: &mut Case| match case.messages.first_mut() {
            Some(first) if first["role"] == "system" && first["content"].is_string() => {
                let joined = format!("{text} {}", first["content"].as_str().unwrap());
                first["content"] = joined.into();
            }
            _ => case.messages.insert(0, own()),
        };
        let with_tools = |case: &mut Case| {
            if case.tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
                if_none(case);
            }
        };
        let hidden = format!("a hidden system text of {} tokens", text.len());
        with_fingerprint(|fingerprint| {
            let mut is = |change: &dyn Fn(&mut Case), more: u64, expected: String| {
                for front in [Front::Transformers, Front::Vllm] {
                    let found = explained(fingerprint, front, change, more);
                    assert_eq!(found, (vec![expected.clone()], 0), "{front}");
                }
            };
            is(
                &|_| (),
                33,
                "33 tokens more in each conversation".to_owned(),
            );
            let place = "in each conversation without a system message";
            is(&if_none, 0, format!("{hidden} {place}"));
            is(
                &instead,
                0,
                format!("{hidden} in each conversation, in the place of the given one"),
            );
            is(
                &before,
                0,
                format!("{hidden} in each conversation, before the given one"),
            );
            let place = place.replace("conversation", "conversation with tools");
            is(&with_tools, 0, format!("{hidden} {place}"));
        });
    }

    #[test]
    fn servers_that_take_turns_are_noticed() {
        with_fingerprint(|fingerprint| {
            let way = fingerprint.classes[0].ways[0].clone();
            let counts = named(fingerprint, &way);
            let mut turn = 0;
            concluded(fingerprint, |question| {
                turn += 1;
                match counts[&question.name] {
                    Some(count) => Answer::Counted(count + turn % 2),
                    None => Answer::Refused("no".to_owned()),
                }
            });
            assert!(fingerprint.unsteady().is_some() && turn <= 6, "{turn}");
        });
    }

    #[test]
    fn a_failure_is_no_refusal_and_what_was_not_asked_is_not_known() {
        with_fingerprint(|fingerprint| {
            fingerprint.add(fingerprint.questions.len(), Answer::Counted(1));
            assert!(fingerprint.answers.is_empty());
            let way = fingerprint.classes[0].ways[0].clone();
            let counts = named(fingerprint, &way);
            let (conclusion, _) = concluded(fingerprint, |question| match counts[&question.name] {
                Some(count) if question.case.tools.is_none() => Answer::Counted(count),
                _ => Answer::Failed("no".to_owned()),
            });
            assert!(conclusion.is_expected && !fingerprint.is_open(false));
            let failed = fingerprint.answers.iter();
            let failed = failed.filter(|(_, answer)| matches!(answer, Answer::Failed(_)));
            assert_eq!(failed.count(), MOST_REFUSALS);
            fingerprint.answers.truncate(6);
            assert!(fingerprint.is_open(false));
        });
    }

    #[test]
    fn what_a_server_refuses_is_not_sent_again() {
        with_fingerprint(|fingerprint| {
            let way = fingerprint.classes[0].ways[0].clone();
            let counts = named(fingerprint, &way);
            let (conclusion, _) = concluded(fingerprint, |question| {
                match counts[&question.name].filter(|_| question.case.tools.is_none()) {
                    Some(count) => Answer::Counted(count),
                    None => Answer::Refused("no tools here".to_owned()),
                }
            });
            let refused = fingerprint.answers.iter();
            let refused = refused.filter(|(_, answer)| matches!(answer, Answer::Refused(_)));
            assert_eq!(refused.count(), MOST_REFUSALS);
            assert!(conclusion.is_expected);
        });
    }

    #[test]
    fn a_constant_is_no_count() {
        with_fingerprint(|fingerprint| {
            let (conclusion, _) = concluded(fingerprint, |_| Answer::Counted(100));
            assert!(conclusion.is_constant && !conclusion.is_expected);
        });
    }
}
