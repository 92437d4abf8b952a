//! A program's own parsers of answers.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rolecall_core::{Answer, ReadOutcome, Template, TemplateReader};
use serde_json::{Map, Value};

use crate::protocol::input;
use crate::protocol::message::ReadWith;
use crate::protocol::pool::ProcessPool;
use crate::protocol::session::{Crash, RemoteTemplate, Session};

/// The parsers that a program has for the answers to the prompts of a template.
pub struct ProgramParsers {
    pool: Arc<ProcessPool>,
    remote: RemoteTemplate,
    /// What every answer gives if the program does not load the template.
    refused: OnceLock<ReadOutcome>,
}

impl ProgramParsers {
    pub(crate) fn new(pool: Arc<ProcessPool>, template: &Template) -> ProgramParsers {
        let remote = RemoteTemplate {
            number: pool.next_number(),
            name: template.name.to_string(),
            front: None,
            template: template.clone(),
            go: None,
            parsers: OnceLock::new(),
        };
        ProgramParsers {
            pool,
            remote,
            refused: OnceLock::new(),
        }
    }

    /// The names of the parsers, once an answer was read. Empty if the program does not name them.
    pub fn names(&self) -> &[String] {
        self.remote.parsers.get().map_or(&[], Vec::as_slice)
    }

    fn read_in(
        &self,
        session: &mut Session,
        answer: &Answer<'_>,
        variables: &Map<String, Value>,
    ) -> Result<ReadOutcome, Crash> {
        let limits = &self.pool.limits;
        let crashed_in = |is_in_loading| {
            move |message| Crash {
                message,
                is_in_loading,
            }
        };
        let refused = session.load(&self.remote, limits);
        if let Some(refused) = refused.map_err(crashed_in(true))? {
            let outcome = ReadOutcome::Unsupported {
                message: format!("it does not load the template: {}", refused.text()),
            };
            return Ok(self.refused.get_or_init(|| outcome).clone());
        }
        let with = ReadWith::ChatTemplate {
            template: &self.remote.name,
            variables,
        };
        session
            .read(with, answer, limits)
            .map_err(crashed_in(false))
    }
}

impl TemplateReader for ProgramParsers {
    fn read(&self, answer: &Answer<'_>, variables: &Map<String, Value>) -> ReadOutcome {
        if let Some(refused) = self.refused.get() {
            return refused.clone();
        }
        let template = &self.remote.template;
        let variables = input::variables(template, answer.tools, variables, false);
        let ask = |session: &mut Session| self.read_in(session, answer, &variables);
        match self.pool.ask(ask, Session::read_smallest_with_parsers) {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(crash)) => {
                let outcome = ReadOutcome::Crashed {
                    message: crash.message,
                };
                if crash.is_in_loading {
                    return self.refused.get_or_init(|| outcome).clone();
                }
                outcome
            }
            Err(message) => ReadOutcome::NotAsked { message },
        }
    }
}

impl fmt::Debug for ProgramParsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramParsers")
            .field("template", &self.remote.name)
            .finish_non_exhaustive()
    }
}
