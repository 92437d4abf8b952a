//! Fingerprints: finds out what a server makes of conversations from nothing but its counts of tokens.
//!
//! A hosted server shows no prompt, but `usage.prompt_tokens` says how long it was. For each *way* to make
//! a prompt of a conversation (a template, an application, changes of the request) this module counts the
//! tokens itself. It chooses the conversations of which different ways have different counts, and so each
//! count of the server excludes some ways.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::slice;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use rayon::prelude::*;
use rolecall_core::{CONTENT, Case, Engine, Moment, Template};
use rolecall_front::front::{Change, Front};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use serde_json::{Map, Value};

use crate::probe::catalogue::{self, USER};
use crate::probe::{InputStyle, Probe};
use crate::tokenizer::Tokenizer;

/// A conversation of which a template of the user makes more tokens is not sent.
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

/// The names of the variables with which users switch thinking.
const SWITCHES: [&str; 2] = ["enable_thinking", "thinking"];

/// A change of a request or a prompt that servers make by mistake, or are set up to make.
#[derive(Debug)]
pub struct Mistake {
    /// Its name, in a few words.
    pub name: &'static str,
    /// What happens, in a sentence for users.
    pub sentence: &'static str,
    make: fn(&mut Case),
    /// How many tokens more the prompt has.
    tokens: i64,
}

macro_rules! mistakes {
    ($($name:literal, $sentence:literal, $tokens:literal, $make:expr;)*) => {
        const MISTAKES: &[Mistake] = &[$(Mistake {
            name: $name, sentence: $sentence, make: $make, tokens: $tokens,
        }),*];
    };
}

mistakes! {
    "no generation prompt", "The prompt does not open the assistant's turn.", 0,
        |case| case.add_generation_prompt = false;
    "reasoning is lost", "The reasoning of earlier answers does not reach the template.", 0,
        |case| each(case, |message| for name in ["reasoning_content", "reasoning", "thinking"] {
            message.shift_remove(name);
        });
    "arguments stay text", "The template gets the arguments of calls as JSON text, and not as an object.", 0,
        |case| each_call(case, |call| if let Some(arguments) = call.pointer_mut("/function/arguments")
            && arguments.is_object() {
                *arguments = arguments.to_string().into();
            });
    "tools are hidden", "The tools of a request do not reach the template.", 0, |case| case.tools = None;
    "tools are bare functions", "The template gets each tool without the object around its function.", 0,
        |case| for tool in case.tools.iter_mut().flatten() {
            if let Some(function) = tool.get_mut("function").map(Value::take) {
                *tool = function;
            }
        };
    "calls are lost", "The calls of earlier answers do not reach the template.", 0,
        |case| each(case, |message| { message.shift_remove("tool_calls"); });
    "results become questions", "The results of tools reach the template as messages of the user.", 0,
        |case| each(case, |message| if message.get("role").is_some_and(|role| role == "tool") {
            message.insert("role".to_owned(), "user".into());
        });
    "the system is lost", "System messages do not reach the template.", 0,
        |case| case.messages.retain(|message| message["role"] != "system");
    "the system joins the question", "The text of a system message stands before that of the next message.", 0,
        join_system;
    "the last message is lost", "The last message does not reach the template.", 0,
        |case| { case.messages.pop(); };
    "only the last message", "No message but the last one reaches the template.", 0,
        |case| case.messages = case.messages.pop().into_iter().collect();
    "texts are trimmed", "The texts of messages lose the white space at their ends.", 0,
        |case| each(case, |message| if let Some(Value::String(text)) = message.get_mut(CONTENT) {
            *text = text.trim().to_owned();
        });
    "thinking is off", "Thinking is switched off for requests that do not say it.", 0,
        |case| switch(case, false);
    "thinking is on", "Thinking is switched on for requests that do not say it.", 0,
        |case| switch(case, true);
    "variables are lost", "The variables of a request, such as `enable_thinking`, do not reach the template.", 0,
        |case| case.variables.clear();
    "one token more", "Each prompt has one token more, such as a second token for its beginning.", 1, |_| ();
    "one token less", "Each prompt has one token less, such as the token for its beginning.", -1, |_| ();
}

fn each(case: &mut Case, change: impl Fn(&mut Map<String, Value>)) {
    let messages = case.messages.iter_mut();
    messages.filter_map(Value::as_object_mut).for_each(change);
}

fn each_call(case: &mut Case, change: impl Fn(&mut Value)) {
    each(case, |message| {
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        calls.into_iter().flatten().for_each(&change);
    });
}

fn join_system(case: &mut Case) {
    let [first, second, ..] = case.messages.as_slice() else {
        return;
    };
    if let (true, Some(system), Some(text)) = (
        first["role"] == "system",
        first[CONTENT].as_str(),
        second[CONTENT].as_str(),
    ) {
        let joined = format!("{system}\n\n{text}");
        case.messages.remove(0);
        case.messages[0][CONTENT] = joined.into();
    }
}

