//! What contracts share that look at answers which transformers reads.

use rolecall_answers::comparison::{Change, Difference, Verdict};
use rolecall_answers::ending::Form;
use rolecall_answers::reading::{FormReading, ReadAnswer};
use rolecall_core::ReadOutcome;
use rolecall_response::ResponseTemplate;
use serde_json::Value;

use crate::capability::Capabilities;
use crate::contract::frame::{Evidence, Severity, Tally};
use crate::probe::{AnswerReading, NoReadings, Probe, Prober, Readings, spaced};

/// Why a template without a response template is not judged.
const NO_RESPONSE_TEMPLATE: &str = "there is no response template";

/// The readings of all probes. Where there are none, the tally says why.
fn readings(prober: &Prober<'_>, tally: &mut Tally) -> Option<std::rc::Rc<Readings>> {
    let readings = prober.readings();
    match &*readings {
        Ok(_) => Some(readings),
        Err(why) => {
            tally.skip(match why {
                NoReadings::NoResponseTemplate => NO_RESPONSE_TEMPLATE.to_owned(),
                NoReadings::Refused(_) => "transformers refuses the response template".to_owned(),
                NoReadings::Unsupported(why) => format!("Rolecall does not read it: {why}"),
            });
            None
        }
    }
}

pub(in crate::contract) fn response_template(
    prober: &Prober<'_>,
    tally: &mut Tally,
) -> Option<ResponseTemplate> {
    readings(prober, tally)?;
    let json = prober.template().response_template.as_ref()?;
    ResponseTemplate::from_json(json).ok()
}

/// Looks at the answers of some probes, or of all. Where the template writes none, the tally says
/// why.
pub(in crate::contract) fn look(
    tally: &mut Tally,
    prober: &Prober<'_>,
    chosen: Option<&[Probe]>,
    mut judge: impl FnMut(&mut Tally, &AnswerReading, &ReadAnswer),
) {
    let Some(readings) = readings(prober, tally) else {
        return;
    };
    let is_chosen = |reading: &&AnswerReading| {
        chosen.is_none_or(|chosen| chosen.iter().any(|probe| probe.name == reading.probe))
    };
    for reading in readings.iter().flatten().filter(is_chosen) {
        match reading.answer() {
            Ok(answer) => judge(tally, reading, answer),
            Err(why) => tally.skip(why),
        }
    }
}

/// Demands that these probes are parsed in some forms. What the template does not write is not the
/// response template's fault, and the probe then says nothing.
pub(in crate::contract) fn demand_roundtrip(
    tally: &mut Tally,
    prober: &Prober<'_>,
    chosen: &[Probe],
    forms: &[Form],
) {
    look(tally, prober, Some(chosen), |tally, reading, answer| {
        demand_one(tally, reading, answer, forms, Severity::Warning);
    });
}

/// Demands that an answer is parsed in some forms. Other white space at the ends of its texts is as
/// bad as said.
pub(in crate::contract) fn demand_one(
    tally: &mut Tally,
    reading: &AnswerReading,
    answer: &ReadAnswer,
    forms: &[Form],
    white_space: Severity,
) {
    let asked = answer
        .forms
        .iter()
        .filter(|read| forms.contains(&read.form));
    let Some(worst) = asked.max_by_key(|read| rank(read)) else {
        return tally.skip("no answer has an end token");
    };
    match worst.verdict {
        Verdict::ReadBack => tally.holds(),
        Verdict::NotWritten => tally.skip("the template does not write it"),
        verdict => {
            let evidence = evidence(reading, answer, worst);
            tally.broken(if verdict == Verdict::ButForWhiteSpace {
                evidence.with(white_space)
            } else {
                evidence
            });
        }
    }
}

/// How bad a reading is. What is not written is the template's loss.
fn rank(read: &FormReading) -> Verdict {
    match read.verdict {
        Verdict::NotWritten => Verdict::ReadBack,
        other => other,
    }
}

/// Evidence that a form of an answer is not parsed as meant.
pub(in crate::contract) fn evidence(
    reading: &AnswerReading,
    answer: &ReadAnswer,
    read: &FormReading,
) -> Evidence {
    let what = match (&read.outcome, read.differences.as_slice()) {
        (ReadOutcome::Read { message }, []) => {
            format!("{}: this comes back: {}", reading.about, spaced(message))
        }
        (ReadOutcome::Read { .. }, differences) => {
            let written = differences.iter().filter(|one| !one.is_not_written);
            let reported: Vec<String> = written.take(MOST_REPORTED).map(described).collect();
            format!("{}: {}", reading.about, reported.join("; "))
        }
        (refusal, _) => format!("{}: {}", reading.about, refused(refusal)),
    };
    in_answer(what, reading, answer, &read.text)
}

/// Evidence in an answer with this text.
pub(in crate::contract) fn in_answer(
    what: String,
    reading: &AnswerReading,
    answer: &ReadAnswer,
    text: &str,
) -> Evidence {
    let begin = answer.prompt.len();
    let seen = reading.seen(answer, text);
    Evidence::one(what, &seen).at(Some(begin..begin + text.len()))
}

/// How many differences a sentence tells.
const MOST_REPORTED: usize = 3;

/// A reader's refusal, in words.
pub(in crate::contract) fn refused(outcome: &ReadOutcome) -> String {
    match outcome {
        ReadOutcome::Failed { kind, message } => {
            format!("transformers refuses the answer with {kind}: {message}")
        }
        other => format!("the answer is not read: {}", other.essence()),
    }
}

fn described(difference: &Difference) -> String {
    let part = &difference.part;
    let shown = |value: &Option<Value>| {
        let text = value.as_ref().map_or_else(|| "nothing".to_owned(), spaced);
        format!("`{text}`")
    };
    let (meant, read) = (shown(&difference.meant), shown(&difference.read));
    match difference.change {
        Change::WhiteSpace => {
            format!("{part} has other white space at its ends: {read} in place of {meant}")
        }
        Change::Lost => format!("{part} is lost: {meant}"),
        Change::Invented => format!("{part} comes back, and nobody wrote it: {read}"),
        Change::Type => format!("{part} has another type: {read} in place of {meant}"),
        Change::Value => format!("{part} comes back as {read} in place of {meant}"),
    }
}

/// The forms of an answer with its end token.
pub(in crate::contract) const WITH_END: [Form; 2] = [Form::Whole, Form::Ended];

/// Whether a template writes calls of tools.
pub(in crate::contract) fn writes_calls(capabilities: &Capabilities) -> bool {
    capabilities.tool_calls.single.is_kept()
}

/// Demands that calls are parsed.
pub(in crate::contract) fn demand_calls(
    tally: &mut Tally,
    prober: &Prober<'_>,
    capabilities: &Capabilities,
    chosen: &[Probe],
) {
    if !writes_calls(capabilities) {
        return tally.skip("the template writes no calls");
    }
    demand_roundtrip(tally, prober, chosen, &WITH_END);
}
