//! Why a command, or a library's user, did not get what they asked for.

use std::io;

use rolecall_core::invocation;
use rolecall_core::problem::{Problem, did_you_mean};
use rolecall_io::protocol::ProtocolError;

use crate::reference::ReferenceError;
use crate::run::RunError;
use crate::selection::SelectionError;

/// The reason why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The request does not fit the inputs.
    #[error("{0}")]
    Request(String),
    /// A file is in the way.
    #[error("{0}")]
    Problem(#[from] Problem),
    /// A file that is needed for everything is wrong.
    #[error("{}", listed(.0))]
    Problems(Vec<Problem>),
    /// The chosen engine cannot be used.
    #[error(transparent)]
    Engine(#[from] ProtocolError),
    /// A reference cannot be run.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// There is no pair to work on.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The run cannot start.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The report cannot be written.
    #[error("cannot write the report: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// No input has this name. The text suggests the closest of the known names, and has the problems
    /// of the inputs, because the one that was meant may be broken.
    pub fn unknown(what: &str, name: &str, known: &[&str], problems: &[Problem]) -> Failure {
        let help = did_you_mean(name, known).unwrap_or_else(|| {
            let list = invocation::command(&format!("list {what}s"));
            format!("`{list}` names them all")
        });
        let mut broken = String::new();
        for problem in problems {
            broken.push('\n');
            broken.push_str(&problem.to_string());
        }
        Failure::Request(format!("no {what} is named `{name}`\n  {help}{broken}"))
    }
}

fn listed(problems: &[Problem]) -> String {
    let all: Vec<String> = problems.iter().map(Problem::to_string).collect();
    all.join("\n")
}
