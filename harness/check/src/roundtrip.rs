//! The part of a card about answers: what the response template makes of each.

use rolecall_answers::comparison::Verdict;
use rolecall_core::ReadOutcome;
use serde::Serialize;
use serde_json::Value;

use crate::probe::{AnswerReading, Prober};

/// An answer that the chat template writes, and what the response template reads in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Roundtrip {
    /// The probe's name.
    pub probe: &'static str,
    /// What the probe is.
    pub about: &'static str,
    /// The assistant's message as it was meant.
    pub message: Value,
    /// The verdict, in words: `read back`, `changed` and so on. Where the forms of the answer have
    /// several, the worst one counts.
    pub verdict: &'static str,
    /// The prompt before the answer.
    pub prompt: String,
    /// The answer, in the form that has the verdict.
    pub text: String,
    /// The form: `whole`, `up to the end token` or `without the end token`.
    pub form: &'static str,
    /// The message that was read. None if the answer was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Value>,
    /// Why the answer was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The setting under which the finished turn continues the prompt, if it is not the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
}

/// The answers of all probes that a template writes, if it has a response template that can be used.
pub(crate) fn roundtrips(prober: &Prober<'_>) -> Vec<Roundtrip> {
    let readings = prober.readings();
    readings
        .iter()
        .flatten()
        .filter_map(Roundtrip::of)
        .collect()
}

impl Roundtrip {
    fn of(reading: &AnswerReading) -> Option<Roundtrip> {
        let answer = reading.answer().ok()?;
        let forms = answer.forms.iter().rev();
        let worst = forms.max_by_key(|read| read.verdict)?;
        if worst.verdict == Verdict::NotWritten {
            // The other contracts report what the chat template leaves out.
            return None;
        }
        let refusal = match &worst.outcome {
            ReadOutcome::Read { .. } => None,
            ReadOutcome::Failed { kind, message } => Some(format!("{kind}: {message}")),
            other => Some(other.essence()),
        };
        Some(Roundtrip {
            probe: reading.probe,
            about: reading.about,
            message: reading.asked.messages.last()?.clone(),
            verdict: worst.verdict.name(),
            prompt: answer.prompt.clone(),
            text: worst.text.clone(),
            form: worst.form.name(),
            read: worst.outcome.message().cloned(),
            refusal,
            setting: answer.setting.clone(),
        })
    }
}
