//! JSON Lines: one object for each pair, for programs.

use std::io::{self, Write};

use rolecall_model::{OutcomeJson, OutcomeKind};
use schemars::JsonSchema;
use serde::Serialize;

use rolecall_base::transcript;
use rolecall_suite::divergence::Listed;
use rolecall_suite::record::RecordedAnswer;
use rolecall_suite::run::{Compared, Rendered};
use rolecall_suite::snapshot::SnapshotStatus;
use rolecall_suite::verdict::{Difference, Verdict};

/// One line's object: what an engine did with a pair.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Outcome")]
pub struct OutcomeLine<'l> {
    template: &'l str,
    case: String,
    engine: &'l str,
    #[serde(flatten)]
    outcome: OutcomeJson<'l>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'l str>,
    /// Why no result of the reference is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    unverified: Option<String>,
    /// The reference's result, if the engine's is different.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<ReferenceOutcome>,
    /// The listed reason for the difference, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    divergence: Option<&'l str>,
}

/// The reference's result: its text if that is known, otherwise its fingerprint.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Reference")]
struct ReferenceOutcome {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl ReferenceOutcome {
    fn of(difference: &Difference) -> ReferenceOutcome {
        let kind = difference.expected.kind();
        let mut reference = ReferenceOutcome {
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
                if let RecordedAnswer::Rendered(hash) | RecordedAnswer::Raised(hash) =
                    &difference.expected
                {
                    reference.sha256 = Some(hash.to_string());
                }
            }
        }
        reference
    }
}

impl<'l> OutcomeLine<'l> {
    fn of(rendered: &'l Rendered<'_>) -> OutcomeLine<'l> {
        OutcomeLine {
            template: rendered.pair.template.name.as_str(),
            case: rendered.pair.case.id.to_string(),
            engine: rendered.engine,
            outcome: OutcomeJson::from(&rendered.outcome),
            snapshot: None,
            verdict: None,
            unverified: None,
            reference: None,
            divergence: None,
        }
    }
}

/// Writes an outcome: `{"template","case","engine","outcome","text"|"message","stage","line"}`.
pub fn write_rendered(out: &mut dyn Write, rendered: &Rendered<'_>) -> io::Result<()> {
    write_line(out, &OutcomeLine::of(rendered))
}

/// Writes an outcome, its comparison with the accepted snapshot (`same`, `changed`, `new`), and its
/// verdict. If the verdict is `differs`, also writes the reference's result.
pub fn write_compared(out: &mut dyn Write, compared: &Compared<'_>) -> io::Result<()> {
    let mut line = OutcomeLine::of(&compared.rendered);
    line.snapshot = compared
        .comparison
        .as_ref()
        .map(|comparison| match comparison {
            SnapshotStatus::Same => "same",
            SnapshotStatus::Changed(_) => "changed",
            SnapshotStatus::New => "new",
            SnapshotStatus::Unreadable(_) => "unreadable",
        });
    line.verdict = Some(compared.verdict.name());
    match &compared.verdict {
        Verdict::Agrees => {}
        Verdict::Unverified(why) => line.unverified = Some(why.to_string()),
        Verdict::Differs(difference) => {
            line.reference = Some(ReferenceOutcome::of(difference));
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
