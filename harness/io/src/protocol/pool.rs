//! The processes of one program.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rolecall_core::{Deaths, Dialect};

use crate::protocol::limits::ProtocolLimits;
use crate::protocol::message::{Greeting, Request};
use crate::protocol::session::{Crash, Session};

/// The failed starts after which a program is given up.
const MOST_STARTS: usize = 3;

/// The processes of a program, which an engine shares with its templates.
pub(crate) struct ProcessPool {
    command: Vec<String>,
    pub(crate) limits: ProtocolLimits,
    /// How the program has introduced itself.
    pub(crate) greeting: Greeting,
    /// The dialect of the templates that it renders.
    pub(crate) dialect: Dialect,
    idle: Mutex<Vec<Session>>,
    /// Whether the program has answered anything besides `start`.
    has_answered: AtomicBool,
    /// The result of the smallest request, if it was needed.
    smallest: OnceLock<Result<(), String>>,
    /// Why the program was given up.
    given_up: OnceLock<String>,
    /// How many templates it was given.
    compiled: AtomicUsize,
    /// How often a process failed with a request that the next one answered.
    pub(crate) deaths: DeathCount,
}

/// A count of deaths that lives on when its program is gone.
#[derive(Debug, Clone, Default)]
pub struct DeathCount(Arc<Mutex<Deaths>>);

impl DeathCount {
    pub fn deaths(&self) -> Deaths {
        self.lock().clone()
    }

    fn add(&self, seen: String) {
        let mut deaths = self.lock();
        if deaths.count == 0 {
            deaths.first = seen;
        }
        deaths.count += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Deaths> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A small request that tells a program that cannot answer from one that could not answer something
/// else.
pub(crate) type SmallestRequest = fn(&mut Session, &ProtocolLimits) -> Result<(), String>;

impl ProcessPool {
    /// Starts the program. The error says why it cannot be started.
    pub(crate) fn start(
        command: Vec<String>,
        limits: ProtocolLimits,
    ) -> Result<ProcessPool, String> {
        let (session, greeting) = Session::start(&command, &limits)?;
        let dialect = greeting.dialect()?;
        Ok(ProcessPool {
            command,
            limits,
            greeting,
            dialect,
            // The process that has introduced itself is the first one to render: a start may take a
            // minute.
            idle: Mutex::new(vec![session]),
            has_answered: AtomicBool::new(false),
            smallest: OnceLock::new(),
            given_up: OnceLock::new(),
            compiled: AtomicUsize::new(0),
            deaths: DeathCount::default(),
        })
    }

    /// A number that no other template of this program has.
    pub(crate) fn next_number(&self) -> usize {
        self.compiled.fetch_add(1, Ordering::Relaxed)
    }

    /// Asks a process for something. The outer error says why the program is given up, the inner
    /// one what went wrong with the process this time.
    pub(crate) fn ask<T>(
        &self,
        ask: impl Fn(&mut Session) -> Result<T, Crash>,
        smallest: SmallestRequest,
    ) -> Result<Result<T, Crash>, String> {
        if let Some(reason) = self.given_up.get() {
            return Err(reason.clone());
        }
        self.try_to_ask(ask, smallest)
            // Several threads may fail at once: the first reason counts, so that all outcomes say the
            // same.
            .map_err(|reason| self.given_up.get_or_init(|| reason).clone())
    }

    fn try_to_ask<T>(
        &self,
        ask: impl Fn(&mut Session) -> Result<T, Crash>,
        smallest: SmallestRequest,
    ) -> Result<Result<T, Crash>, String> {
        // A process is kept if it answers; otherwise it is dropped, which kills it.
        let ask_in = |mut session: Session| match ask(&mut session) {
            Ok(answer) => {
                self.has_answered.store(true, Ordering::Relaxed);
                self.put_back(session);
                Ok(answer)
            }
            Err(crash) => Err((crash, session.process.has_ended_well())),
        };
        let mut died = None;
        let session = match self.idle() {
            // A failure of a used process may come from an earlier request.
            Some(session) if session.requests > 0 => match ask_in(session) {
                Ok(answer) => return Ok(Ok(answer)),
                // A program may answer and exit.
                Err((_, true)) => self.fresh()?,
                Err((crash, false)) => {
                    died = Some(crash.message);
                    self.fresh()?
                }
            },
            Some(session) => session,
            None => self.fresh()?,
        };
        let answer = ask_in(session).map_err(|(crash, _)| crash);
        match (&answer, died) {
            // Another failure is the outcome of the request.
            (Err(_), _) => self.answers_anything(smallest)?,
            (Ok(_), Some(seen)) => self.deaths.add(seen),
            (Ok(_), None) => {}
        }
        Ok(answer)
    }

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
    fn answers_anything(&self, smallest: SmallestRequest) -> Result<(), String> {
        if self.has_answered.load(Ordering::Relaxed) {
            return Ok(());
        }
        let ask = || {
            let mut session = self.fresh()?;
            let answer = smallest(&mut session, &self.limits);
            answer.map_err(|error| format!("it answers nothing: {error}"))
        };
        self.smallest.get_or_init(ask).clone()
    }

    /// Whether the program answers, which nothing may have shown so far. One that was given up has
    /// outcomes that say so.
    pub(crate) fn answers(&self) -> Result<(), String> {
        match self.given_up.get() {
            Some(_) => Ok(()),
            None => self.answers_anything(Session::ask_for_smallest),
        }
    }

    fn put_back(&self, session: Session) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(session);
    }
}

impl Drop for ProcessPool {
    fn drop(&mut self) {
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        for session in idle.drain(..) {
            session.process.stop(&Request::Stop);
        }
    }
}
