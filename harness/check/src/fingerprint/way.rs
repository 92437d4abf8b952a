//! Ways to make a prompt of a conversation, and how many tokens they make.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;
use rolecall_core::guard::contained;
use rolecall_core::{CONTENT, Case};
use rolecall_front::front::{Change, Front};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use serde_json::{Map, Value, json};

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
    ($all:ident: $($name:literal, $sentence:literal, $tokens:literal, $make:expr;)*) => {
        pub(super) const $all: &[Mistake] = &[$(Mistake {
            name: $name, sentence: $sentence, make: $make, tokens: $tokens,
        }),*];
    };
}

// What servers do in different ways that are all right: none of them is a mistake if no application is named.
mistakes! {
    CHOICES:
    "texts are joined by line breaks", "The texts of a content become one text, with a line break between them.", 0,
        |case| join_parts(case, "\n");
    "texts are joined", "The texts of a content become one text, with nothing between them.", 0,
        |case| join_parts(case, "");
    "no content is an empty one", "A content that is null or missing becomes an empty text.", 0,
        |case| each(case, |message| if message.get(CONTENT).is_none_or(Value::is_null) {
            message.insert(CONTENT.to_owned(), "".into());
        });
}

mistakes! {
    MISTAKES:
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

fn join_parts(case: &mut Case, between: &str) {
    each(case, |message| {
        if let Some(Value::Array(parts)) = message.get(CONTENT) {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            let joined = texts.collect::<Vec<_>>().join(between);
            message.insert(CONTENT.to_owned(), joined.into());
        }
    });
}

fn join_system(case: &mut Case) {
    let [first, second, ..] = case.messages.as_mut_slice() else {
        return;
    };
    if let (true, Some(system), Some(text)) = (
        first["role"] == "system",
        first[CONTENT].as_str(),
        second[CONTENT].as_str(),
    ) {
        let joined = format!("{system}\n\n{text}");
        second[CONTENT] = joined.into();
        case.messages.remove(0);
    }
}

fn switch(case: &mut Case, value: bool) {
    for name in SWITCHES {
        case.variables
            .entry(name)
            .or_insert_with(|| Value::from(value));
    }
}

/// Where a server puts a text that nobody sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Somewhere in each prompt: it is no message, or something else that always has the same length.
    Anywhere,
    /// In a system message, if the request has none.
    IfNone,
    /// In a system message, instead of those of the request.
    Instead,
    /// In a system message, before the text of the request's own.
    Before,
}

/// Tokens that nobody sent, as many in each prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Unknown {
    pub place: Place,
    /// Whether only requests with tools have them.
    pub with_tools: bool,
    /// How many there are, once the counts have told, and how many beside a system text of the request's own;
    /// fewer than none if tokens are missing.
    pub tokens: Option<[i64; 2]>,
}

/// A text in the place of one that is not known. It ends as texts usually do.
const STAND_IN: &str = "You are a helpful assistant.";

impl Unknown {
    pub(super) fn all() -> impl Iterator<Item = Step> {
        let places = [
            Place::Anywhere,
            Place::IfNone,
            Place::Instead,
            Place::Before,
        ];
        let both = [false, true].into_iter();
        both.flat_map(move |with_tools| {
            places.map(|place| {
                Step::Unknown(Unknown {
                    place,
                    with_tools,
                    tokens: None,
                })
            })
        })
    }

    /// Whether the prompt of a request has the tokens, and whether they are beside a system text of the
    /// request's own, which a few more tokens separate.
    pub(super) fn concerns(self, case: &Case) -> Option<bool> {
        let has_system = case.messages.iter().any(is_system);
        let is_here = self.place != Place::IfNone || !has_system;
        let is_here = is_here && (case.tools.is_some() || !self.with_tools);
        is_here.then(|| self.place == Place::Before && joinable(&case.messages).is_some())
    }

