//! Errors of the engine, and the refusal that an error leads to.

use std::borrow::Cow;

use minijinja::{Error, ErrorKind};
use rolecall_model::{Limit, Refusal, Stage};

use crate::meter::LimitReached;

/// The error of an operation that cannot be done.
pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// The error of a text that is no template, which says in which line and at which byte.
pub(crate) fn syntax_error(message: impl Into<String>, line: usize, byte: usize) -> Error {
    Error::new(ErrorKind::SyntaxError, message.into()).with_source(Place { line, byte })
}

/// The place of an error: minijinja lets nobody else say it.
#[derive(Debug, thiserror::Error)]
#[error("in line {line}")]
struct Place {
    line: usize,
    byte: usize,
}

/// The byte of the text at which it is no template, if that is why there is an error.
pub(crate) fn byte_of(error: &Error) -> Option<usize> {
    let place: &Place = causes(error).find_map(|cause| cause.downcast_ref())?;
    Some(place.byte)
}

/// The error behind `raise_exception(message)`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Raised(pub(crate) String);

/// The refusal that an error of a render or a load leads to.
pub(crate) fn refusal(error: &Error, stage: Stage) -> Refusal {
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
    // The innermost error tells what happened, the others only that it came through a block
    // or a macro.
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
        line: innermost.line().or(error.line()).or_else(|| {
            let place: &Place = causes(error).find_map(|cause| cause.downcast_ref())?;
            Some(place.line)
        }),
    }
}

/// The limit behind an error, if it is one of those that minijinja keeps by itself.
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

/// An error, the error that caused it, and so on.
fn causes<'e>(error: &'e Error) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(
        Some(error as &'e (dyn std::error::Error + 'static)),
        |error| error.source(),
    )
}
