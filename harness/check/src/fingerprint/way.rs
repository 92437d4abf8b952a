//! Ways to make a prompt of a conversation, and how many tokens they make.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::prelude::*;
use rolecall_core::guard::contained;
use rolecall_core::{CONTENT, Case};
use rolecall_front::front::{Change, Front};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use serde_json::{Map, Value};

use super::question::{Question, SWITCHES};
use crate::tokenizer::Tokenizer;

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
        pub(super) const MISTAKES: &[Mistake] = &[$(Mistake {
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
    "the system joins the question", "A system message becomes the beginning of the next message.", 0,
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
    pub(super) fn names(&self) -> (usize, Front, BTreeSet<String>) {
        let steps = self.steps.iter().map(|step| step.name());
        (self.template, self.front, steps.collect())
    }
}

/// Counts the tokens that ways make of conversations.
pub(super) struct Counter<'t> {
    pub(super) programs: Vec<FrontProgram<'t>>,
    tokenizer: &'t Tokenizer,
    known: Mutex<HashMap<String, usize>>,
    /// Why the tokenizer cannot cut a prompt.
    failure: OnceLock<String>,
}

impl<'t> Counter<'t> {
    pub(super) fn new(programs: Vec<FrontProgram<'t>>, tokenizer: &'t Tokenizer) -> Counter<'t> {
        Counter {
            programs,
            tokenizer,
            known: Mutex::default(),
            failure: OnceLock::new(),
        }
    }

    /// An error if the tokenizer has failed.
    pub(super) fn check(&self) -> Result<(), String> {
        let failure = self.failure.get();
        failure.map_or(Ok(()), |why| Err(format!("cannot count the tokens: {why}")))
    }

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
    pub(super) fn counts(&self, ways: &[Way], cases: &[&Case]) -> Vec<Vec<Option<u64>>> {
        let prompts: Vec<Vec<_>> = ways
            .par_iter()
            .map(|way| {
                let prompt = |case| contained("a way to make a prompt", || self.prompt(way, case));
                cases.iter().map(|case| prompt(case).flatten()).collect()
            })
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

/// The ways without a change, the expected one first.
pub(super) fn plain(programs: &[FrontProgram<'_>], expected: Way) -> Vec<Way> {
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

/// The changes that are tried with a front: each mistake, and each of the front's own changes left out, if
/// it does something to one of the questions.
pub(super) fn steps(program: &FrontProgram<'_>, front: Front, questions: &[Question]) -> Vec<Step> {
    let changes = questions
        .iter()
        .flat_map(|question| front.changes(&question.case, &program.model));
    let names: HashSet<&str> = changes.map(|change| change.name).collect();
    let own = front.all_changes().iter();
    let own = own.filter(|change| names.contains(change.name));
    let mistakes = MISTAKES.iter().map(Step::Mistake);
    mistakes.chain(own.map(Step::Without)).collect()
}
