//! Turns an error of minijinja into a refusal.

use minijinja::{Error, ErrorKind};
use rolecall_core::{Limit, Refusal, Stage};

use crate::plain_minijinja::functions::RaisedException;

/// Turns an error of a render or a load into a refusal.
pub(crate) fn refusal(error: &Error, stage: Stage) -> Refusal {
    let mut innermost = error;
    let mut causes: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = causes {
        if let Some(RaisedException(message)) = cause.downcast_ref() {
            return Refusal::Raised {
                message: message.clone(),
            };
        }
        if let Some(error) = cause.downcast_ref::<Error>() {
            if let Some(limit) = limit(error) {
                return Refusal::Exceeded { limit };
            }
            innermost = error;
        }
        causes = cause.source();
    }
    // The innermost error has the cause. The others only name the block or macro around it.
    Refusal::Failed {
        stage,
        message: match innermost.detail() {
            Some(detail) => format!("{}: {detail}", innermost.kind()),
            None => innermost.kind().to_string(),
        },
        line: innermost.line().or(error.line()),
    }
}

/// The limit after an error, if there is one.
fn limit(error: &Error) -> Option<Limit> {
    match (error.kind(), error.detail()) {
        (ErrorKind::OutOfFuel, _) => Some(Limit::Fuel),
        // minijinja 3.0.5: vm/context.rs and compiler/parser.rs
        (_, Some("recursion limit exceeded" | "template exceeds maximum recursion limits")) => {
            Some(Limit::Recursion)
        }
        _ => None,
    }
}
