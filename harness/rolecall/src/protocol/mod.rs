//! Engines that are other programs, over the engine protocol.
//!
//! A program reads requests from its standard input and writes answers to its standard
//! output, one JSON object a line; standard error is free for logs. It is started once
//! for each thread that renders. A program that dies, hangs, answers out of turn or
//! prints something else is `crashed` for that pair and is started anew.
//!
//! `message` says what the lines mean, `process` keeps one program, and `serve` is the
//! other end: an engine of this process, for any program that asks.

mod limits;
mod message;
mod process;
mod serve;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rolecall_model::{
    Conversation, Dialect, Engine, Outcome, Program, Refusal, Template, Variable,
};

use rolecall_jinja::tools_json;
use serde_json::Map;

pub use limits::ProtocolLimits;
pub use serve::{ServeError, serve};

use message::{Behind, Greeting, Input, Meaning, Request, VERSION};
use process::Process;

/// Crashes in a row with one template after which it is not asked for that template any
/// more: each may take the whole time limit.
const MOST_CRASHES_OF_TEMPLATE: usize = 3;

/// Crashes in a row, whatever the template, after which the program is given up.
const MOST_CRASHES: usize = 30;

/// An engine that is another program. The program runs until the engine and all that it
/// compiled are dropped.
pub struct ProtocolEngine {
    shared: Arc<Shared>,
}

/// What an engine and the templates that it compiled have in common.
struct Shared {
    command: Vec<String>,
    limits: ProtocolLimits,
    greeting: Greeting,
    dialect: Dialect,
    idle: Mutex<Vec<Session>>,
    crashes: AtomicUsize,
    compiled: AtomicUsize,
}

/// A program that cannot be used as an engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The command line has no words, or a quote without an end.
    #[error("`{0}` is not a command line: a quote does not end")]
    Command(String),
    /// The program did not start, or not as an engine does.
    #[error("the engine `{command}` cannot be used: {reason}")]
    Start {
        /// The command line.
        command: String,
        /// What was seen.
        reason: String,
    },
}

/// A running program, and what it has been told.
struct Session {
    process: Process,
    requests: u64,
    /// The templates that it holds, by name; the number tells namesakes apart.
    loaded: HashMap<String, usize>,
}

/// A template for a program: it is loaded by each process that first needs it.
struct Remote {
    engine: Arc<Shared>,
    number: usize,
    /// The template's name, with that of the front: the same template may be there without.
    name: String,
    /// The front that the program has itself and shall have before this template.
    front: Option<String>,
    template: Template,
    refused: OnceLock<Outcome>,
    crashes: AtomicUsize,
}

/// What a line means that answers `load` or `render`: an outcome, or that the template is
/// loaded. The error says what is wrong with it, as a crash does.
pub fn read_answer(line: &[u8], asked: u64) -> Result<Option<Outcome>, String> {
    match Meaning::read(line, asked)? {
        Meaning::Outcome(outcome) => Ok(Some(outcome)),
        Meaning::Loaded => Ok(None),
    }
}

impl ProtocolEngine {
    /// Starts the program of a command line, split into words as a shell does it.
    pub fn start(command: &str, limits: ProtocolLimits) -> Result<ProtocolEngine, ProtocolError> {
        let words = shlex::split(command)
            .filter(|words| !words.is_empty())
            .ok_or_else(|| ProtocolError::Command(command.to_owned()))?;
        ProtocolEngine::spawn(words, limits)
    }

    /// Starts a program with arguments.
    pub fn spawn(
        words: Vec<String>,
        limits: ProtocolLimits,
    ) -> Result<ProtocolEngine, ProtocolError> {
        let failed = |reason| ProtocolError::Start {
            command: words.join(" "),
            reason,
        };
        let (session, greeting) = Session::start(&words, &limits).map_err(failed)?;
        let dialect = greeting.dialect().map_err(failed)?;
        Ok(ProtocolEngine {
            shared: Arc::new(Shared {
                command: words,
                limits,
                greeting,
                dialect,
                idle: Mutex::new(vec![session]),
                crashes: AtomicUsize::new(0),
                compiled: AtomicUsize::new(0),
            }),
        })
    }

    /// The version that the program says it has.
    pub fn version(&self) -> &str {
        &self.shared.greeting.version
    }

    /// What else the program says it is made of, with versions.
    pub fn components(&self) -> &BTreeMap<String, String> {
        &self.shared.greeting.components
    }
}

