//! JSON Lines: one object a pair, for programs.

use std::io::{self, Write};

use rolecall_model::{Outcome, OutcomeKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::divergence::Listed;
use crate::record::Answer;
use crate::run::{Compared, Rendered};
use crate::snapshot::Comparison;
use crate::transcript;
use crate::verdict::{Difference, Verdict};

/// One line's object: what an engine did with a pair.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Outcome")]
pub(super) struct Object<'l> {
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
    /// Why nobody knows what the reference does.
    #[serde(skip_serializing_if = "Option::is_none")]
    unverified: Option<String>,
    /// What the reference did, where the engine did something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<Reference>,
    /// Why that is so, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    divergence: Option<&'l str>,
}

/// What the reference did: in whole where that is known, or its fingerprint.
#[derive(Debug, Serialize, JsonSchema)]
struct Reference {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl Reference {
    fn of(difference: &Difference) -> Reference {
        let kind = difference.expected.kind();
        let mut reference = Reference {
            outcome: kind.name(),
            text: None,
            message: None,
            sha256: None,
        };
        let whole = difference.transcript.as_ref();
        match whole.and_then(|text| transcript::decode(text).ok()) {
            Some(outcome) if kind == OutcomeKind::Rendered => {
                reference.text = Some(outcome.text().to_owned());
            }
            Some(outcome) => reference.message = Some(outcome.text().to_owned()),
            None => {
                if let Answer::Rendered(hash) | Answer::Raised(hash) = &difference.expected {
                    reference.sha256 = Some(hash.to_string());
                }
            }
        }
        reference
    }
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
            unverified: None,
            reference: None,
            divergence: None,
        };
        match &rendered.outcome {
            Outcome::Rendered { text } => line.text = Some(text),
            Outcome::Raised { message }
            | Outcome::Crashed { message }
            | Outcome::NotAsked { message } => {
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

/// Writes an outcome: `{"template","case","engine","outcome","text"|"message","stage","line"}`.
pub fn write_rendered(out: &mut dyn Write, rendered: &Rendered<'_>) -> io::Result<()> {
    write_line(out, &Object::of(rendered))
}

/// Writes an outcome with how it stands to the accepted snapshot (`same`, `changed`,
/// `new`), and its verdict; where that is `differs`, with what the reference did.
pub fn write_compared(out: &mut dyn Write, compared: &Compared<'_>) -> io::Result<()> {
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
    line.verdict = Some(compared.verdict.name());
    match &compared.verdict {
        Verdict::Agrees => {}
        Verdict::Unverified(why) => line.unverified = Some(why.to_string()),
        Verdict::Differs(difference) => {
            line.reference = Some(Reference::of(difference));
            line.divergence = match &difference.listed {
                Listed::Known { reason } => Some(reason),
                Listed::No | Listed::Changed { .. } => None,
            };
        }
    }
    write_line(out, &line)
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