fn switch(case: &mut Case, value: bool) {
    for name in SWITCHES {
        case.variables
            .entry(name)
            .or_insert_with(|| Value::from(value));
    }
}

/// A conversation that may be sent, as clients of OpenAI's API could send it.
#[derive(Debug)]
pub struct Question {
    /// The name of its probe, or of the variable that it sets.
    pub name: String,
    pub case: Case,
}

/// One of the changes that make a prompt another one.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// The application does not make this change, as in another version of it.
    Without(&'static Change),
    Mistake(&'static Mistake),
}

impl Step {
    /// What it is, in a few words.
    pub fn name(self) -> String {
        match self {
            Step::Without(change) => format!("without the change `{}`", change.name),
            Step::Mistake(mistake) => mistake.name.to_owned(),
        }
    }

    /// What happens, in a sentence for users.
    pub fn sentence(self) -> String {
        match self {
            Step::Without(change) => {
                format!("This does not happen: {}", change.sentence)
            }
            Step::Mistake(mistake) => mistake.sentence.to_owned(),
        }
    }
}

/// A way to make a prompt of a conversation.
#[derive(Debug, Clone)]
pub struct Way {
    /// The index of the template.
    pub template: usize,
    pub front: Front,
    /// What changes the conversation besides.
    pub steps: Vec<Step>,
}

impl Way {
    /// What it is, whatever the order of its steps.
    fn names(&self) -> (usize, Front, BTreeSet<String>) {
        let steps = self.steps.iter().map(|step| step.name());
        (self.template, self.front, steps.collect())
    }
}

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

/// Counts the tokens that ways make of conversations.
struct Counter<'t> {
    programs: Vec<FrontProgram<'t>>,
    tokenizer: &'t Tokenizer,
    known: Mutex<HashMap<String, usize>>,
    /// Why the tokenizer cannot cut a prompt.
    failure: OnceLock<String>,
}

