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
use std::slice;

use rayon::prelude::*;
use rolecall_core::{CONTENT, Case, Engine, Template};
use rolecall_front::front::Front;
use rolecall_front::program::FrontProgram;

use crate::tokenizer::Tokenizer;

pub use question::Question;
use question::{cases, questions};
use way::{Counter, plain, steps};
pub use way::{Mistake, Step, Way};

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

/// The most changes that one explanation combines.
const MOST_CHANGES: usize = 3;

/// How many explanations the search for a combination goes on with.
const BEAM: usize = 8;

/// Kinds of conversations. A server may take or change only some kinds: those with tools, with
/// variables, with parts of texts, with other messages than questions, with a system message.
const KINDS: [fn(&Case) -> bool; 5] = [
    |case| case.tools.is_some(),
    |case| !case.variables.is_empty(),
    |case| case.messages.iter().any(|one| one[CONTENT].is_array()),
    |case| case.messages.iter().any(|one| one["role"] != "user"),
    |case| case.messages.iter().any(|one| one["role"] == "system"),
];

/// Tokens that are in prompts of a server, and in none of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surplus {
    /// How many there are; fewer than none if tokens are missing.
    pub tokens: i64,
    /// Whether only conversations without a system message have them.
    pub is_system: bool,
}

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
}

/// A server's counts so far, and the ways that may have made them.
pub struct Fingerprint<'t> {
    counter: Counter<'t>,
    /// The changes that may come to each template through each front.
    steps: HashMap<(usize, Front), Vec<Step>>,
    questions: Vec<Question>,
    /// The class of the expected way is the first.
    classes: Vec<Class>,
    answers: Vec<(usize, Answer)>,
}

/// The explanation of a server's counts that contradicts the fewest of them.
#[derive(Debug)]
pub struct Explanation {
    /// The simplest way, and others with the same counts for all questions that were asked.
    pub ways: Vec<Way>,
    pub surplus: Option<Surplus>,
    /// What it makes of each question.
    pub counts: Vec<Option<u64>>,
    /// The answers that contradict it: their indices.
    pub contradicted: Vec<usize>,
}

impl Explanation {
    /// How many changes it needs.
    fn cost(&self) -> usize {
        self.ways[0].steps.len() + usize::from(self.surplus.is_some())
    }
}

