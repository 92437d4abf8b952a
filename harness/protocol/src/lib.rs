#![doc = include_str!("../README.md")]
//!
//! A program reads requests from its standard input and writes answers to its standard
//! output, one JSON object a line; standard error is free for logs. It is started once
//! for each thread that renders. A program that dies, hangs, answers out of turn or
//! prints something else is restarted. If it had answered before, the pair is tried
//! again, because an earlier request may have broken the process. A pair is `crashed`
//! only if the process fails on its first request, so the outcome does not depend on
//! other pairs. A program that no longer starts, or answers nothing, is given up: the
//! remaining pairs are `not asked`.
//!
//! `message` defines the lines, `input` makes the conversation in them, `process` runs one
//! program, in a `group` of processes and without the user's `secrets`, and `serve` is the other end:
//! it serves an engine of this process. `trial` puts the questions of `question` to a program, the
//! `subject`.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod error;
mod limits;
mod message;

mod input;

mod group;
mod secrets;

mod process;
mod serve;

mod question;

mod subject;

mod trial;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rolecall_go::GoProgram;
use rolecall_model::{
    Conversation, Dialect, Engine, Moment, Observer, Outcome, Program, Refusal, Template,
};
use serde_json::{Map, Value, json};

pub use error::ProtocolError;
pub use group::{ProcessGroup, watch_groups, watch_with};
pub use input::all_variables;
pub use limits::ProtocolLimits;
pub use process::Process;
pub use secrets::GIVEN;
pub use serve::serve;
pub use trial::{Check, CheckResult, Trial};

use message::{FrontRequest, Greeting, Meaning, RenderInput, Request, VERSION};

/// The failed starts after which a program is given up.
const MOST_STARTS: usize = 3;

/// An engine that is another program. The program runs until the engine and all its
/// templates are dropped.
pub struct ProtocolEngine {
    shared: Arc<EngineState>,
}

/// The state that an engine shares with its templates.
struct EngineState {
    command: Vec<String>,
    limits: ProtocolLimits,
    greeting: Greeting,
    dialect: Dialect,
    idle: Mutex<Vec<Session>>,
    /// Whether each pair gets a process of its own.
    is_new_for_each: bool,
    /// Whether the program has answered anything besides `start`.
    has_answered: AtomicBool,
    /// The result of the smallest request, if it was needed.
    smallest: OnceLock<Result<(), String>>,
    /// Why the program was given up.
    given_up: OnceLock<String>,
    compiled: AtomicUsize,
}

/// A running program, and the templates that it has loaded.
struct Session {
    process: Process,
    requests: u64,
    /// The templates that it holds, by name; the number tells namesakes apart.
    loaded: HashMap<String, usize>,
}

/// A template for a program. Each process loads it when it first needs it.
struct RemoteTemplate {
    engine: Arc<EngineState>,
    number: usize,
    /// The template's name, with the front's: the program may also have the template
    /// without it.
    name: String,
    /// The front that the program should apply itself before this template.
    front: Option<String>,
    template: Template,
    /// Makes the data for a Go template, if the program does not.
    go: Option<GoProgram>,
    refused: OnceLock<Outcome>,
}

/// What went wrong with a process.
struct Crash {
    message: String,
    /// Whether it was in loading the template.
    is_in_loading: bool,
}

/// Reads an answer to `load` or `render`: an outcome, or none if the template is loaded.
/// The error says what is wrong with the line, as a crash does.
pub fn read_answer(line: &[u8], asked: u64) -> Result<Option<Outcome>, String> {
    match Meaning::read(line, asked)? {
        Meaning::Outcome(outcome) => Ok(Some(outcome)),
        Meaning::Loaded => Ok(None),
    }
}