impl Counter<'_> {
    /// The prompt that a way makes of a conversation, if there is one, and how many tokens it has besides.
    fn prompt(&self, way: &Way, case: &Case) -> Option<(String, i64)> {
        let program = &self.programs[way.template];
        let mut case = case.clone();
        let (mut left_out, mut more) = (None, 0);
        for step in &way.steps {
            match step {
                Step::Without(change) => left_out = Some(*change),
                Step::Mistake(mistake) => {
                    (mistake.make)(&mut case);
                    more += mistake.tokens;
                }
            }
        }
        let input = match left_out {
            Some(change) => PreparedCase::without(&case, way.front, &program.model, change),
            None => PreparedCase::new(&case, way.front, &program.model),
        };
        let prompt = program.outcome(&input).into_prompt().ok()?;
        // llama.cpp's tokenizer puts its own token before each prompt that does not begin with it.
        let begins = self.tokenizer.beginning();
        let is_added = begins.is_some_and(|begin| !prompt.starts_with(begin));
        more += i64::from(is_added && way.front == Front::LlamaServer);
        Some((prompt, more))
    }

    /// How many tokens each way makes of each conversation; none where it makes no prompt.
    fn counts(&self, ways: &[Way], cases: &[&Case]) -> Vec<Vec<Option<u64>>> {
        let prompts: Vec<Vec<_>> = ways
            .par_iter()
            .map(|way| cases.iter().map(|case| self.prompt(way, case)).collect())
            .collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let all = prompts.iter().flatten().flatten();
        let new: BTreeSet<&str> = all
            .map(|(prompt, _)| prompt.as_str())
            .filter(|prompt| !known.contains_key(*prompt))
            .collect();
        let new: Vec<&str> = new.into_iter().collect();
        match self.tokenizer.counts(&new) {
            Ok(counts) => known.extend(new.into_iter().map(str::to_owned).zip(counts)),
            Err(why) => {
                self.failure.get_or_init(|| why);
            }
        }
        let count = |prompt: Option<(String, i64)>| {
            let (prompt, more) = prompt?;
            u64::try_from(*known.get(&prompt)?)
                .ok()?
                .checked_add_signed(more)
        };
        let prompts = prompts.into_iter();
        prompts
            .map(|prompts| prompts.into_iter().map(count).collect())
            .collect()
    }
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
        let counter = Counter {
            programs: programs
                .map(|one| FrontProgram::load(engine, one))
                .collect(),
            tokenizer,
            known: Mutex::default(),
            failure: OnceLock::new(),
        };
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
        fingerprint.check()?;
        if fingerprint.questions.is_empty() {
            let name = &templates[0].name;
            return Err(format!(
                "{name} makes no prompt of any conversation through the front {front}"
            ));
        }
        Ok(fingerprint)
    }

    fn check(&self) -> Result<(), String> {
        let failure = self.counter.failure.get();
        failure.map_or(Ok(()), |why| Err(format!("cannot count the tokens: {why}")))
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
            return None;
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

    /// Whether the server takes conversations like this one, as far as its refusals tell: with tools, with
    /// variables, with parts of texts, with other messages than questions.
    fn is_taken(&self, case: &Case) -> bool {
        let kinds: [fn(&Case) -> bool; 4] = [
            |case| case.tools.is_some(),
            |case| !case.variables.is_empty(),
            |case| case.messages.iter().any(|one| one[CONTENT].is_array()),
            |case| case.messages.iter().any(|one| one["role"] != "user"),
        ];
        kinds.iter().filter(|is_of| is_of(case)).all(|is_of| {
            let answers = self.answers.iter();
            let like = answers.filter(|(question, _)| is_of(&self.questions[*question].case));
            let (mut refused, mut counted) = (0, 0);
            for (_, answer) in like {
                match answer {
                    Answer::Counted(_) => counted += 1,
                    Answer::Refused(_) => refused += 1,
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
            Answer::Refused(_) => false,
        });
        wrong.map(|(index, _)| index).collect()
    }

    /// The counts of the server, with their questions.
    fn counted(&self) -> impl Iterator<Item = (usize, u64)> {
        let answers = self.answers.iter();
        answers.filter_map(|(question, answer)| match answer {
            Answer::Counted(count) => Some((*question, *count)),
            Answer::Refused(_) => None,
        })
    }

    /// What the answers say. None if there are no counts.
    ///
    /// # Errors
    ///
    /// The tokenizer fails.
    pub fn conclusion(&self) -> Result<Option<Conclusion>, String> {
        let conclusion = self.concluded();
        self.check().map(|()| conclusion)
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

/// The conversations that clients may send: the probes, each asking for an answer, and a question with each
/// switch that a template reads.
fn questions(programs: &[FrontProgram<'_>]) -> Vec<Question> {
    let now = Moment::from(SystemTime::now());
    let asked = |probe: &Probe| {
        let mut case = probe.case(InputStyle::PLAIN);
        case.add_generation_prompt = true;
        case.now = now;
        Question {
            name: probe.name.to_owned(),
            case,
        }
    };
    let mut all: Vec<Question> = catalogue::ALL.iter().map(asked).collect();
    let has_media = |message: &Value| {
        let parts = message[CONTENT].as_array().into_iter().flatten();
        parts.into_iter().any(|part| part["type"] != "text")
    };
    all.retain(|one| one.case.documents.is_none() && !one.case.messages.iter().any(has_media));
    let variables = programs
        .iter()
        .flat_map(|program| program.without_front().variables());
    let variables: Vec<String> = variables.collect();
    for name in SWITCHES {
        for value in [false, true] {
            if variables.iter().any(|own| own == name) {
                let mut question = asked(&USER);
                question.name = format!("{name}: {value}");
                question
                    .case
                    .variables
                    .insert(name.to_owned(), value.into());
                all.push(question);
            }
        }
    }
    let mut seen = Vec::new();
    all.retain(|one| {
        let sight = (
            one.case.messages.clone(),
            one.case.tools.clone(),
            one.case.variables.clone(),
        );
        let is_new = !seen.contains(&sight);
        seen.push(sight);
        is_new
    });
    all
}

fn cases(questions: &[Question]) -> Vec<&Case> {
    questions.iter().map(|question| &question.case).collect()
}

/// The ways without a change, the expected one first.
fn plain(programs: &[FrontProgram<'_>], expected: Way) -> Vec<Way> {
    let served = Front::ALL.into_iter().filter(|front| front.is_served());
    let fronts: Vec<Front> = [Front::Transformers].into_iter().chain(served).collect();
    let mut plain = vec![expected];
    for template in 0..programs.len() {
        let others = fronts.iter().copied();
        let others = others.filter(|front| template > 0 || *front != plain[0].front);
        let others: Vec<Way> = others
            .map(|front| Way {
                template,
                front,
                steps: Vec::new(),
            })
            .collect();
        plain.extend(others);
    }
    plain
}

/// The changes that may come to a front: the mistakes, and to leave out one of its own changes that takes
/// effect on a question.
fn steps(program: &FrontProgram<'_>, front: Front, questions: &[Question]) -> Vec<Step> {
    let changes = questions
        .iter()
        .flat_map(|question| front.changes(&question.case, &program.model));
    let names: HashSet<&str> = changes.map(|change| change.name).collect();
    let own = front.all_changes().iter();
    let own = own.filter(|change| names.contains(change.name));
    let mistakes = MISTAKES.iter().map(Step::Mistake);
    mistakes.chain(own.map(Step::Without)).collect()
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use rolecall_core::Dialect;
    use rolecall_jinja::JinjaEngine;

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