    /// Writes the stand-in.
    fn write(self, case: &mut Case) {
        match self.place {
            Place::Anywhere => return,
            Place::Instead => case.messages.retain(|message| !is_system(message)),
            Place::Before | Place::IfNone => (),
        }
        if self.place == Place::Before
            && let Some(text) = joinable(&case.messages)
        {
            let joined = format!("{STAND_IN}\n\n{text}");
            if let Some(first) = case.messages.first_mut() {
                first[CONTENT] = joined.into();
            }
            return;
        }
        let own = json!({"role": "system", "content": STAND_IN});
        case.messages.insert(0, own);
    }

    fn sentence(self) -> &'static str {
        match self.place {
            Place::Anywhere => "It is not known what they are; a hidden text would explain it.",
            Place::IfNone => {
                "The server or its template adds a system text to requests that have none."
            }
            Place::Instead => "A system text of the server takes the place of the given one.",
            Place::Before => "The server writes a hidden system text before the given one.",
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [tokens, _] = self.tokens.unwrap_or_default();
        match self.place {
            Place::Anywhere if tokens < 0 => write!(f, "{} tokens fewer", -tokens),
            Place::Anywhere => write!(f, "{tokens} tokens more"),
            _ => write!(f, "a hidden system text of {tokens} tokens"),
        }?;
        let of = if self.with_tools { " with tools" } else { "" };
        let whose = match self.place {
            Place::Anywhere => "",
            Place::IfNone => " without a system message",
            Place::Instead => ", in the place of the given one",
            Place::Before => ", before the given one",
        };
        write!(f, " in each conversation{of}{whose}")
    }
}

fn is_system(message: &Value) -> bool {
    message["role"] == "system" || message["role"] == "developer"
}

/// The text of the system message at the beginning.
fn joinable(messages: &[Value]) -> Option<&str> {
    let first = messages.first().filter(|first| first["role"] == "system");
    first?[CONTENT].as_str()
}

/// One of the changes that make a prompt another one.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// The application does not make this change, as in another version of it.
    Without(&'static Change),
    Mistake(&'static Mistake),
    /// There is a text that nobody sent.
    Unknown(Unknown),
}

impl Hash for Step {
    /// Changes and mistakes are known by their names.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Step::Without(change) => (0, change.name).hash(state),
            Step::Mistake(mistake) => (1, mistake.name).hash(state),
            Step::Unknown(unknown) => (2, unknown).hash(state),
        }
    }
}

impl Step {
    /// What it is, in a few words.
    pub fn name(self) -> String {
        match self {
            Step::Without(change) => format!("without the change `{}`", change.name),
            Step::Mistake(mistake) => mistake.name.to_owned(),
            Step::Unknown(unknown) => unknown.to_string(),
        }
    }

    /// What happens, in a sentence for users.
    pub fn sentence(self) -> String {
        match self {
            Step::Without(change) => {
                format!("This does not happen: {}", change.sentence)
            }
            Step::Mistake(mistake) => mistake.sentence.to_owned(),
            Step::Unknown(unknown) => unknown.sentence().to_owned(),
        }
    }

    /// Whether a server that does so is right.
    pub(super) fn is_choice(self) -> bool {
        matches!(self, Step::Mistake(mistake) if CHOICES.iter().any(|one| one.name == mistake.name))
    }

    /// Whether a way has at most one of both: they are the same, or the way has room for one of their kind.
    pub(super) fn excludes(self, other: Step) -> bool {
        match (self, other) {
            (Step::Without(_), Step::Without(_)) | (Step::Unknown(_), Step::Unknown(_)) => true,
            _ => self.name() == other.name(),
        }
    }
}

/// A way to make a prompt of a conversation.
#[derive(Debug, Clone, Hash)]
pub struct Way {
    /// The index of the template.
    pub template: usize,
    pub front: Front,
    /// What changes the conversation besides.
    pub steps: Vec<Step>,
}

impl Way {
    /// The same with one more step.
    pub(super) fn with(&self, step: Step) -> Way {
        Way {
            steps: [self.steps.as_slice(), &[step]].concat(),
            ..self.clone()
        }
    }