/// The conversation as an application gets it, with the keys of `render`: messages,
/// tools, documents and variables as they are written, and the options.
pub fn request(conversation: &Conversation<'_>, template: &Template) -> Map<String, Value> {
    let input = input::of(conversation, template, true, None);
    // Through its text, so that numbers stay as they are written.
    let text = serde_json::to_string(&input).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

impl ProtocolEngine {
    /// Starts the program of a command line, split into words as a shell does it.
    pub fn start(command: &str, limits: ProtocolLimits) -> Result<ProtocolEngine, ProtocolError> {
        ProtocolEngine::spawn(ProtocolEngine::words(command)?, limits)
    }

    /// The words of a command line, as a shell splits it.
    pub fn words(command: &str) -> Result<Vec<String>, ProtocolError> {
        shlex::split(command)
            .filter(|words| !words.is_empty())
            .ok_or_else(|| ProtocolError::Command(command.to_owned()))
    }

    /// Starts a program with arguments.
    pub fn spawn(
        words: Vec<String>,
        limits: ProtocolLimits,
    ) -> Result<ProtocolEngine, ProtocolError> {
        let failed = |reason: String| ProtocolError::Start {
            command: process::written(&words),
            reason: match process::missing_file(&words) {
                Some(missing) => format!("{missing}\n  {reason}"),
                None => reason,
            },
        };
        let (session, greeting) = Session::start(&words, &limits).map_err(failed)?;
        let dialect = greeting.dialect().map_err(failed)?;
        Ok(ProtocolEngine {
            shared: Arc::new(EngineState {
                command: words,
                limits,
                greeting,
                dialect,
                idle: Mutex::new(vec![session]),
                is_new_for_each: false,
                has_answered: AtomicBool::new(false),
                smallest: OnceLock::new(),
                given_up: OnceLock::new(),
                compiled: AtomicUsize::new(0),
            }),
        })
    }

    /// The same program, with a new process for each pair.
    #[must_use]
    pub fn anew(&self) -> ProtocolEngine {
        let shared = &self.shared;
        ProtocolEngine {
            shared: Arc::new(EngineState {
                command: shared.command.clone(),
                limits: shared.limits.clone(),
                greeting: shared.greeting.clone(),
                dialect: shared.dialect,
                idle: Mutex::default(),
                is_new_for_each: true,
                has_answered: AtomicBool::new(false),
                smallest: OnceLock::new(),
                given_up: OnceLock::new(),
                compiled: AtomicUsize::new(0),
            }),
        }
    }
}

impl EngineState {
    /// A process that nobody uses now.
    fn idle(&self) -> Option<Session> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    /// A new process. An error here is a reason to give the program up.
    fn fresh(&self) -> Result<Session, String> {
        let mut reason = String::new();
        for _ in 0..MOST_STARTS {
            match Session::start(&self.command, &self.limits) {
                Ok((session, _)) => return Ok(session),
                Err(error) => reason = error,
            }
        }
        Err(format!("it no longer starts: {reason}"))
    }

    /// Whether to ask on after a process crashed on its first pair. A program that has
    /// answered something may answer other pairs. One that has answered nothing yet gets the
    /// smallest request, once, so that the decision does not depend on which pair came first.
    fn answers_anything(&self) -> Result<(), String> {
        if self.has_answered.load(Ordering::Relaxed) {
            return Ok(());
        }
        let ask = || {
            let mut session = self.fresh()?;
            let answer = session.ask_for_smallest(&self.limits);
            answer.map_err(|error| format!("it answers nothing: {error}"))
        };
        self.smallest.get_or_init(ask).clone()
    }

    fn put_back(&self, session: Session) {
        if self.is_new_for_each {
            return;
        }
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(session);
    }
}

impl Session {
    fn start(command: &[String], limits: &ProtocolLimits) -> Result<(Session, Greeting), String> {
        let mut process = Process::spawn(command, limits.answer)?;
        let line = process.ask(&Request::Start { rolecall: VERSION }, limits.start)?;
        let greeting = Greeting::read(&line)?;
        let session = Session {
            process,
            requests: 0,
            loaded: HashMap::new(),
        };
        Ok((session, greeting))
    }

    fn next(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// Asks for a template without any construct. Any valid answer will do.
    fn ask_for_smallest(&mut self, limits: &ProtocolLimits) -> Result<(), String> {
        let id = self.next();
        let request = Request::Load {
            id,
            template: "smallest",
            source: "x",
            behind: None,
        };
        let line = self.process.ask(&request, limits.time)?;
        if let Meaning::Outcome(_) = Meaning::read(&line, id)? {
            return Ok(());
        }
        let id = self.next();
        let messages = [json!({"role": "user", "content": "x"})];
        let input = RenderInput {
            now: Moment::default().to_string(),
            messages: &messages,
            tools: None,
            documents: None,
            add_generation_prompt: true,
            continue_final_message: None,
            variables: Map::new(),
            go: None,
        };
        let request = Request::Render {
            id,
            template: "smallest",
            input: &input,
        };
        let line = self.process.ask(&request, limits.time)?;
        Meaning::read(&line, id).map(|_| ())
    }

    /// Loads a template into the program, if it is not loaded yet. Returns the refusal,
    /// if there is one.
    fn load(&mut self, remote: &RemoteTemplate) -> Result<Option<Outcome>, String> {
        let name = remote.name.as_str();
        if self.loaded.get(name) == Some(&remote.number) {
            return Ok(None);
        }
        let id = self.next();
        let request = Request::Load {
            id,
            template: name,
            source: &remote.template.source,
            behind: remote.front.as_deref().map(|front| FrontRequest {
                front,
                special_tokens: &remote.template.special_tokens,
                setup: remote.template.setup.to_json(),
                templates: remote.template.sources_by_name().collect(),
            }),
        };
        let line = self.process.ask(&request, remote.engine.limits.time)?;
        match Meaning::read(&line, id)? {
            Meaning::Loaded => {
                self.loaded.insert(name.to_owned(), remote.number);
                Ok(None)
            }
            Meaning::Outcome(refused @ (Outcome::Failed { .. } | Outcome::Exceeded { .. })) => {
                Ok(Some(refused))
            }
            // A process that crashed may be broken.
            Meaning::Outcome(Outcome::Crashed { message }) => Err(message),
            Meaning::Outcome(other) => Err(format!("it answered `load` with `{}`", other.kind())),
        }
    }

    fn render(
        &mut self,
        remote: &RemoteTemplate,
        conversation: &Conversation<'_>,
    ) -> Result<Outcome, String> {
        let id = self.next();
        let input = input::of(
            conversation,
            &remote.template,
            remote.front.is_some(),
            remote.go.as_ref(),
        );
        let request = Request::Render {
            id,
            template: &remote.name,
            input: &input,
        };
        let line = self.process.ask(&request, remote.engine.limits.time)?;
        match Meaning::read(&line, id)? {
            // What crashed may be spoilt.
            Meaning::Outcome(Outcome::Crashed { message }) => Err(message),
            Meaning::Outcome(outcome) => Ok(outcome),
            Meaning::Loaded => Err("it answered `render` with `ok`".to_owned()),
        }
    }
}

impl RemoteTemplate {
    /// The program's outcome for a conversation. The error says why the program is given
    /// up.
    fn ask(&self, conversation: &Conversation<'_>) -> Result<Outcome, String> {
        let engine = &self.engine;
        let session = match engine.idle() {
            // A failure of a used process may come from an earlier request.
            Some(session) if session.requests > 0 => match self.ask_in(session, conversation) {
                Ok(outcome) => return Ok(outcome),
                Err(_) => engine.fresh()?,
            },
            Some(session) => session,
            None => engine.fresh()?,
        };
        let crash = match self.ask_in(session, conversation) {
            Ok(outcome) => return Ok(outcome),
            Err(crash) => crash,
        };
        engine.answers_anything()?;
        let outcome = Outcome::Crashed {
            message: crash.message,
        };
        if crash.is_in_loading {
            return Ok(self.refused.get_or_init(|| outcome).clone());
        }
        Ok(outcome)
    }

    /// Asks a process. It is kept if it answers; otherwise it is dropped, which kills it.
    fn ask_in(
        &self,
        mut session: Session,
        conversation: &Conversation<'_>,
    ) -> Result<Outcome, Crash> {
        let crashed_in = |is_in_loading| {
            move |message| Crash {
                message,
                is_in_loading,
            }
        };
        let refused = session.load(self).map_err(crashed_in(true))?;
        let outcome = match refused {
            Some(refused) => self.refused.get_or_init(|| refused).clone(),
            None => session
                .render(self, conversation)
                .map_err(crashed_in(false))?,
        };
        self.engine.has_answered.store(true, Ordering::Relaxed);
        self.engine.put_back(session);
        Ok(outcome)
    }
}

impl Program for RemoteTemplate {
    fn render_with(&self, conversation: &Conversation<'_>, _: &mut dyn Observer) -> Outcome {
        if let Some(refused) = self.refused.get() {
            return refused.clone();
        }
        let given_up = &self.engine.given_up;
        let asked = match given_up.get() {
            Some(reason) => Err(reason.clone()),
            None => self.ask(conversation),
        };
        asked.unwrap_or_else(|reason| Outcome::NotAsked {
            message: given_up.get_or_init(|| reason).clone(),
        })
    }
}

impl Engine for ProtocolEngine {
    fn name(&self) -> &str {
        &self.shared.greeting.engine
    }

    fn version(&self) -> &str {
        &self.shared.greeting.version
    }

    fn components(&self) -> BTreeMap<String, String> {
        self.shared.greeting.components.clone()
    }

    fn description(&self) -> String {
        let greeting = &self.shared.greeting;
        let mut text = format!("{} {}", greeting.engine, greeting.version);
        let components: Vec<_> = greeting
            .components
            .iter()
            .map(|(name, version)| format!("{name} {version}"))
            .collect();
        if !components.is_empty() {
            text = format!("{} ({})", text.trim_end(), components.join(", "));
        }
        text.trim_end().to_owned()
    }

    fn dialect(&self) -> Dialect {
        self.shared.dialect
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        Ok(self.remote(template, None))
    }

    fn compile_behind(
        &self,
        front: &str,
        template: &Template,
    ) -> Option<Result<Box<dyn Program>, Refusal>> {
        let mut fronts = self.shared.greeting.fronts.iter();
        let front = fronts.find(|name| *name == front)?;
        Some(Ok(self.remote(template, Some(front.clone()))))
    }
}

impl ProtocolEngine {
    fn remote(&self, template: &Template, front: Option<String>) -> Box<dyn Program> {
        let is_application = !self.shared.greeting.fronts.is_empty();
        let is_go = self.shared.dialect == Dialect::Go && !is_application;
        Box::new(RemoteTemplate {
            engine: Arc::clone(&self.shared),
            go: is_go.then(|| input::go_program(template)).flatten(),
            number: self.shared.compiled.fetch_add(1, Ordering::Relaxed),
            name: match &front {
                Some(front) => format!("{}@{front}", template.name),
                None => template.name.to_string(),
            },
            front,
            template: template.clone(),
            refused: OnceLock::new(),
        })
    }
}

impl Drop for EngineState {
    fn drop(&mut self) {
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        for session in idle.drain(..) {
            session.process.stop(&Request::Stop);
        }
    }
}

impl fmt::Debug for ProtocolEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtocolEngine")
            .field("command", &self.shared.command)
            .field("greeting", &self.shared.greeting)
            .finish_non_exhaustive()
    }
}
