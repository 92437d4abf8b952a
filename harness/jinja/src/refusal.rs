//! Errors of the engine, and how they become refusals.

use std::borrow::Cow;

use minijinja::machinery::Span;
use minijinja::{Error, ErrorKind};
use rolecall_core::{Refusal, Stage};

use crate::meter::LimitReached;

/// The error of an operation that cannot be done.
pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// The error of a text that is not a template, with its line and byte.
pub(crate) fn syntax_error(message: impl Into<String>, line: usize, byte: usize) -> Error {
    Error::new(ErrorKind::SyntaxError, message.into()).with_source(ErrorPlace { line, byte })
}

/// The error of a part of a template that is not allowed there.
pub(crate) fn syntax_error_at(message: impl Into<String>, span: Span) -> Error {
    let (line, byte) = (usize::from(span.start_line), span.start_offset as usize);
    syntax_error(message, line, byte)
}

/// The place of an error. minijinja does not let others set it in its own errors.
#[derive(Debug, thiserror::Error)]
#[error("in line {line}")]
struct ErrorPlace {
    line: usize,
    byte: usize,
}

/// The byte of a syntax error, if the error is one.
pub(crate) fn byte_of(error: &Error) -> Option<usize> {
    let place: &ErrorPlace = causes(error).find_map(|cause| cause.downcast_ref())?;
    Some(place.byte)
}

/// The error after `raise_exception(message)`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct RaisedException(pub(crate) String);

/// Turns an error of a render or a load into a refusal. A render knows the line.
pub(crate) fn refusal(error: &Error, stage: Stage, line: Option<usize>) -> Refusal {
    for cause in causes(error) {
        if let Some(RaisedException(message)) = cause.downcast_ref() {
            return Refusal::Raised {
                message: message.clone(),
            };
        }
        if let Some(LimitReached(limit)) = cause.downcast_ref() {
            return Refusal::Exceeded { limit: *limit };
        }
    }
    Refusal::Failed {
        stage,
        message: match error.detail() {
            Some(detail) => format!("{}: {detail}", error.kind()),
            None => error.kind().to_string(),
        },
        line: line.or_else(|| {
            let place: &ErrorPlace = causes(error).find_map(|cause| cause.downcast_ref())?;
            Some(place.line)
        }),
    }
}

/// An error, the error that caused it, and so on.
fn causes<'e>(error: &'e Error) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(
        Some(error as &'e (dyn std::error::Error + 'static)),
        |error| error.source(),
    )
}