    /// How much it assumes: a text of unknown length explains more than a known mistake does, and what right
    /// servers choose hardly anything.
    pub(super) fn cost(&self) -> usize {
        let cost = |step: &Step| match step {
            step if step.is_choice() => 1,
            Step::Unknown(one) if one.place == Place::Before => 30,
            Step::Unknown(one) => 20 + 10 * usize::from(one.with_tools),
            _ => 10,
        };
        self.steps.iter().map(cost).sum()
    }

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
    /// What ways make of questions, by hashes of the ways and the numbers of the questions: a hash of the changed
    /// conversation, and how many tokens its prompt has besides.
    pub(super) inputs: HashMap<(u64, usize), (u64, i64)>,
    /// How many tokens the prompts of conversations have that were counted before, by a hash of the changed
    /// conversation. Two of a hundred thousand have the same hash less often than a memory fails.
    known: HashMap<u64, Option<u64>>,
    /// Likewise by a hash of the prompt.
    prompts: HashMap<u64, u64>,
    /// The work so far, in bytes of templates that are rendered. It is counted and not measured, so that the
    /// result is the same on every machine.
    pub(super) work: usize,
    /// Why the tokenizer cannot cut a prompt.
    failure: Option<String>,
    /// How many tokens the text has that stands for an unknown one.
    pub(super) stand_in: i64,
}

/// What it takes to find a known count, in bytes: see [`Counter::work`].
const LOOK_UP: usize = 1 << 10;

/// What a render takes besides the bytes of its template.
const RENDER: usize = 4 << 10;

/// What it takes to cut a byte of a prompt into tokens.
const CUT: usize = 8;

impl<'t> Counter<'t> {
    pub(super) fn new(programs: Vec<FrontProgram<'t>>, tokenizer: &'t Tokenizer) -> Counter<'t> {
        let stand_in = tokenizer.counts(&[STAND_IN]).unwrap_or_default();
        Counter {
            programs,
            tokenizer,
            inputs: HashMap::new(),
            known: HashMap::new(),
            prompts: HashMap::new(),
            work: 0,
            failure: None,
            stand_in: stand_in
                .first()
                .map_or(0, |count| count.cast_signed() as i64),
        }
    }

    /// An error if the tokenizer has failed.
    pub(super) fn check(&self) -> Result<(), String> {
        let failure = self.failure.as_ref();
        failure.map_or(Ok(()), |why| Err(format!("cannot count the tokens: {why}")))
    }

    /// The prompt that a way makes of a conversation, if there is one, and how many tokens its server adds.
    fn prompt(&self, way: &Way, case: &Case) -> Option<(String, bool)> {
        let program = self.programs.get(way.template)?;
        let (case, left_out, _) = changed(way, case);
        let input = match left_out {
            Some(change) => PreparedCase::without(&case, way.front, &program.model, change),
            None => PreparedCase::new(&case, way.front, &program.model),
        };
        let prompt = program.outcome(&input).into_prompt().ok()?;
        // llama.cpp's tokenizer puts its own token before each prompt that does not begin with it.
        let begins = self.tokenizer.beginning();
        let is_added = begins.is_some_and(|begin| !prompt.starts_with(begin));
        Some((prompt, is_added && way.front == Front::LlamaServer))
    }

    /// How many tokens each way makes of each question; none where it makes no prompt. Most changes do
    /// nothing to most conversations, so nothing is rendered twice.
    pub(super) fn counts(
        &mut self,
        ways: &[Way],
        questions: &[&Question],
    ) -> Vec<Vec<Option<u64>>> {
        let input = |way: &Way, question: &Question| {
            let key = (hash(way), question.number);
            if let Some(known) = self.inputs.get(&key) {
                return (key, *known);
            }
            let (case, left_out, more) = changed(way, &question.case);
            let left_out = left_out.map(|change| change.name);
            let sent = (case.messages, case.tools, case.variables);
            let input = (
                way.template,
                way.front,
                left_out,
                sent,
                case.add_generation_prompt,
            );
            (key, (hash(&input), more))
        };
        let inputs = ways.par_iter();
        let inputs = inputs.map(|way| questions.iter().map(|one| input(way, one)).collect());
        let inputs: Vec<Vec<_>> = inputs.collect();
        self.inputs.extend(inputs.iter().flatten().copied());
        let mut new = BTreeMap::new();
        for (way, inputs) in ways.iter().zip(&inputs) {
            for (question, (_, (input, _))) in questions.iter().zip(inputs) {
                if !self.known.contains_key(input) {
                    new.entry(*input).or_insert((way, &question.case));
                }
            }
        }
        let prompt = |(input, (way, case)): (&u64, &(&Way, &Case))| {
            let prompt = contained("a way to make a prompt", || self.prompt(way, case)).flatten();
            let program = self.programs.get(way.template);
            let source = program.map_or(0, |program| program.template.source.len());
            (*input, prompt, RENDER + source)
        };
        let prompts: Vec<_> = new.par_iter().map(prompt).collect();
        let texts = prompts.iter().filter_map(|(_, prompt, _)| prompt.as_ref());
        let texts = texts.map(|(prompt, _)| prompt.as_str());
        let texts: BTreeMap<u64, &str> = texts.map(|text| (hash(&text), text)).collect();
        let texts = texts
            .into_iter()
            .filter(|(hash, _)| !self.prompts.contains_key(hash));
        let (hashes, texts): (Vec<u64>, Vec<&str>) = texts.unzip();
        match self.tokenizer.counts(&texts) {
            Ok(counts) => {
                let counts = counts.into_iter().map(|count| count as u64);
                self.prompts.extend(hashes.into_iter().zip(counts));
            }
            Err(why) => self.failure = Some(why),
        }
        self.work += LOOK_UP * ways.len() * questions.len();
        self.work += CUT * texts.iter().map(|text| text.len()).sum::<usize>();
        for (input, prompt, work) in prompts {
            let count = prompt.and_then(|(prompt, is_more)| {
                let count = self.prompts.get(&hash(&prompt.as_str()))?;
                Some(count + u64::from(is_more))
            });
            self.known.insert(input, count);
            self.work += work;
        }
        let count = |(_, (input, more)): (_, (u64, i64))| {
            (*self.known.get(&input)?)?.checked_add_signed(more)
        };
        let inputs = inputs.into_iter();
        inputs
            .map(|inputs| inputs.into_iter().map(count).collect())
            .collect()
    }
}

