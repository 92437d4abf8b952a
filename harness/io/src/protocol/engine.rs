//! The engine that is another program.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use rolecall_core::invocation;
use rolecall_core::{
    Answer, AnswerReader, Conversation, Deaths, Dialect, Engine, Observer, Outcome, Program,
    ReadOutcome, Refusal, Template, Wanted,
};
use serde_json::Value;

use crate::protocol::error::ProtocolError;
use crate::protocol::input;
use crate::protocol::limits::ProtocolLimits;
use crate::protocol::message::{ReadWith, ReadingKind};
use crate::protocol::parsers::ProgramParsers;
use crate::protocol::pool::{DeathCount, ProcessPool};
use crate::protocol::process;
use crate::protocol::session::{Crash, RemoteTemplate, Rendered, Session};

/// An engine that is another program. The program runs until the engine and all its
/// templates are dropped.
pub struct ProtocolEngine {
    pool: Arc<ProcessPool>,
}

impl ProtocolEngine {
    /// Starts the program of a command line, split into words as a shell does it.
    pub fn start(command: &str, limits: ProtocolLimits) -> Result<ProtocolEngine, ProtocolError> {
        ProtocolEngine::spawn(&ProtocolEngine::words(command)?, limits)
    }

    /// The words of a command line, as a shell splits it.
    pub fn words(command: &str) -> Result<Vec<String>, ProtocolError> {
        shlex::split(command)
            .filter(|words| !words.is_empty())
            .ok_or_else(|| ProtocolError::Command(command.to_owned()))
    }

    /// Starts a program with arguments.
    pub fn spawn(
        words: &[String],
        limits: ProtocolLimits,
    ) -> Result<ProtocolEngine, ProtocolError> {
        let pool = ProcessPool::start(words.to_vec(), limits).map_err(|reason| {
            let command = process::written(words);
            let trial = format!("probe-engine {}", invocation::word(&command));
            let reason = match process::missing_file(words) {
                Some(missing) => format!("{missing}\n  {reason}"),
                None if reason.starts_with(process::NO_PROGRAM) => reason,
                None => format!(
                    "{reason}\n  `{}` asks it step by step, and says what it should answer",
                    invocation::command(&trial)
                ),
            };
            ProtocolError::Start { command, reason }
        })?;
        Ok(ProtocolEngine {
            pool: Arc::new(pool),
        })
    }

    /// Whether the program reads answers with response templates.
    pub fn reads_answers(&self) -> bool {
        self.pool.greeting.reads(ReadingKind::ResponseTemplate)
    }

    /// Whether the program reads answers with parsers of its own, by their chat template.
    pub fn has_parsers(&self) -> bool {
        self.pool.greeting.reads(ReadingKind::ChatTemplate)
    }

    /// The program's own parsers for the answers to the prompts of a template.
    pub fn parsers(&self, template: &Template) -> ProgramParsers {
        ProgramParsers::new(Arc::clone(&self.pool), template)
    }

    /// The count of the program's deaths, also of those that are still to come.
    pub fn death_count(&self) -> DeathCount {
        self.pool.deaths.clone()
    }

    fn remote(&self, template: &Template, front: Option<String>) -> Box<dyn Program> {
        let is_application = !self.pool.greeting.fronts.is_empty();
        let is_go = self.pool.dialect == Dialect::Go && !is_application;
        let remote = RemoteTemplate {
            go: is_go.then(|| input::go_program(template)).flatten(),
            number: self.pool.next_number(),
            name: match &front {
                // The program keeps templates by name, and may hold this one without the front at the
                // same time.
                Some(front) => format!("{}@{front}", template.name),
                None => template.name.to_string(),
            },
            front,
            template: template.clone(),
            parsers: OnceLock::new(),
        };
        Box::new(RemoteProgram {
            pool: Arc::clone(&self.pool),
            remote,
            refused: OnceLock::new(),
        })
    }
}

/// A template of the program. Each process loads it when it first needs it.
struct RemoteProgram {
    pool: Arc<ProcessPool>,
    remote: RemoteTemplate,
    refused: OnceLock<Outcome>,
}

impl RemoteProgram {
    /// The outcome of a process for a conversation, and what it says is learned of the prompt, if the
    /// caller wants to know.
    fn outcome_in(
        &self,
        session: &mut Session,
        conversation: &Conversation<'_>,
        wants_learned: bool,
    ) -> Result<Rendered, Crash> {
        let crashed_in = |is_in_loading| {
            move |message| Crash {
                message,
                is_in_loading,
            }
        };
        let limits = &self.pool.limits;
        let refused = session.load(&self.remote, limits);
        match refused.map_err(crashed_in(true))? {
            // Kept, because a template that is refused once would be sent again for each of its cases.
            Some(refused) => Ok((self.refused.get_or_init(|| refused).clone(), None)),
            None => session
                .render(&self.remote, conversation, wants_learned, limits)
                .map_err(crashed_in(false)),
        }
    }
}

impl Program for RemoteProgram {
    fn render_with(&self, conversation: &Conversation<'_>, observer: &mut Observer) -> Outcome {
        if let Some(refused) = self.refused.get() {
            return refused.clone();
        }
        let wants = observer.wants(Wanted::OwnText);
        let ask = |session: &mut Session| self.outcome_in(session, conversation, wants);
        match self.pool.ask(ask, Session::ask_for_smallest) {
            Ok(Ok((outcome, learned))) => {
                observer.own_text = learned;
                outcome
            }
            Ok(Err(crash)) => {
                let outcome = Outcome::Crashed {
                    message: crash.message,
                };
                // The template kills the program. Each further case would cost a restart and perhaps
                // the time limit.
                if crash.is_in_loading {
                    return self.refused.get_or_init(|| outcome).clone();
                }
                outcome
            }
            Err(message) => Outcome::NotAsked { message },
        }
    }
}

impl AnswerReader for ProtocolEngine {
    fn read(&self, response_template: &Value, answer: &Answer<'_>) -> ReadOutcome {
        let ask = |session: &mut Session| {
            let with = ReadWith::ResponseTemplate { response_template };
            let read = session.read(with, answer, &self.pool.limits);
            read.map_err(|message| Crash {
                message,
                is_in_loading: false,
            })
        };
        match self.pool.ask(ask, Session::read_smallest) {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(crash)) => ReadOutcome::Crashed {
                message: crash.message,
            },
            Err(message) => ReadOutcome::NotAsked { message },
        }
    }
}

impl Engine for ProtocolEngine {
    fn name(&self) -> &str {
        &self.pool.greeting.engine
    }

    fn version(&self) -> &str {
        &self.pool.greeting.version
    }

    fn components(&self) -> BTreeMap<String, String> {
        self.pool.greeting.components.clone()
    }

    fn description(&self) -> String {
        let greeting = &self.pool.greeting;
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
        self.pool.dialect
    }

    fn deaths(&self) -> Deaths {
        self.pool.deaths.deaths()
    }

    fn answers(&self) -> Result<(), String> {
        self.pool.answers()
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        Ok(self.remote(template, None))
    }

    fn compile_with_front(
        &self,
        front: &str,
        template: &Template,
    ) -> Option<Result<Box<dyn Program>, Refusal>> {
        let mut fronts = self.pool.greeting.fronts.iter();
        let front = fronts.find(|name| *name == front)?;
        Some(Ok(self.remote(template, Some(front.clone()))))
    }
}

impl fmt::Debug for ProtocolEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtocolEngine")
            .field("greeting", &self.pool.greeting)
            .finish_non_exhaustive()
    }
}