impl Shared {
    fn session(&self) -> Result<Session, String> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(session) => Ok(session),
            None => Session::start(&self.command, &self.limits).map(|(session, _)| session),
        }
    }

    fn put_back(&self, session: Session) {
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

    /// Sees to it that the program holds a template; says what it refused it with.
    fn load(&mut self, remote: &Remote) -> Result<Option<Outcome>, String> {
        let name = remote.name.as_str();
        if self.loaded.get(name) == Some(&remote.number) {
            return Ok(None);
        }
        let id = self.next();
        let request = Request::Load {
            id,
            template: name,
            source: &remote.template.source,
            behind: remote.front.as_deref().map(|front| Behind {
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
            Meaning::Outcome(
                refused @ (Outcome::Failed { .. }
                | Outcome::Exceeded { .. }
                | Outcome::Crashed { .. }),
            ) => Ok(Some(refused)),
            Meaning::Outcome(other) => Err(format!("it answered `load` with `{}`", other.kind())),
        }
    }

    fn render(
        &mut self,
        remote: &Remote,
        conversation: &Conversation<'_>,
    ) -> Result<Outcome, String> {
        let id = self.next();
        let input = remote.input(conversation);
        let request = Request::Render {
            id,
            template: &remote.name,
            input: &input,
        };
        let line = self.process.ask(&request, remote.engine.limits.time)?;
        match Meaning::read(&line, id)? {
            Meaning::Outcome(outcome) => Ok(outcome),
            Meaning::Loaded => Err("it answered `render` with `ok`".to_owned()),
        }
    }
}

impl Remote {
    /// The template's variables and the case's are one object here; those of the case
    /// win. An application has the special tokens already.
    fn input<'c>(&self, conversation: &Conversation<'c>) -> Input<'c> {
        let case = conversation.case();
        let mut variables = match &self.front {
            Some(_) => Map::new(),
            None => self.template.special_tokens.clone(),
        };
        let continued = self
            .front
            .as_ref()
            .and(case.continue_final_message.as_deref());
        for (name, variable) in &self.template.variables {
            let value = match (variable, &case.tools) {
                (Variable::Value(value), _) => value.clone(),
                (Variable::ToolsJson { indent }, Some(tools)) => tools_json(tools, *indent).into(),
                (Variable::ToolsJson { .. }, None) => continue,
            };
            variables.insert(name.clone(), value);
        }
        variables.extend(case.variables.clone());
        Input {
            now: case.now.to_string(),
            messages: &case.messages,
            tools: case.tools.as_deref(),
            documents: case.documents.as_deref(),
            add_generation_prompt: case.add_generation_prompt,
            continue_final_message: continued,
            variables,
        }
    }

    fn try_render(&self, conversation: &Conversation<'_>) -> Result<Outcome, String> {
        let mut session = self.engine.session()?;
        // A session whose program broke the protocol is dropped, and so killed.
        if let Some(refused) = session.load(self)? {
            self.engine.put_back(session);
            return Ok(self.refused.get_or_init(|| refused).clone());
        }
        let outcome = session.render(self, conversation)?;
        self.engine.put_back(session);
        Ok(outcome)
    }
}

impl Program for Remote {
    fn render(&self, conversation: &Conversation<'_>) -> Outcome {
        if let Some(refused) = self.refused.get() {
            return refused.clone();
        }
        for (crashes, most, whose) in [
            (
                &self.crashes,
                MOST_CRASHES_OF_TEMPLATE,
                " with this template",
            ),
            (&self.engine.crashes, MOST_CRASHES, ""),
        ] {
            if crashes.load(Ordering::Relaxed) >= most {
                let message = format!("not asked: it crashed {most} times in a row{whose}");
                return Outcome::Crashed { message };
            }
        }
        let counters = [&self.crashes, &self.engine.crashes];
        match self.try_render(conversation) {
            Ok(outcome) => {
                for counter in counters {
                    counter.store(0, Ordering::Relaxed);
                }
                outcome
            }
            Err(message) => {
                for counter in counters {
                    counter.fetch_add(1, Ordering::Relaxed);
                }
                Outcome::Crashed { message }
            }
        }
    }
}

impl Engine for ProtocolEngine {
    fn name(&self) -> &str {
        &self.shared.greeting.engine
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
        Box::new(Remote {
            engine: Arc::clone(&self.shared),
            number: self.shared.compiled.fetch_add(1, Ordering::Relaxed),
            name: match &front {
                Some(front) => format!("{}@{front}", template.name),
                None => template.name.to_string(),
            },
            front,
            template: template.clone(),
            refused: OnceLock::new(),
            crashes: AtomicUsize::new(0),
        })
    }
}

impl Drop for Shared {
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
