//! Engines of chat templates that are other programs, in any language: Rolecall asks them over JSON
//! Lines, restarts them when they hang or die, and tests their adapters. `rolecall run --engine`
//! and `rolecall probe-engine` use it.
//!
//! A program reads requests from its standard input and writes answers to its standard
//! output, one JSON object a line; standard error is free for logs. It is started once
//! for each thread that renders. A program that dies, hangs, answers out of turn or
//! prints something else is restarted. If it had answered before, the pair is tried
//! again, because an earlier request may have broken the process. A pair is `crashed`
//! only if the process fails on its first request, so the outcome does not depend on
//! other pairs. Deaths that leave no trace in an outcome are counted. A program that no longer starts, or answers nothing, is given up: the
//! remaining pairs are `not asked`.
//!
//! `message` defines the lines, `input` makes the conversation in them, and `reading` the message
//! that a program has read. `process` runs one program, in a `group` of processes and without the
//! user's `secrets`; `background` runs one that is asked in other ways, such as a server. A `session`
//! asks it, and a `pool` keeps the sessions. `parsers` are the program's own parsers of answers, and
//! `engine` is the engine that all this makes up. `serve` is the other end: it serves an engine of
//! this process. `trial` puts the
//! questions of `question` to a program, the `subject`.

mod error;
mod limits;
mod message;
mod reading;

mod input;

mod group;
mod secrets;

mod process;

mod background;

mod session;

mod pool;

mod parsers;

mod engine;

mod serve;

mod question;

mod subject;

mod trial;

pub use background::BackgroundProcess;
pub use engine::ProtocolEngine;
pub use error::ProtocolError;
pub use group::{ProcessGroup, watch_groups, watch_with};
pub use input::{all_variables, request};
pub use limits::ProtocolLimits;
pub use message::read_answer;
pub use parsers::ProgramParsers;
pub use pool::DeathCount;
pub use process::Process;
pub use secrets::GIVEN;
pub use serve::serve;
pub use trial::{Check, CheckResult, Trial};