/// A conversation as a way changes it before its front, the change that the front leaves out, and how many
/// tokens the prompt has besides.
fn changed(way: &Way, asked: &Case) -> (Case, Option<&'static Change>, i64) {
    let mut case = asked.clone();
    let (mut left_out, mut unknown, mut more) = (None, None, 0);
    for step in &way.steps {
        match step {
            Step::Without(change) => left_out = Some(*change),
            Step::Mistake(mistake) => {
                (mistake.make)(&mut case);
                more += mistake.tokens;
            }
            Step::Unknown(one) => unknown = Some(*one),
        }
    }
    // The hidden text comes last: a server writes it into the request that the other changes have left.
    if let Some(unknown) = unknown.filter(|one: &Unknown| one.concerns(asked).is_some()) {
        unknown.write(&mut case);
    }
    (case, left_out, more)
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The ways of right servers, the expected one first, and of other applications and templates. Without an
/// application all choices of servers are right.
pub(super) fn bases(programs: &[FrontProgram<'_>], expected: Front) -> Vec<Way> {
    let served = Front::ALL.into_iter().filter(|front| front.is_served());
    let others = [Front::Transformers].into_iter().chain(served);
    let others: Vec<Front> = others.filter(|front| *front != expected).collect();
    let mut bases = Vec::new();
    for template in 0..programs.len() {
        let plain = |front: &Front| Way {
            template,
            front: *front,
            steps: Vec::new(),
        };
        let begin = bases.len();
        bases.push(plain(&expected));
        if expected == Front::Transformers {
            bases.push(plain(&Front::Raw));
            for choice in CHOICES {
                let longer = bases
                    .iter()
                    .skip(begin)
                    .map(|way| way.with(Step::Mistake(choice)));
                bases.extend(longer.collect::<Vec<_>>());
            }
        }
        bases.extend(others.iter().map(plain));
    }
    bases
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