/// What a server's counts say.
#[derive(Debug)]
pub struct Conclusion {
    pub best: Explanation,
    /// What the expected way makes of it.
    pub expected: Explanation,
    /// The simplest way that fits next, with the answers that contradict it.
    pub next: Option<Explanation>,
    /// Whether the expected way explains everything.
    pub is_expected: bool,
    /// The server says the same count for conversations of different lengths.
    pub is_constant: bool,
}

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
        let programs = templates.iter();
        let programs = programs.map(|one| FrontProgram::load(engine, one));
        let counter = Counter::new(programs.collect(), tokenizer);
        let expected = Way {
            template: 0,
            front,
            steps: Vec::new(),
        };
        let mut questions = questions(&counter.programs);
        let counts = counter.counts(slice::from_ref(&expected), &cases(&questions));
        let mut counts = counts.iter().flatten();
        questions.retain(|_| {
            let count = counts.next().copied().flatten();
            count.is_some_and(|count| count <= LONGEST)
        });
        let plain = plain(&counter.programs, expected);
        let steps: HashMap<(usize, Front), Vec<Step>> = plain
            .par_iter()
            .map(|way| {
                let program = &counter.programs[way.template];
                let steps = steps(program, way.front, &questions);
                ((way.template, way.front), steps)
            })
            .collect();
        let changed = plain.iter().flat_map(|way| {
            let steps = steps[&(way.template, way.front)].iter();
            steps.map(|step| Way {
                steps: vec![*step],
                ..way.clone()
            })
        });
        let ways: Vec<Way> = plain.iter().cloned().chain(changed).collect();
        let all = counter.counts(&ways, &cases(&questions));
        let mut classes: Vec<Class> = Vec::new();
        let mut places = HashMap::new();
        for (counts, way) in all.into_iter().zip(ways) {
            let place = *places.entry(counts).or_insert_with_key(|counts| {
                let counts = counts.clone();
                classes.push(Class {
                    ways: Vec::new(),
                    counts,
                });
                classes.len() - 1
            });
            classes[place].ways.push(way);
        }
        let fingerprint = Fingerprint {
            counter,
            steps,
            questions,
            classes,
            answers: Vec::new(),
        };
        fingerprint.counter.check()?;
        if fingerprint.questions.is_empty() {
            let name = &templates[0].name;
            return Err(format!(
                "{name} makes no prompt of any conversation through the front {front}"
            ));
        }
        Ok(fingerprint)
    }

    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The answers so far, in order, each with the index of its question.
    pub fn answers(&self) -> &[(usize, Answer)] {
        &self.answers
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
        most.iter().take(requests).sum()
    }

    /// How many different ways are distinguished.
    pub fn ways(&self) -> usize {
        self.classes.len()
    }

    /// Adds the answer to a question.
    pub fn add(&mut self, question: usize, answer: Answer) {
        self.answers.push((question, answer));
    }

    /// The question that says most about the ways which are not excluded yet. None if enough is known, or
    /// if nothing known explains the answers.
    pub fn next(&self) -> Option<usize> {
        let mistakes: Vec<usize> = self
            .classes
            .iter()
            .map(|class| self.contradicted(&class.counts).len())
            .collect();
        let least = *mistakes.iter().min()?;
        let lead = mistakes.iter().position(|count| *count == least)?;
        let is_asked = |question| self.answers.iter().any(|(asked, _)| *asked == question);
        let lead = &self.classes[lead].counts;
        let open: Vec<usize> = (0..self.questions.len())
            .filter(|question| lead[*question].is_some() && !is_asked(*question))
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
        if counted >= LEAST && (is_known || 2 * least > counted) {
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
        let explained = |class: &Class| self.explanation(class.ways.clone(), class.counts.clone());
        let expected = explained(&self.classes[0]);
        let mut all: Vec<Explanation> = self.classes.iter().map(explained).collect();
        all.sort_by_key(|one| (one.contradicted.len(), one.cost()));
        let wrong = all[0].contradicted.len();
        if wrong > 0 && wrong < self.counted().count() {
            all.extend(self.combined(&all));
        }
        let surplus = all.iter().filter_map(|one| self.with_surplus(one));
        let surplus: Vec<Explanation> = surplus.collect();
        all.extend(surplus);
        all.sort_by_key(|one| (one.contradicted.len(), one.cost()));
        let mut all = all.into_iter();
        let mut best = all.next()?;
        let asked = |one: &Explanation| -> Vec<Option<u64>> {
            let answers = self.answers.iter();
            answers.map(|(question, _)| one.counts[*question]).collect()
        };
        let own = asked(&best);
        let mut next = None;
        for one in all {
            if asked(&one) != own {
                next = next.or(Some(one));
            } else if one.surplus == best.surplus {
                best.ways.extend(one.ways);
            }
        }
        let simplest = best.ways[0].steps.len();
        let mut seen = HashSet::new();
        best.ways
            .retain(|way| way.steps.len() == simplest && seen.insert(way.names()));
        let counts: Vec<u64> = self.counted().map(|(_, count)| count).collect();
        let is_constant = counts.iter().all(|count| *count == counts[0])
            && self
                .counted()
                .any(|(question, _)| best.counts[question] != best.counts[first]);
        Some(Conclusion {
            is_expected: expected.contradicted.is_empty(),
            is_constant: is_constant && !best.contradicted.is_empty(),
            expected,
            best,
            next,
        })
    }

    fn explanation(&self, ways: Vec<Way>, counts: Vec<Option<u64>>) -> Explanation {
        Explanation {
            contradicted: self.contradicted(&counts),
            ways,
            surplus: None,
            counts,
        }
    }

    /// Adds changes to the explanations that fit best, as long as that helps.
    fn combined(&self, all: &[Explanation]) -> Vec<Explanation> {
        let mut found: Vec<Explanation> = Vec::new();
        let begun = all.iter().take(BEAM);
        let mut beam: Vec<(usize, Way)> = begun
            .map(|one| (one.contradicted.len(), one.ways[0].clone()))
            .collect();
        for _ in 1..MOST_CHANGES {
            let longer = beam.iter().flat_map(|(before, way)| {
                let steps = self.steps[&(way.template, way.front)].iter();
                let steps = steps.copied().filter(|step| {
                    let is_left_out = |step: &Step| matches!(step, Step::Without(_));
                    let mut own = way.steps.iter();
                    !own.any(|own| {
                        own.name() == step.name() || is_left_out(own) && is_left_out(step)
                    })
                });
                steps.map(|step| {
                    let steps = [way.steps.as_slice(), &[step]].concat();
                    let way = Way {
                        steps,
                        ..way.clone()
                    };
                    (*before, way)
                })
            });
            let (before, longer): (Vec<usize>, Vec<Way>) = longer.unzip();
            let counts = self.asked_counts(&longer).into_iter();
            let longer = counts.zip(longer).zip(before);
            let mut longer: Vec<Explanation> = longer
                .filter_map(|((counts, way), before)| {
                    let one = self.explanation(vec![way], counts);
                    (one.contradicted.len() < before).then_some(one)
                })
                .collect();
            longer.sort_by_key(|one| one.contradicted.len());
            let mut seen = HashSet::new();
            longer.retain(|one| seen.insert(one.ways[0].names()));
            longer.truncate(BEAM);
            beam = longer
                .iter()
                .map(|one| (one.contradicted.len(), one.ways[0].clone()))
                .collect();
            found.append(&mut longer);
            if found.iter().any(|one| one.contradicted.is_empty()) {
                break;
            }
        }
        found
    }

    /// The counts of ways for the questions that were asked.
    fn asked_counts(&self, ways: &[Way]) -> Vec<Vec<Option<u64>>> {
        let asked = self.answers.iter().map(|(question, _)| *question);
        let asked: Vec<usize> = asked.collect();
        let cases: Vec<&Case> = asked.iter().map(|one| &self.questions[*one].case).collect();
        let of_asked = self.counter.counts(ways, &cases).into_iter();
        of_asked
            .map(|counted| {
                let mut counts = vec![None; self.questions.len()];
                for (question, count) in asked.iter().zip(counted) {
                    counts[*question] = count;
                }
                counts
            })
            .collect()
    }

    /// The same explanation with the tokens that are in the server's prompts besides, if there are as many
    /// in each of them, or in each of those without a system message.
    fn with_surplus(&self, one: &Explanation) -> Option<Explanation> {
        let has_system = |question: usize| {
            let messages = &self.questions[question].case.messages;
            messages
                .iter()
                .any(|message| message["role"] == "system" || message["role"] == "developer")
        };
        let mut both = [false, true].into_iter().filter_map(|is_system| {
            let concerned = |question| !is_system || !has_system(question);
            let mut tally: HashMap<i64, usize> = HashMap::new();
            for (question, count) in self.counted().filter(|(question, _)| concerned(*question)) {
                let own = i64::try_from(one.counts[question]?).ok()?;
                *tally.entry(i64::try_from(count).ok()? - own).or_default() += 1;
            }
            let tokens = tally.into_iter().max_by_key(|(_, often)| *often)?.0;
            let counts = one.counts.iter().enumerate().map(|(question, count)| {
                let more = if concerned(question) { tokens } else { 0 };
                count.and_then(|count| count.checked_add_signed(more))
            });
            let surplus = Some(Surplus { tokens, is_system });
            let explained = self.explanation(one.ways.clone(), counts.collect());
            Some(Explanation {
                surplus,
                ..explained
            })
        });
        let is_needed = !one.contradicted.is_empty();
        both.find(|one| is_needed && one.contradicted.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
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
        let mut sum = 0;
        while fingerprint.answers.len() < 40 {
            let Some(question) = fingerprint.next() else {
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
    fn named(fingerprint: &Fingerprint<'_>, way: &Way) -> HashMap<String, Option<u64>> {
        let questions = &fingerprint.questions;
        let counts = fingerprint
            .counter
            .counts(slice::from_ref(way), &cases(questions));
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
            for (number, truth) in truths.iter().enumerate() {
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
                assert!(
                    refuses || ways.any(|way| way.names() == truth.names()),
                    "{truth:?} is taken for {:?}",
                    found.ways
                );
                refusing += usize::from(refuses);
                assert!(
                    refuses || conclusion.is_expected == (number == 0),
                    "{truth:?}"
                );
                assert!(found.contradicted.is_empty() && found.surplus.is_none());
                assert!(sum <= most && fingerprint.answers.len() <= 40, "{truth:?}");
            }
            assert!(
                refusing < truths.len() / 4,
                "{refusing} of {}",
                truths.len()
            );
        });
    }

    #[test]
    fn changes_are_combined_and_a_surplus_is_measured() {
        with_fingerprint(|fingerprint| {
            let counter = |names: &[&str]| {
                let mistakes = MISTAKES.iter().filter(|one| names.contains(&one.name));
                Way {
                    template: 0,
                    front: Front::Vllm,
                    steps: mistakes.map(Step::Mistake).collect(),
                }
            };
            let found = |fingerprint: &mut Fingerprint<'_>,
                         names: &[&str],
                         more: fn(&Case) -> u64| {
                let way = counter(names);
                let counts = named(fingerprint, &way);
                let conclusion = concluded(fingerprint, |question| match counts[&question.name] {
                    Some(count) => Answer::Counted(count + more(&question.case)),
                    None => Answer::Refused("no".to_owned()),
                });
                let best = conclusion.0.best;
                let steps = best.ways[0].steps.iter().map(|step| step.name());
                (
                    steps.collect::<BTreeSet<_>>(),
                    best.surplus,
                    best.contradicted.len(),
                )
            };
            let both = ["tools are hidden", "the system is lost"];
            let expected = both.map(str::to_owned).into();
            assert_eq!(found(fingerprint, &both, |_| 0), (expected, None, 0));
            let surplus = |tokens, is_system| Some(Surplus { tokens, is_system });
            assert_eq!(
                found(fingerprint, &[], |_| 33),
                (BTreeSet::new(), surplus(33, false), 0)
            );
            let system = |case: &Case| {
                let mut messages = case.messages.iter();
                if messages.any(|one| one["role"] == "system" || one["role"] == "developer") {
                    0
                } else {
                    20
                }
            };
            assert_eq!(
                found(fingerprint, &[], system),
                (BTreeSet::new(), surplus(20, true), 0)
            );
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
