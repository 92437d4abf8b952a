//! What minijinja's errors mean to the harness.

use minijinja::{Error, ErrorKind};
use rolecall_model::{Limit, Refusal, Stage};

use super::meter::LimitReached;

/// The error behind `raise_exception(message)`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Raised(pub(super) String);

/// The refusal that an error of a render or a load comes to.
pub(super) fn refusal(error: &Error, stage: Stage) -> Refusal {
    for cause in causes(error) {
        if let Some(Raised(message)) = cause.downcast_ref() {
            return Refusal::Raised {
                message: message.clone(),
            };
        }
        if let Some(LimitReached(limit)) = cause.downcast_ref() {
            return Refusal::Exceeded { limit: *limit };
        }
        if let Some(error) = cause.downcast_ref::<Error>()
            && let Some(limit) = own_limit(error)
        {
            return Refusal::Exceeded { limit };
        }
    }
    // The innermost error is the one that has something to say: the others only tell
    // that it came through a block or a macro.
    let innermost = causes(error)
        .filter_map(|cause| cause.downcast_ref::<Error>())
        .last()
        .unwrap_or(error);
    Refusal::Failed {
        stage,
        message: match innermost.detail() {
            Some(detail) => format!("{}: {detail}", innermost.kind()),
            None => innermost.kind().to_string(),
        },
        line: innermost.line().or(error.line()),
    }
}

/// The limits that minijinja keeps by itself.
fn own_limit(error: &Error) -> Option<Limit> {
    match (error.kind(), error.detail()) {
        (ErrorKind::OutOfFuel, None) => Some(Limit::Fuel),
        // minijinja 3.0.5: vm/context.rs and compiler/parser.rs
        (_, Some("recursion limit exceeded" | "template exceeds maximum recursion limits")) => {
            Some(Limit::Recursion)
        }
        _ => None,
    }
}

fn causes<'e>(error: &'e Error) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(
        Some(error as &'e (dyn std::error::Error + 'static)),
        |error| error.source(),
    )
}
