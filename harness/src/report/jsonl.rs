//! JSON Lines: one object a pair, for programs.

use std::io::{self, Write};

use serde::Serialize;

use crate::outcome::Outcome;
use crate::run::{Compared, Rendered};
use crate::snapshot::Comparison;

/// One line's object: what an engine did with a pair.
#[derive(Debug, Serialize)]
struct Object<'l> {
    template: &'l str,
    case: String,
    engine: &'l str,
    outcome: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'l str>,
}

impl<'l> Object<'l> {
    fn of(rendered: &'l Rendered<'_>) -> Object<'l> {
        let mut line = Object {
            template: rendered.pair.template.name.as_str(),
            case: rendered.pair.case.id.to_string(),
            engine: rendered.engine,
            outcome: rendered.outcome.kind().name(),
            text: None,
            message: None,
            stage: None,
            line: None,
            limit: None,
            snapshot: None,
            verdict: None,
        };
        match &rendered.outcome {
            Outcome::Rendered { text } => line.text = Some(text),
            Outcome::Raised { message } | Outcome::Crashed { message } => {
                line.message = Some(message);
            }
            Outcome::Failed {
                stage,
                message,
                line: at,
            } => {
                line.stage = Some(stage.name());
                line.message = Some(message);
                line.line = *at;
            }
            Outcome::Exceeded { limit } => line.limit = Some(limit.name()),
        }
        line
    }
}

/// Writes outcomes: `{"template","case","engine","outcome","text"|"message","stage","line"}`.
pub fn write_rendered(out: &mut dyn Write, results: &[Rendered<'_>]) -> io::Result<()> {
    results
        .iter()
        .try_for_each(|rendered| write_line(out, &Object::of(rendered)))
}

/// Writes outcomes with how they stand to the accepted snapshots (`same`, `changed`,
/// `new`), and their verdict.
pub fn write_compared(out: &mut dyn Write, results: &[Compared<'_>]) -> io::Result<()> {
    for compared in results {
        let mut line = Object::of(&compared.rendered);
        line.snapshot = compared
            .comparison
            .as_ref()
            .map(|comparison| match comparison {
                Comparison::Same => "same",
                Comparison::Changed(_) => "changed",
                Comparison::New => "new",
                Comparison::Unreadable(_) => "unreadable",
            });
        line.verdict = Some("unverified");
        write_line(out, &line)?;
    }
    Ok(())
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
